#include "system/soak/tally.hpp"

namespace spillway::soak {

namespace {
constexpr std::size_t kMostKept = 40;
}

std::uint64_t Tally::all() const {
  std::uint64_t sum = 0;
  for (const auto& end : ends_) sum += end;
  return sum;
}

void Failures::add(const std::string& what) {
  ++count_;
  const std::lock_guard lock(mutex_);
  if (first_.size() < kMostKept) first_.push_back(what);
}

std::vector<std::string> Failures::first() const {
  const std::lock_guard lock(mutex_);
  return first_;
}

}  // namespace spillway::soak
