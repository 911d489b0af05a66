// Whether a load balancer should send traffic here: the answer of /readyz.
//
// Ready while at least one upstream is live, judged by requests and health checks. Without health
// checks only a request shows that an upstream is back, and a proxy that is not ready gets none. So
// when no upstream is live, this opens connections to the unreachable ones itself: to at most
// kMaxProbes servers at once, for at most kProbeTimeout, then not again for kProbePause. If there
// are more servers, later rounds continue with the next ones. Unwell or ejected servers are
// skipped, since a successful connection would not bring them back.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "base/time.hpp"
#include "proxy/generation/generation.hpp"

namespace spillway::proxy {

class Readiness {
 public:
  static constexpr std::size_t kMaxProbes = 64;
  static constexpr Milliseconds kProbeTimeout{100};
  static constexpr Milliseconds kProbePause{1000};

  // Empty if ready, else the reason. Suspends for at most kProbeTimeout. Calls that overlap share
  // one round of probes; all of them must run on the same thread.
  boost::asio::awaitable<std::string_view> not_ready_reason(std::shared_ptr<Generation> generation);

 private:
  struct Round;

  std::weak_ptr<Round> round_;   // in progress
  std::uint64_t probed_ = 0;     // number of the generation of the last round
  TimePoint next_round_{};       // earliest time, for the same generation
  std::size_t next_server_ = 0;  // where the next round begins in the list of servers
};

}  // namespace spillway::proxy
