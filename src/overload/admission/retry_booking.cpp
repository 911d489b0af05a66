#include "overload/admission/retry_booking.hpp"

#include <algorithm>
#include <cmath>

namespace spillway::overload {
namespace {

constexpr std::int64_t ticks(Duration duration) { return duration.count(); }
constexpr std::int64_t ticks(TimePoint time) { return ticks(time.time_since_epoch()); }

constexpr std::int64_t kHorizonTicks = ticks(RetryBooking::kHorizon);

}  // namespace

void RetryBooking::continue_from(const RetryBooking& former) {
  for (std::size_t c = 0; c < std::min(lines_.size(), former.lines_.size()); ++c)
    lines_[c] = former.lines_[c].load();
  spacing_ = former.spacing_.load();
  capacity_ = former.capacity_;
  measured_ = former.measured_;
}

void RetryBooking::measure(std::optional<double> capacity, TimePoint now) {
  capacity_ *= std::exp(-to_seconds(now - measured_) / to_seconds(kMemory));
  measured_ = now;
  if (capacity) capacity_ = std::max(capacity_, *capacity);
  // A turn at the horizon is the last that is booked, so a longer spacing would change nothing.
  const double returns = kReturningShare * capacity_;
  const double longest = to_seconds(kHorizon);
  if (returns > 0 || spacing_ > 0)
    spacing_ = ticks(from_seconds(returns * longest > 1 ? 1 / returns : longest));
}

Milliseconds RetryBooking::book(ClassId traffic_class, Milliseconds least, TimePoint now,
                                Random& random) {
  const std::int64_t spacing = spacing_.load(std::memory_order_relaxed);
  if (spacing == 0 || least == Milliseconds{0}) return least;
  const std::int64_t present = ticks(now);
  Line& own = lines_[index(traffic_class)];
  std::int64_t next = own.load(std::memory_order_relaxed), turn = 0;
  do {
    turn = std::max(next, present);
    if (turn - present > kHorizonTicks) {
      const auto more = Milliseconds(
          static_cast<std::int64_t>(random.uniform() * static_cast<double>(kFarAhead.count())));
      return std::max(least, kFarAhead + more);
    }
  } while (!own.compare_exchange_weak(next, turn + spacing, std::memory_order_relaxed));
  for (std::size_t lower = index(traffic_class) + 1; lower < lines_.size(); ++lower) {
    Line& line = lines_[lower];
    std::int64_t was = line.load(std::memory_order_relaxed);
    while (was - present <= kHorizonTicks &&
           !line.compare_exchange_weak(was, std::max(was, present) + spacing,
                                       std::memory_order_relaxed)) {
    }
  }
  return least + std::chrono::ceil<Milliseconds>(Duration(turn - present));
}

Duration RetryBooking::ahead(ClassId traffic_class, TimePoint now) const {
  const std::int64_t next = lines_[index(traffic_class)].load(std::memory_order_relaxed);
  return Duration(std::max<std::int64_t>(next - ticks(now), 0));
}

std::optional<double> shown_capacity(const OverloadSignals& signals,
                                     std::optional<double> mean_hold) {
  if (!mean_hold || !(*mean_hold > 0) || signals.completed_rate == 0) return std::nullopt;
  const double succeeded = 1 - signals.total_error_rate.value_or(0);
  return succeeded * std::max(signals.completed_rate, 1 / *mean_hold);
}

}  // namespace spillway::overload
