#include "bench/overload/recovery.hpp"

#include <algorithm>
#include <cstddef>

namespace spillway::bench {
namespace {

constexpr std::size_t kSecond = 10;  // tenths

double share(std::span<const Tenth> tenths) {
  double attempts = 0, succeeded = 0;
  for (const Tenth& tenth : tenths) {
    attempts += static_cast<double>(tenth.attempts);
    succeeded += static_cast<double>(tenth.succeeded);
  }
  return attempts > 0 ? succeeded / attempts : 0;
}

}  // namespace

std::optional<Recovery> recovery(std::span<const Tenth> tenths, Duration from, Duration until,
                                 Duration end) {
  const auto number = [&](Duration at) {
    return std::min(static_cast<std::size_t>(at / kTenth), tenths.size());
  };
  const double before = share(tenths.first(number(from)));
  if (before <= 0) return std::nullopt;
  const std::size_t restored = number(until);
  const std::size_t last = number(end);
  for (std::size_t at = restored; at + kSecond <= last; ++at) {
    if (share(tenths.subspan(at, kSecond)) >= kRecoveredShare * before) {
      return Recovery{.seconds = static_cast<double>(at - restored) / kSecond};
    }
  }
  return Recovery{.seconds = to_seconds(end - until), .within_cell = false};
}

}  // namespace spillway::bench
