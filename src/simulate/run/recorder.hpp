// Collects the recording of a run.
//
// Events after the end of the run do not count in the seconds; requests that arrived during the
// warm-up do not count in the summary.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/reason.hpp"
#include "base/state.hpp"
#include "base/time.hpp"
#include "simulate/model/backend_model.hpp"
#include "simulate/model/request.hpp"
#include "simulate/recording/recording.hpp"
#include "simulate/scenario/scenario.hpp"

namespace spillway::simulate {

class Recorder {
 public:
  Recorder(const Scenario& scenario, bool shedding, TimePoint begin);

  // Calls for each request: offered, then at most one of denied, expired, deferred, failed, served
  // and late; in between admitted, once. A served one may have been degraded.
  void offered(const Request& request);
  void denied(const Request& request) { count(request, request.came, &ClassCounts::denied); }
  // It left the queue without a slot: refused there, or its client left.
  void expired(const Request& request, TimePoint now);
  void left(const Request& request);
  void admitted(const Request& request, TimePoint now) {
    count(request, now, &ClassCounts::admitted);
  }
  void failed(const Request& request, TimePoint now) { count(request, now, &ClassCounts::failed); }
  void served(const Request& request, TimePoint now);
  void deferred(const Request& request) { count(request, request.came, &ClassCounts::deferred); }
  void late(const Request& request, TimePoint now) { count(request, now, &ClassCounts::late); }

  // Shadow mode: a request of that class would have been refused.
  void would_deny(ClassId traffic_class, TimePoint now);

  // Number of requests waiting now, at the gate and in the backend.
  void depth(std::size_t queued, TimePoint now);
  void changed(TimePoint now, State to, Reason reason);

  // Totals so far, at the end of a second.
  void jobs(const JobsSummary& so_far) { recording_.jobs = so_far; }
  void visitors(const VisitorsSummary& so_far) { recording_.visitors = so_far; }

  // Ends the next second. `end` is the state at its last moment, without counts and p95.
  void end_second(Second end);

  // `work` was done between the end of the warm-up and the end of the run.
  Recording finish(const WorkDone& work);

 private:
  struct TenantWork {
    double demand = 0, got = 0;  // seconds of a server
    double weight = 1;
  };

  void add_tenants(const Scenario& scenario);
  void count(const Request& request, TimePoint when, std::uint64_t ClassCounts::*what);
  bool in_summary(const Request& request) const;
  std::size_t tenant_of(const Request& request) const;

  TimePoint begin_, measured_from_, end_;
  Recording recording_;
  std::size_t seconds_ended_ = 0;
  std::vector<std::vector<double>> latencies_;  // by class, of the summary
  std::vector<double> latencies_of_second_;
  std::vector<std::vector<std::size_t>> tenants_of_clients_;  // indices into the recording's
  std::vector<TenantWork> work_of_tenants_;
};

}  // namespace spillway::simulate
