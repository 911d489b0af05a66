// The active health checks of one generation: asks every server of an upstream with `health_check`
// at its intervals (within a tenth, so that checks do not fall into step), on a thread of its own,
// so that it can delay neither a worker nor a tick of control.
//
// Ejected servers are checked like others. A server that turns unwell loses its idle connections.
// Whoever replaces a generation stops its checks; what they found goes over by Servers::adopt().
#pragma once

#include <cstddef>
#include <memory>
#include <thread>
#include <vector>

#include "base/random.hpp"
#include "observe/log.hpp"
#include "proxy/generation/generation.hpp"
#include "proxy/upstream/health_probe.hpp"
#include "proxy/worker/worker.hpp"

namespace spillway::proxy {

class HealthChecks {
 public:
  // `workers` and `log` are referred to.
  HealthChecks(std::shared_ptr<Generation> generation,
               std::vector<std::unique_ptr<Worker>>& workers, observe::Log& log,
               std::uint64_t seed);
  ~HealthChecks();  // stops
  HealthChecks(const HealthChecks&) = delete;
  HealthChecks& operator=(const HealthChecks&) = delete;

  // Without anything to check there is no thread. The first checks come within a tenth of the
  // interval.
  void start();
  // Returns at once: checks under way are given up and count for nothing. For good.
  void stop();

 private:
  struct Watched {  // one server
    UpstreamId upstream;
    std::size_t server;
    Milliseconds interval;
    HealthProbe probe;
    TimePoint due{};  // the next check, if none is running
  };

  void run();
  // Begins and ends checks; returns when that has to be done next.
  TimePoint keep_time(TimePoint now);
  void conclude(Watched& watched, HealthProbe::Result result);
  void report(const Watched& watched, HealthProbe::Result result);
  Duration spread(Milliseconds interval);

  std::shared_ptr<Generation> generation_;
  std::vector<std::unique_ptr<Worker>>& workers_;
  observe::Log& log_;
  Random random_;
  std::vector<Watched> watched_;
  int wake_;  // an eventfd: readable once it is to stop
  std::thread thread_;
};

}  // namespace spillway::proxy
