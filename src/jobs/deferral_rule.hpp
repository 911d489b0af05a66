// Which methods may be deferred, when a request is deferred without being tried, and which refusals
// a job replaces. The proxy and the simulator both use these rules.
#pragma once

#include <cstdint>

#include "base/outcome.hpp"
#include "base/reason.hpp"
#include "config/defer.hpp"
#include "http/message/head.hpp"

namespace spillway::jobs {

// A client that only reads expects the answer itself, unless it prefers otherwise.
enum class Deferrable : std::uint8_t { never, if_preferred, yes };
constexpr Deferrable deferrable(http::Verb method) {
  switch (method) {
    case http::Verb::connect:
    case http::Verb::options:
    case http::Verb::trace: return Deferrable::never;
    case http::Verb::get:
    case http::Verb::head: return Deferrable::if_preferred;
    default: return Deferrable::yes;
  }
}

// Whether a request is deferred before it is tried, even if there is room for it. `is_draining`:
// the proxy is. `is_preferred`: the client prefers respond-async (RFC 7240).
constexpr bool comes_first(config::DeferWhen when, bool is_draining, bool is_preferred) {
  switch (when) {
    case config::DeferWhen::always: return true;
    case config::DeferWhen::overloaded: return is_draining;
    case config::DeferWhen::prefer: return is_preferred;
  }
  return false;
}

struct DeferralTerms {
  config::DeferWhen when = config::DeferWhen::overloaded;
  bool is_preferred = false;         // by the client (respond-async)
  bool include_limits = false;       // as in config::Defer
  bool is_clients_deadline = false;  // it passed: a later answer is of no use to this client
};

// Whether a request is deferred instead of ending with this reason and outcome; nothing of it has
// been sent. Deferred are requests that lack room or a healthy server, and with `include_limits`
// those whose caller has used up its budget or share.
bool is_deferred_for(Reason reason, Outcome outcome, const DeferralTerms& terms);

}  // namespace spillway::jobs
