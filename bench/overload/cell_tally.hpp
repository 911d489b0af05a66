// What became of the requests of one cell. Neither the first of its phases counts, in which things
// settle, nor the last, which only keeps the load up until what counts has ended; success over time
// is kept for all of them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.hpp"
#include "bench/load/kinds.hpp"
#include "bench/load/observer.hpp"

namespace spillway::bench {

// What a refusal came after.
enum class Refusal : std::uint8_t {
  on_arrival,
  evicted,    // waited, then lost its place to a higher class
  timed_out,  // waited as long as the proxy lets it
};

// Of a contender that tells no reason, a refusal later than this counts as timed out in its queue:
// a denial on arrival takes a few milliseconds, a queue timeout here 400 and more.
inline constexpr Milliseconds kAtOnce{100};

Refusal refusal_of(std::string_view reason, Duration took);

// A request has one attempt, and more with retries.
struct Counts {
  std::uint64_t sent = 0;  // requests
  std::uint64_t attempts = 0;
  std::uint64_t succeeded = 0;  // requests, in whatever attempt
  std::uint64_t degraded = 0;   // of these
  std::uint64_t denied = 0;     // attempts, as the following
  std::uint64_t evicted = 0;
  std::uint64_t timed_out = 0;
  std::uint64_t gave_up = 0;        // the client, after its patience
  std::uint64_t failed = 0;         // any other way
  std::uint64_t answered = 0;       // in time and while it counts, whenever it was due
  std::vector<Duration> latencies;  // of success, from the instant at which the request was due
  std::vector<Duration> denials;    // of those on arrival
  std::vector<Duration> refusals;   // of all

  void add(const Counts& other);
};

// Attempts that were due within a tenth of a second, and how many of them succeeded.
struct Tenth {
  std::uint64_t attempts = 0;
  std::uint64_t succeeded = 0;
};
inline constexpr Milliseconds kTenth{100};

// Neither the first of so many phases nor the last.
constexpr bool counts_in(const load::Arrival& arrival, std::size_t phases) {
  return arrival.phase > 0 && arrival.phase + 1u < phases;
}

class CellTally final : public load::Observer {
 public:
  // What was due in other phases than the first and the last of so many counts. These go from
  // `from` to `until` since the start.
  CellTally(std::size_t phases, Duration from, Duration until)
      : phases_(phases), from_(from), until_(until) {}

  void sent(const load::Attempt& attempt, Duration late) override;
  void ended(const load::Attempt& attempt, const load::Ending& ending, Duration took,
             bool again) override;

  const Counts& kind(std::size_t kind) const { return kinds_[kind]; }
  const std::map<std::uint8_t, Counts>& tenants() const { return tenants_; }  // other than 0
  const std::vector<Tenth>& tenths() const { return tenths_; }                // since the start
  Duration late_p99() const;  // of all that was sent: later than it was due
  const std::map<std::string, std::uint64_t>& causes() const { return causes_; }  // of no success

 private:
  Tenth& tenth(const load::Attempt& attempt);

  void count_answer(const load::Arrival& arrival);

  std::size_t phases_;
  Duration from_;
  Duration until_;
  std::array<Counts, load::kKindCount> kinds_;
  std::map<std::uint8_t, Counts> tenants_;
  std::vector<Tenth> tenths_;
  std::vector<Duration> late_;
  std::map<std::string, std::uint64_t> causes_;
};

}  // namespace spillway::bench
