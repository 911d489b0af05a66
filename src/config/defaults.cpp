#include "config/defaults.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

namespace spillway::config {
namespace {

// Values that depend on a class's rank among the others.
struct ByRank {
  double weight, max_queue, max_wait;  // milliseconds
};
constexpr std::array<ByRank, 3> kOfThree{{{8, 512, 500}, {3, 256, 200}, {1, 128, 100}}};

std::vector<Rule> default_rules(std::size_t classes) {
  std::vector<Rule> rules(classes, Rule{Strategy::deny, 0.5, Milliseconds{1000}});
  rules.front() = {Strategy::allow, 1.0, Milliseconds{1000}};
  // If there is only one class, it is also the lowest: it would wait in vain, up to its full queue.
  rules.back() = {Strategy::deny, 1.0, Milliseconds{classes > 1 ? 5000 : 1000}};
  return rules;
}

}  // namespace

std::vector<TrafficClass> default_classes() {
  std::vector<TrafficClass> classes;
  for (std::size_t i = 0; i < kOfThree.size(); ++i)
    classes.push_back(new_class("P" + std::to_string(i), i, kOfThree.size()));
  set_min_shares(classes);
  return classes;
}

TrafficClass new_class(std::string_view name, std::size_t rank, std::size_t count) {
  // A position between the highest, 0, and the lowest, 2.
  const double place = count > 1 ? 2.0 * double(std::min(rank, count - 1)) / double(count - 1) : 0;
  const std::size_t above = place < 1 ? 0 : 1;
  const auto between = [&](double ByRank::*value) {
    const double first = kOfThree[above].*value, second = kOfThree[above + 1].*value;
    return first * std::pow(second / first, place - double(above));
  };
  TrafficClass out;
  out.name = name;
  out.weight = std::round(100 * between(&ByRank::weight)) / 100;
  out.max_queue = static_cast<std::uint32_t>(std::lround(between(&ByRank::max_queue)));
  out.max_wait = Milliseconds{std::lround(between(&ByRank::max_wait))};
  return out;
}

void set_min_shares(std::vector<TrafficClass>& classes) {
  if (classes.empty()) return;
  const auto lower = static_cast<double>(classes.size() - 1);
  for (TrafficClass& one : classes)
    if (!one.min_share) one.min_share = &one == &classes.front() ? 0 : std::min(0.05, 0.5 / lower);
}

ClassId middle_class(std::size_t classes) {
  return ClassId{static_cast<std::uint8_t>(classes / 2)};
}

Config defaults(std::size_t class_count) {
  Config out;
  out.classes = default_classes();
  out.overload.rules = default_rules(class_count);
  for (std::size_t i = class_count; i-- > 1;) {
    out.dispatch.evict.push_back(ClassId{static_cast<std::uint8_t>(i)});
  }
  Route route;
  route.name = "default";
  route.traffic_class = middle_class(class_count);
  out.routes.push_back(std::move(route));
  return out;
}

}  // namespace spillway::config
