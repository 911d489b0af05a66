// What is asked of a route with `defer` so that each status of its POST comes once.
#pragma once

#include <string>
#include <string_view>

#include "support/event.hpp"
#include "support/proxy_under_test.hpp"
#include "support/scripted_peer.hpp"
#include "system/api/questions.hpp"

namespace spillway::api {

// Deferred mail has to have a key; /live/** is deferred only if there is no room; one proxy's store
// cannot be reached.
class DeferralQuestions {
 public:
  DeferralQuestions();

  // They must not outlive this.
  Questions all() const;

 private:
  support::Message ask(std::string_view target, std::string_view body,
                       std::string_view lines = {}) const;
  // Of two requests with one key, of which the first is still at the upstream.
  support::Message second_with_one_key() const;
  support::Message too_long() const;
  support::Message beyond_budget() const;

  support::Event go_;  // for what is held at the upstream
  support::ScriptedPeer peer_;
  support::ProxyUnderTest proxy_;
  support::ProxyUnderTest away_;
};

}  // namespace spillway::api
