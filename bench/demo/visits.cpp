#include "visits.hpp"

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

namespace spillway::demo {
namespace {

// Longer than anybody is silent and still inside.
constexpr std::chrono::minutes kForgotten{10};

}  // namespace

void Visits::request(std::string_view pass, TimePoint now) {
  if (pass.empty()) {
    ++without_pass_;
    return;
  }
  const auto [visit, is_new] = visits_.try_emplace(std::string(pass), Visit{now, now});
  visit->second.last = now;
  if (is_new) ++visitors_;
}

std::uint64_t Visits::most_at_once(TimePoint now) {
  std::vector<std::pair<TimePoint, int>> changes;  // who ends goes before who begins
  for (const auto& [pass, visit] : visits_) {
    changes.emplace_back(visit.first, +1);
    changes.emplace_back(visit.last, -1);
  }
  std::sort(changes.begin(), changes.end());
  std::int64_t inside = 0;
  for (const auto& [at, change] : changes) {
    inside += change;
    most_ = std::max(most_, static_cast<std::uint64_t>(std::max<std::int64_t>(inside, 0)));
  }
  std::erase_if(visits_, [now](const auto& each) { return each.second.last + kForgotten < now; });
  return most_;
}

}  // namespace spillway::demo
