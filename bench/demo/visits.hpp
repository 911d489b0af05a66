// Who visits a site, by what a waiting room says of each request: its pass (the field
// Spillway-Pass). What the site sees for itself of how many are inside at a time. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "base/time.hpp"

namespace spillway::demo {

class Visits {
 public:
  // `now` never steps back. A request without a pass is counted as such.
  void request(std::string_view pass, TimePoint now);

  std::uint64_t visitors() const { return visitors_; }
  std::uint64_t without_pass() const { return without_pass_; }
  // The most visitors at a time. Each counts from its first request to its last, which is within
  // its session: there were at least as many sessions.
  std::uint64_t most_at_once(TimePoint now);

 private:
  struct Visit {
    TimePoint first;
    TimePoint last;
  };

  std::map<std::string, Visit, std::less<>> visits_;  // but those long over
  std::uint64_t visitors_ = 0;
  std::uint64_t without_pass_ = 0;
  std::uint64_t most_ = 0;
};

}  // namespace spillway::demo
