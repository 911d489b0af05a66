#include "config/defaults.hpp"

#include <algorithm>

namespace spillway::config {
namespace {

TrafficClass make_class(const char* name, double weight, std::uint32_t max_queue, int max_wait) {
  TrafficClass out;
  out.name = name;
  out.weight = weight;
  out.max_queue = max_queue;
  out.max_wait = Milliseconds{max_wait};
  return out;
}

// Without shares: these depend on the classes that the file has.
std::vector<TrafficClass> named_defaults() {
  return {make_class("P0", 8, 512, 500), make_class("P1", 3, 256, 200),
          make_class("P2", 1, 128, 100)};
}

std::vector<Rule> default_rules(std::size_t classes) {
  std::vector<Rule> rules(classes, Rule{Strategy::deny, 0.5, Milliseconds{1000}});
  rules.front() = {Strategy::allow, 1.0, Milliseconds{1000}};
  // A single class is the lowest, too: else it would wait in vain, up to its full queue.
  rules.back() = {Strategy::deny, 1.0, Milliseconds{classes > 1 ? 5000 : 1000}};
  return rules;
}

}  // namespace

std::vector<TrafficClass> default_classes() {
  std::vector<TrafficClass> classes = named_defaults();
  set_min_shares(classes);
  return classes;
}

TrafficClass new_class(std::string_view name) {
  for (TrafficClass& one : named_defaults())
    if (one.name == name) return std::move(one);
  TrafficClass plain;
  plain.name = name;
  return plain;
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
