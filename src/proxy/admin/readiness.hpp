// Whether requests should be sent here: the answer of /readyz.
//
// Ready while an upstream is live, by what requests and health checks know. Only requests find out
// that an upstream without checks is back, and who is not ready is sent none: so when none is live
// those that could not be connected to are asked, all together, kMostAsked servers at most, within
// kPatience, and not again for kPause. Of more servers others are asked the next time. What health
// checks or ejection leave out is not asked: a connection would not change that.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/time.hpp"
#include "proxy/generation/generation.hpp"

namespace spillway::proxy {

class Readiness {
 public:
  static constexpr std::size_t kMostAsked = 64;
  static constexpr Milliseconds kPatience{100};
  static constexpr Milliseconds kPause{1000};

  // Why not; empty: ready. Blocks for kPatience at most: not for threads that serve. Always on the
  // same thread.
  std::string_view why_not(Generation& generation);

 private:
  std::uint64_t asked_of_ = 0;  // that generation, and not again before:
  TimePoint ask_again_{};
  std::size_t next_ = 0;  // of all servers that may be asked, the one whose turn it is
};

}  // namespace spillway::proxy
