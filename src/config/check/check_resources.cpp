// Checks of the resources that a waiting room hands out.
#include <algorithm>
#include <map>
#include <set>

#include "config/check/checks.hpp"

namespace spillway::config {
namespace {

void check_names(const std::vector<WaitingResource>& groups, const std::string& path,
                 Findings& findings) {
  std::map<std::string, std::size_t> named;  // name -> its group
  for (std::size_t n = 0; n < groups.size(); ++n) {
    if (groups[n].name.empty() && !groups[n].count) {
      findings.report(element(path, n), "needs a name, a count, or both");
      continue;
    }
    for (const std::string& name : device_names(groups[n])) {
      if (name.size() > 64) {
        findings.report(element(path, n), "the name " + name + " has more than 64 characters");
        break;
      }
      const auto [at, is_new] = named.emplace(name, n);
      if (is_new) continue;
      findings.report(element(path, n), "a second device named " + name + "; the first is of " +
                                            element(path, at->second));
      break;
    }
  }
  if (named.size() > kMostDevices)
    findings.report(path, "found " + std::to_string(named.size()) + " devices, allowed: up to " +
                              std::to_string(kMostDevices));
}

void check_kinds(const std::vector<WaitingResource>& groups, const std::string& path,
                 Findings& findings) {
  std::set<std::string> types;
  std::set<std::string> sizes;
  for (const WaitingResource& group : groups) {
    types.insert(group.type);
    for (const WaitingSize& size : group.sizes) sizes.insert(size.name);
  }
  if (types.size() > kMostResourceTypes)
    findings.report(path, "found " + std::to_string(types.size()) + " types, allowed: up to " +
                              std::to_string(kMostResourceTypes));
  if (sizes.size() > kMostSizes)
    findings.report(path, "found " + std::to_string(sizes.size()) +
                              " names of sizes, allowed: up to " + std::to_string(kMostSizes));
  for (const std::string& type : types) {
    if (requirement_kinds(groups, type, kMostKinds).size() <= kMostKinds) continue;
    findings.report(path, "the sizes of type " + type + " can be asked for in more than " +
                              std::to_string(kMostKinds) +
                              " ways that differ in which devices are enough: make devices more "
                              "alike, or divide the type");
  }
}

void check_times(const WaitingRoom& room, const std::string& path, Findings& findings) {
  const WaitingDuration& duration = room.resources.duration;
  const std::string at = path + ".duration";
  const Milliseconds most = duration.max.value_or(room.sessions.ttl);
  findings.check_order(at + ".max_ms", most, path + ".session_ttl_ms", room.sessions.ttl);
  findings.check_order(at + ".min_ms", duration.min, at + ".max_ms", most);
  if (duration.usual) {
    findings.check_order(at + ".default_ms", *duration.usual, at + ".max_ms", most);
    findings.check_order(at + ".min_ms", duration.min, at + ".default_ms", *duration.usual);
  }
  const WaitingOwnWait& wait = room.resources.own_wait;
  const Milliseconds longest = wait.max.value_or(room.tickets.max_wait);
  const std::string wait_at = path + ".own_max_wait";
  findings.check_order(wait_at + ".max_ms", longest, path + ".max_wait_ms", room.tickets.max_wait);
  findings.check_order(wait_at + ".min_ms", wait.min, wait_at + ".max_ms", longest);
}

}  // namespace

void check_resources(const WaitingRoom& room, const std::string& path, Findings& findings) {
  const std::vector<WaitingResource>& groups = room.resources.groups;
  const std::string& usual = room.resources.default_type;
  if (groups.empty()) {
    if (!usual.empty())
      findings.report(path + ".default_type", "there are no resources", path + ".resources");
    return;
  }
  check_names(groups, path + ".resources", findings);
  check_kinds(groups, path + ".resources", findings);
  check_times(room, path, findings);
  if (!usual.empty() && std::ranges::find(groups, usual, &WaitingResource::type) == groups.end())
    findings.report(path + ".default_type", "no resource has this type", path + ".resources");
  if (room.opening.when == WaitingWhen::overloaded)
    findings.report(path + ".when",
                    "with resources every visitor has to wait until it is given one: as always",
                    path + ".resources");
}

}  // namespace spillway::config
