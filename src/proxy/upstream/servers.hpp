// The servers of one upstream: requests in flight, health, ejections, and load balancing over them.
//
// Thread-safe. choose() takes no lock, nor does a success of a server without recent failures whose
// source does not fail elsewhere.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "base/time.hpp"
#include "config/config.hpp"
#include "observe/count/local_shortage.hpp"
#include "observe/snapshot/snapshot.hpp"
#include "resilience/ejection.hpp"
#include "resilience/health.hpp"
#include "resilience/in_flight_counts.hpp"
#include "resilience/rotation.hpp"
#include "resilience/server_set.hpp"
#include "resilience/server_shares.hpp"
#include "resilience/token_bucket.hpp"

namespace spillway::proxy {

class Servers {
 public:
  // `settings` must outlive this.
  explicit Servers(const config::Upstream& settings);
  Servers(const Servers&) = delete;
  Servers& operator=(const Servers&) = delete;

  resilience::ServerSet all() const { return all_; }
  // Servers neither unwell nor ejected. Reads the clock if any is ejected.
  resilience::ServerSet up();

  // As of the last up().
  resilience::Rotation rotation() const;
  // Every server is up and has its part of the slots; or no server is.
  bool is_whole() const {
    return (unwell_.load(std::memory_order_relaxed) | ejected_.load(std::memory_order_relaxed) |
            on_trial_.load(std::memory_order_relaxed)) == 0 ||
           rotation().is_whole();
  }
  // How many of the upstream's `slots` are usable: see resilience::Rotation.
  std::uint32_t usable(std::uint32_t slots) const { return is_whole() ? slots : usable_now(slots); }
  // Requests in flight at servers that are not in rotation, as far as they count.
  std::uint32_t elsewhere(std::uint32_t slots) const;
  // From now on the slots are divided by these weights; before that equally. One thread only.
  void share(std::span<const double> weights) { shares_.set(weights); }
  // The server has more than its part of these slots, and other servers are up.
  bool is_above_part(std::size_t server, std::uint32_t slots);

  // Load balancing: chooses one of `among` (not empty), preferring servers that are up, and among
  // those servers with room in their part of `slots`. If none has room, any that is up: a request
  // that has a slot and was refused by another server, or is sent again, must not fail for that. If
  // none is up, any: trying one that may fail is no worse than failing at once. Workers that choose
  // at the same moment may find the same last free slot. `turn`: a round-robin counter.
  std::size_t choose(resilience::ServerSet among, std::uint64_t turn, Random& random,
                     std::uint32_t slots);

  resilience::InFlightCounts in_flight;

  // The address of the server with which connection attempts begin: the last that succeeded.
  std::size_t address_in_use(std::size_t server) const {
    return counts_[server].address.load(std::memory_order_relaxed);
  }
  void use_address(std::size_t server, std::size_t address) {
    if (address_in_use(server) != address)
      counts_[server].address.store(address, std::memory_order_relaxed);
  }
  // An attempt that began with address `first` came to a silent one: the next of `addresses` is now
  // in use, unless another one is by now.
  void leave_address(std::size_t server, std::size_t first, std::size_t silent,
                     std::size_t addresses) {
    counts_[server].address.compare_exchange_strong(first, (silent + 1) % addresses,
                                                    std::memory_order_relaxed);
  }

  // False: servers are never ejected, and results of calls need not be recorded.
  bool ejection_enabled() const { return ejection_enabled_; }
  // `source`: of a failed response; while has_suspects() also of a success.
  resilience::Ejections::Change record(
      std::size_t server, bool failed,
      const std::optional<resilience::FailureSource>& source = std::nullopt);
  // Whether the source of a success matters.
  bool has_suspects() const { return suspects_.load(std::memory_order_relaxed) != 0; }

  // Counts a failed call, or a response that failed after its head. Limits the log rate, per kind
  // and server: if this one is to be logged, the number suppressed since the last; else nullopt.
  std::optional<std::uint64_t> count_failure(std::size_t server, observe::ServerFailure kind,
                                             TimePoint now);
  // A complete response other than 500, 502, 503 or 504, or the head of a long-lived one.
  void count_success(std::size_t server) {
    in_flight.count_success(server);
    std::atomic<std::uint32_t>& failures = counts_[server].in_a_row;
    if (failures.load(std::memory_order_relaxed) != 0) failures.store(0, std::memory_order_relaxed);
  }

  // A worker's circuit for this server opened or closed.
  void circuit_changed(std::size_t server, bool is_closed) {
    counts_[server].open_circuits.fetch_add(is_closed ? ~0u : 1u, std::memory_order_relaxed);
  }

  // Records the result of a health check; true if the server's health changed. Becoming well ends
  // an ejection (the server was probably restarted); staying well does not, since requests may fail
  // even where checks pass.
  bool record_check(std::size_t server, observe::HealthCheckReport report);
  resilience::HealthState health(std::size_t server) const;

  // After a reload: takes over health and ejections of servers of the same name. Counts stay with
  // `previous` (see observe/metrics/metric_history.hpp). To be called before threads share this.
  void adopt(const Servers& previous);

  // A connection was not made for lack of local descriptors, ports or memory. Limits the log rate
  // like count_failure(), per kind.
  std::optional<std::uint64_t> count_shortage(observe::LocalShortage kind, TimePoint now);

  void read_snapshot(observe::UpstreamSnapshot& snapshot) const;

 private:
  struct Failures {
    std::optional<std::uint64_t> add(TimePoint now);  // like count_failure()

    std::atomic<std::uint64_t> count{0};
    std::atomic<std::uint64_t> logged{0};  // `count` at the last log line
    resilience::TokenBucket log_lines;
  };
  struct Counts {
    std::array<Failures, observe::kServerFailureCount> failures;
    std::atomic<std::uint32_t> in_a_row{0};
    std::atomic<std::uint32_t> open_circuits{0};
    std::atomic<std::uint64_t> ejections{0};
    std::atomic<std::size_t> address{0};
    std::array<std::atomic<std::uint64_t>, observe::kHealthCheckResultCount> checks{};
  };

  bool is_suspect(const std::optional<resilience::FailureSource>& source) const {
    return source && (suspects_.load(std::memory_order_relaxed) &
                      resilience::FailureRow::bits_of(*source)) != 0;
  }
  bool is_troubled(std::size_t server) const {
    return resilience::ServerSet(troubled_.load(std::memory_order_relaxed)).contains(server);
  }
  void publish(TimePoint now);  // under the lock
  std::uint32_t usable_now(std::uint32_t slots) const;
  // As far as they count.
  resilience::InFlight counted(std::size_t server, const resilience::SlotParts& parts) const;

  const config::Upstream& config_;
  const resilience::ServerSet all_;
  const bool ejection_enabled_;
  resilience::ServerShares shares_;

  mutable std::mutex mutex_;  // guards:
  resilience::Ejections ejections_;
  std::vector<resilience::Health> health_;
  std::vector<std::optional<observe::HealthCheckReport>> last_checks_;

  // Copies of the state that the lock guards, for lock-free reads; bit sets of servers.
  std::atomic<std::uint64_t> unwell_{0};
  std::atomic<std::uint64_t> ejected_{0};
  std::atomic<std::uint64_t> on_trial_{0};
  std::atomic<std::uint64_t> troubled_{0};
  std::atomic<std::uint64_t> suspects_{0};  // Ejections::suspects()
  std::atomic<TimePoint::rep> next_return_{TimePoint::max().time_since_epoch().count()};

  std::vector<Counts> counts_;
  std::array<Failures, observe::kLocalShortageCount> shortages_;
};

}  // namespace spillway::proxy
