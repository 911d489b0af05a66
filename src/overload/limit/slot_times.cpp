#include "overload/limit/slot_times.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace spillway::overload {
namespace {

constexpr double kEnoughQuiet = 30;   // requests
constexpr double kMean = 1;           // seconds, at least
constexpr double kQuietRise = 1.001;  // from one mean to the next
// Share of a mean's requests, beyond chance: if more begin than end by this share, a queue grows
// behind a limit that does not bind.
constexpr double kMostMore = 0.1;
// A quiet time this long comes first, so that the beginning of an overload is not learned.
constexpr Duration kQuiet = std::chrono::seconds(5);
constexpr double kMostClients = 0.9;  // share answered, or clients leave
constexpr double kEnoughRecent = 20;
constexpr double kQueued = 1.25;  // times the time without a queue
// Requests in each mean; the lowest mean is kept, which by chance is slightly too low.
constexpr double kEnoughLeast = 100;
constexpr double kMostOfLeast = 1.1;
// Highest ratio of requests that begin to those that end: above it work grows, and those that began
// count with part of their time. A lower one would discard an overload's first mean, without queue.
constexpr double kMostGrowth = 2;
// Share of the requests in a mean that must succeed, since failures are quick.
constexpr double kMostSucceed = 0.9;
// Requests in the recent mean; older ones have less weight.
constexpr double kRecentMemory = 30;
constexpr double kLateMemory = 12;

void lower(double& least, double mean) {
  least = least > 0 ? std::min(mean, kQuietRise * least) : mean;
}

}  // namespace

void SlotTimes::Mean::add(const LimitSample& sample) {
  slot_seconds += sample.slot_seconds;
  requests += sample.released;
  seconds += to_seconds(sample.span);
}

void SlotTimes::Mean::add(const LimitSample& sample, double memory) {
  add(sample);
  if (requests <= memory) return;
  const double kept = memory / requests;
  *this = {kept * slot_seconds, memory, kept * seconds};
}

bool SlotTimes::has_queue() const {
  if (quiet_ <= 0) return true;
  const Mean& mean = recent_.requests >= kEnoughRecent ? recent_ : lately_;
  return mean.requests < kLateMemory || mean.value() > kQueued * quiet();
}

void SlotTimes::step(const LimitSample& sample) {
  recent_.add(sample, kRecentMemory);
  lately_.add(sample, kLateMemory);
  note_least(sample);
  const bool is_quiet =
      !sample.is_short && !sample.has_waiters && sample.answered.value_or(1) >= kMostClients;
  quiet_for_ = is_quiet ? quiet_for_ + sample.span : Duration{0};
  if (sample.answered.value_or(1) < kMostClients) return;
  if (stretch().value_or(2) <= kQueued)
    most_unqueued_ = std::max(most_unqueued_, recent_.slot_seconds / recent_.seconds);
  if (quiet_for_ < kQuiet) {
    collected_ = {};
    collected_began_ = 0;
    return;
  }
  collected_.slot_seconds += sample.slot_seconds;
  collected_.requests += sample.succeeded;
  collected_.seconds += to_seconds(sample.span);
  collected_began_ += sample.admitted;
  if (collected_.requests < kEnoughQuiet || collected_.seconds < kMean) return;
  const double ended = collected_.requests;
  const double more = std::exchange(collected_began_, 0) - ended;
  const Mean mean = std::exchange(collected_, Mean{});
  if (!sample.are_few || more <= kMostMore * ended + std::sqrt(ended)) lower(quiet_, mean.value());
}

// Requests are the mean of those that began and those that ended: of a burst that ends within the
// period the beginning is missing, and of one that begins in it the end.
void SlotTimes::note_least(const LimitSample& sample) {
  twice_.add(sample);
  twice_began_ += sample.admitted;
  twice_succeeded_ += sample.succeeded;
  const double requests = (twice_began_ + twice_.requests) / 2;
  if (requests < kEnoughLeast || twice_.seconds < kMean ||
      requests * twice_.seconds < 2 * twice_.slot_seconds)
    return;
  const bool is_steady = twice_began_ <= kMostGrowth * twice_.requests;
  if (is_steady && twice_succeeded_ >= kMostSucceed * twice_.requests)
    lower(least_, twice_.slot_seconds / requests);
  twice_ = {};
  twice_began_ = twice_succeeded_ = 0;
}

double SlotTimes::quiet() const {
  return least_ > 0 ? std::min(quiet_, kMostOfLeast * least_) : quiet_;
}

double SlotTimes::unqueued() const { return quiet_ > 0 ? quiet() : least_; }

std::optional<double> SlotTimes::recent() const {
  return recent_.requests < kEnoughRecent ? std::nullopt : std::optional(recent_.value());
}

std::optional<double> SlotTimes::stretch() const {
  const std::optional<double> now = recent();
  return quiet_ > 0 && now ? std::optional(*now / quiet()) : std::nullopt;
}

}  // namespace spillway::overload
