// The servers of one upstream as all workers see them: what each has in flight, who is ejected,
// what the health checks say, and the choice of who is asked next.
//
// Any thread. A choice and a success of a server without trouble take no lock; a failure does.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "base/time.hpp"
#include "config/config.hpp"
#include "observe/snapshot.hpp"
#include "proxy/upstream/in_flight.hpp"
#include "resilience/ejection.hpp"
#include "resilience/health.hpp"
#include "resilience/server_set.hpp"
#include "resilience/token_bucket.hpp"

namespace spillway::proxy {

class Servers {
 public:
  // `settings` is referred to.
  explicit Servers(const config::Upstream& settings);
  Servers(const Servers&) = delete;
  Servers& operator=(const Servers&) = delete;

  resilience::ServerSet all() const { return all_; }
  // Neither unwell nor ejected. Reads the clock if any is ejected.
  resilience::ServerSet up();

  // One of `among`, which is not empty: of those that are up, if any is; else of the others, since
  // to be asked and fail is no worse than not to be asked. `turn` goes up with each call.
  std::size_t choose(resilience::ServerSet among, std::uint64_t turn, Random& random);

  InFlight in_flight;

  // Whether it matters here how calls end; it does not where nobody can be ejected.
  bool hears_results() const { return hears_results_; }
  resilience::Ejections::Change record(std::size_t server, bool failed);

  // A call to the server failed, or its answer did after its head had come. If that is to be told
  // (the first of its kind, and one in ten seconds): how many of the kind were not, since the last.
  std::optional<std::uint64_t> count_failure(std::size_t server, observe::ServerFailure kind,
                                             TimePoint now);
  // A whole answer came, other than 500, 502, 503 or 504, or one that lasts has begun.
  void count_success(std::size_t server) {
    std::atomic<std::uint32_t>& failures = counts_[server].in_a_row;
    if (failures.load(std::memory_order_relaxed) != 0) failures.store(0, std::memory_order_relaxed);
  }

  // One worker's circuit of this server opened or closed.
  void circuit_changed(std::size_t server, bool is_closed) {
    counts_[server].open_circuits.fetch_add(is_closed ? ~0u : 1u, std::memory_order_relaxed);
  }

  // The result of a health check. True when that turned the server's health. One that turns well is
  // no longer ejected: it has most likely been restarted. One that merely stays well is: its checks
  // need not be what its requests fail by.
  bool checked(std::size_t server, observe::HealthCheckResult result);
  resilience::HealthState health(std::size_t server) const;

  // Goes on from what was known of servers of the same name before a reload. What was
  // counted stays there (see observe/metric_history.hpp).
  // Before anyone else knows this object.
  void adopt(const Servers& previous);

  // A connection could not be made for want of descriptors, ports or memory of our own.
  void count_shortage() { shortages_.fetch_add(1, std::memory_order_relaxed); }

  void read_snapshot(observe::UpstreamSnapshot& snapshot) const;

 private:
  struct Failures {
    std::atomic<std::uint64_t> count{0};
    std::atomic<std::uint64_t> told{0};  // what the count was then
    resilience::TokenBucket lines;
  };
  struct Counts {
    std::array<Failures, observe::kServerFailureCount> failures;
    std::atomic<std::uint32_t> in_a_row{0};
    std::atomic<std::uint32_t> open_circuits{0};
    std::atomic<std::uint64_t> ejections{0};
    std::array<std::atomic<std::uint64_t>, observe::kHealthCheckResultCount> checks{};
  };

  bool is_troubled(std::size_t server) const {
    return resilience::ServerSet(troubled_.load(std::memory_order_relaxed)).contains(server);
  }
  void publish(TimePoint now);  // under the lock

  const config::Upstream& config_;
  const resilience::ServerSet all_;
  const bool hears_results_;

  mutable std::mutex mutex_;  // guards:
  resilience::Ejections ejections_;
  std::vector<resilience::Health> health_;

  // What the lock guards, as who asks for a server sees it.
  std::atomic<std::uint64_t> unwell_{0};
  std::atomic<std::uint64_t> ejected_{0};
  std::atomic<std::uint64_t> troubled_{0};
  std::atomic<TimePoint::rep> next_return_{TimePoint::max().time_since_epoch().count()};

  std::vector<Counts> counts_;
  std::atomic<std::uint64_t> shortages_{0};
};

}  // namespace spillway::proxy
