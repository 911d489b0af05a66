// The upstream of all cases at once: a request's path says which case it belongs to, and so which
// answer it gets.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "support/event.hpp"
#include "support/scripted_peer.hpp"
#include "system/caching/case.hpp"

namespace spillway::caching {

class Origin {
 public:
  Origin();

  std::uint16_t port() const { return peer_.port(); }
  std::string address() const { return peer_.address(); }

  // From now on requests for `base` and below it get these answers in turn, and, when they have
  // run out, a 200 that must not be stored. `base` has three segments.
  void take_part(const std::string& base, const std::vector<Answer>& answers);

  // If it is failing the base's requests, it no longer does.
  void end_failure(const std::string& base);

  std::size_t times_asked(const std::string& base) const;
  // All requests for the base but for the first so many.
  std::vector<Message> asked(const std::string& base, std::size_t since) const;
  // False when it has not been asked so many times by then.
  bool wait_asked(const std::string& base, std::size_t times, support::Milliseconds within) const;

 private:
  struct Part {
    std::vector<Answer> answers;
    std::size_t turn = 0;
    bool failing = false;
    std::vector<Message> asked;
  };
  void serve(support::PeerConnection& connection);
  // Notes the request; which answer it is to get, counted from 1.
  std::pair<Answer, std::size_t> take_turn(const std::string& base, const Message& request);

  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  std::map<std::string, Part> parts_;
  support::ScriptedPeer peer_;  // last: its connections use the others
};

// `text` with "{base}" replaced.
std::string with_base(std::string text, std::string_view base);

}  // namespace spillway::caching
