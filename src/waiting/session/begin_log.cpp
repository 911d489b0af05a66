#include "waiting/session/begin_log.hpp"

#include <algorithm>
#include <limits>

namespace spillway::waiting {
namespace {

constexpr Milliseconds kMinute{60'000};

std::int64_t second_of(Time at) { return at.time_since_epoch() / std::chrono::seconds(1); }

}  // namespace

void BeginLog::set_per_minute(std::uint32_t per_minute) {
  if (per_minute_ == 0 && per_minute > 0) {
    for (const Second& second : seconds_) {
      if (second.number < 0) continue;
      const Time end = Time(std::chrono::seconds(second.number)) + Milliseconds(999);
      times_.insert(times_.end(), second.begun, end);
    }
    std::sort(times_.begin(), times_.end());
  }
  if (per_minute == 0) times_.clear();
  per_minute_ = per_minute;
}

void BeginLog::add(Time now) {
  Second& second = seconds_[static_cast<std::size_t>(second_of(now)) % seconds_.size()];
  if (second.number != second_of(now)) second = {second_of(now), 0};
  ++second.begun;
  if (per_minute_ == 0) return;
  while (!times_.empty() && now - times_.front() > kMinute) times_.pop_front();
  // After set_per_minute() the last time may be the end of this second.
  times_.push_back(times_.empty() ? now : std::max(now, times_.back()));
}

std::size_t BeginLog::remaining(Time at) const {
  if (per_minute_ == 0) return std::numeric_limits<std::size_t>::max();
  const std::size_t begun = begun_since(at - kMinute);
  return begun >= per_minute_ ? 0 : per_minute_ - begun;
}

std::size_t BeginLog::excess(Time at) const {
  const std::size_t begun = begun_since(at - kMinute);
  return begun > per_minute_ ? begun - per_minute_ : 0;
}

std::size_t BeginLog::begun_since(Time time) const {
  const auto first = std::lower_bound(times_.begin(), times_.end(), time);
  return static_cast<std::size_t>(times_.end() - first);
}

std::size_t BeginLog::last_minute(Time now) const {
  std::size_t begun = 0;
  for (const Second& second : seconds_) {
    if (second.number >= 0 && second.number >= second_of(now) - 60) begun += second.begun;
  }
  return begun;
}

}  // namespace spillway::waiting
