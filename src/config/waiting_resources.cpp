#include "config/waiting_resources.hpp"

#include <algorithm>
#include <bit>
#include <set>

namespace spillway::config {

namespace {

std::uint32_t size_of(const WaitingResource& group, const std::string& name) {
  const auto found = std::ranges::find(group.sizes, name, &WaitingSize::name);
  return found == group.sizes.end() ? 0 : found->value;
}

}  // namespace

std::vector<std::string> device_names(const WaitingResource& resource) {
  if (!resource.count) return {resource.name};
  std::vector<std::string> names;
  const std::string& stem = resource.name.empty() ? resource.type : resource.name;
  for (std::uint32_t n = 1; n <= *resource.count; ++n)
    names.push_back(stem + "-" + std::to_string(n));
  return names;
}

// For each size, the sets of groups that have at least some amount form a chain; a requirement of
// several sizes selects an intersection, with one set from each chain.
std::vector<GroupSet> requirement_kinds(const std::vector<WaitingResource>& groups,
                                        const std::string& type, std::size_t most) {
  GroupSet all = 0;
  std::set<std::string> names;
  for (std::size_t n = 0; n < groups.size(); ++n) {
    if (groups[n].type != type) continue;
    all |= GroupSet{1} << n;
    for (const WaitingSize& size : groups[n].sizes) names.insert(size.name);
  }
  std::set<GroupSet> kinds{all};
  for (const std::string& name : names) {
    std::set<GroupSet> chain;
    for (const WaitingResource& least : groups) {
      GroupSet meeting = 0;
      for (std::size_t n = 0; n < groups.size(); ++n) {
        if (size_of(groups[n], name) >= size_of(least, name)) meeting |= GroupSet{1} << n;
      }
      chain.insert(meeting);
    }
    const std::set<GroupSet> before = kinds;
    for (const GroupSet kind : before) {
      for (const GroupSet meeting : chain) {
        if ((kind & meeting) != 0) kinds.insert(kind & meeting);
      }
      if (kinds.size() > most) break;
    }
    if (kinds.size() > most) break;
  }
  std::vector<GroupSet> sorted(kinds.begin(), kinds.end());
  std::ranges::stable_sort(sorted, std::greater{},
                           [](GroupSet kind) { return std::popcount(kind); });
  if (sorted.size() > most) sorted.resize(most + 1);
  return sorted;
}

}  // namespace spillway::config
