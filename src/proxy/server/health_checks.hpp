// The active health checks of one generation: one coroutine per server of each upstream with
// `health_check`. It probes the server at the configured interval, with 10 % jitter so that checks
// do not synchronise; the first probe comes within a tenth of the interval.
//
// Ejected servers are probed like others. When a server becomes unwell its idle connections are
// closed. A reload replaces this object; results carry over by Servers::adopt().
// Everything runs on the thread of `io`, the control thread: nothing here may block.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/io_context.hpp>
#include <cstddef>
#include <deque>
#include <memory>
#include <vector>

#include "base/random.hpp"
#include "observe/log/log.hpp"
#include "proxy/generation/generation.hpp"
#include "proxy/upstream/health_probe.hpp"
#include "proxy/worker/worker.hpp"

namespace spillway::proxy {

class HealthChecks : public std::enable_shared_from_this<HealthChecks> {
 public:
  // References must outlive `io`'s last handler; the coroutines share ownership of this object.
  HealthChecks(std::shared_ptr<Generation> generation,
               std::vector<std::unique_ptr<Worker>>& workers, observe::Log& log, Random& random);
  HealthChecks(const HealthChecks&) = delete;
  HealthChecks& operator=(const HealthChecks&) = delete;

  // Once.
  void start(boost::asio::io_context& io);
  // Cancels all probes; the results of those in progress are ignored. Final.
  void stop();

 private:
  boost::asio::awaitable<void> check(UpstreamId upstream, std::size_t server);
  // `first`: the address with which the probe began.
  void record(UpstreamId upstream, std::size_t server, std::size_t first, Probed probed);
  void close_idle_connections(UpstreamId upstream, std::size_t server);
  Duration jittered(Milliseconds interval);

  std::shared_ptr<Generation> generation_;
  std::vector<std::unique_ptr<Worker>>& workers_;
  observe::Log& log_;
  Random& random_;
  bool stopped_ = false;
  std::deque<boost::asio::cancellation_signal> cancel_;  // one per coroutine
};

}  // namespace spillway::proxy
