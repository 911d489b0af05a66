// Outcomes of deferred requests: counters that any thread may increment, unless noted otherwise.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <string_view>

#include "jobs/job.hpp"
#include "observe/count/duration_histogram.hpp"

namespace spillway::observe {

// Why an expired request was not stored as a dead letter for the operator (expire_policy).
enum class LostLetter : std::uint8_t {
  body,   // its body is too long, or had not been received
  full,   // the maximum is stored or being stored
  store,  // the store cannot store it
};
inline constexpr std::array<std::string_view, 3> kLostLetterNames{"body", "full", "store"};

struct JobCounts {
  using Count = std::atomic<std::uint64_t>;

  Count accepted{0};    // stored and answered 202
  Count duplicates{0};  // answered 202 with the existing job for the same request
  Count started{0};     // attempts that got a slot
  Count lease_lost{0};  // acknowledgements that came too late and changed nothing
  Count recovered{0};   // from proxies that had ended
  Count replayed{0};
  Count expired{0};
  Count cancelled{0};
  Count forgotten{0};                              // deleted, long after they had ended
  std::array<Count, jobs::kCauseCount> retried{};  // by the cause of the attempt
  std::array<Count, jobs::kCauseCount> dead{};     // likewise
  Count succeeded{0};
  std::array<Count, kLostLetterNames.size()> letters_lost{};
  Count store_failures{0};
  DurationHistogram commit_times{};       // of the store, written by its single thread
  std::atomic<std::uint32_t> in_hand{0};  // leased by this proxy
  std::atomic<std::uint32_t> running{0};  // of these, currently at their upstreams
  std::atomic<std::uint32_t> most_running{0};

  void lost(LostLetter why) { ++letters_lost[static_cast<std::size_t>(why)]; }
  // Call begin() when an attempt starts, and end() when it ends.
  void begin() {
    started.fetch_add(1, std::memory_order_relaxed);
    const std::uint32_t now = running.fetch_add(1, std::memory_order_relaxed) + 1;
    std::uint32_t most = most_running.load(std::memory_order_relaxed);
    while (now > most &&
           !most_running.compare_exchange_weak(most, now, std::memory_order_relaxed)) {
    }
  }
  void end() { running.fetch_sub(1, std::memory_order_relaxed); }
};

}  // namespace spillway::observe
