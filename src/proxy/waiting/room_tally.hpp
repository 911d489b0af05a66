// Counters of a waiting room's visitors for metrics, besides those of visitors that wait or are
// inside. Thread-safe, without a lock.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "observe/snapshot/snapshot.hpp"
#include "traffic/trusted_token/visitor_claims.hpp"
#include "waiting/ticket/ticket_events.hpp"
#include "waiting/token/challenge.hpp"

namespace spillway::proxy {

class RoomTally {
 public:
  // Requests that never wait (config::WaitingBypass).
  void count_bypass() { add(bypassed_); }
  // A first contact was offered a place.
  void count_offer() { add(offered_); }
  // Polls and joins that were refused because there were too many.
  void count_limited_poll() { add(limited_polls_); }
  void count_limited_join() { add(limited_joins_); }
  // Results of visitors' proofs of work.
  void count_work(waiting::Work work) { add(work_[static_cast<std::size_t>(work)]); }
  // Tokens of visitors (trusted_tokens) that are not valid.
  void count_unverified(traffic::TokenSource source, traffic::TokenFault fault) {
    add(unverified_[static_cast<std::size_t>(source)][static_cast<std::size_t>(fault)]);
  }
  // An event was stored for the webhook, or could not be.
  void count_event(waiting::Event event, bool is_written) {
    add(is_written ? events_[static_cast<std::size_t>(event)] : events_not_written_);
  }

  void write_to(observe::WaitingRoomSnapshot& snapshot) const {
    snapshot.bypassed = bypassed_;
    snapshot.offered = offered_;
    snapshot.limited_polls = limited_polls_;
    snapshot.limited_joins = limited_joins_;
    std::ranges::copy(work_, snapshot.work.begin());
    for (std::size_t source = 0; source < unverified_.size(); ++source)
      std::ranges::copy(unverified_[source], snapshot.unverified[source].begin());
    std::ranges::copy(events_, snapshot.events.begin());
    snapshot.events_not_written = events_not_written_;
  }

 private:
  using Counter = std::atomic<std::uint64_t>;
  static void add(Counter& counter) { counter.fetch_add(1, std::memory_order_relaxed); }

  Counter bypassed_{0}, offered_{0}, limited_polls_{0}, limited_joins_{0};
  std::array<Counter, waiting::kWorkCount> work_{};
  // By TokenSource, then by TokenFault.
  std::array<std::array<Counter, traffic::kTokenFaultCount>, 3> unverified_{};
  std::array<Counter, waiting::kEventCount> events_{};
  Counter events_not_written_{0};
};

}  // namespace spillway::proxy
