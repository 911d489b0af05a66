#include "waiting/resources/catalog.hpp"

#include <algorithm>
#include <set>

namespace spillway::waiting {

namespace {

// Within the bounds of the configuration, even if the log says otherwise.
std::vector<config::WaitingResource> as_configured(const std::vector<DeviceGroup>& groups) {
  std::vector<config::WaitingResource> configured;
  std::size_t devices = 0;
  std::set<std::string> types;
  for (const DeviceGroup& group : groups) {
    devices += std::max(group.count, 1U);
    types.insert(group.type);
    const bool is_more = configured.size() == config::kMostResourceGroups ||
                         devices > kMostDevices || types.size() > kMostResourceTypes;
    if (is_more) break;
    config::WaitingResource& made = configured.emplace_back();
    made.type = group.type;
    made.name = group.name;
    if (group.count > 0) made.count = group.count;
    for (const SizeNamed& size : group.sizes) made.sizes.push_back({size.name, size.value});
  }
  return configured;
}

std::size_t number_of(std::vector<std::string>& names, const std::string& name) {
  const auto at = std::ranges::find(names, name);
  if (at != names.end()) return static_cast<std::size_t>(at - names.begin());
  names.push_back(name);
  return names.size() - 1;
}

// FNV-1a. It detects that the names have changed; a collision gives a client nothing.
void add(std::uint32_t& hash, std::string_view text) {
  for (const char c : text) hash = (hash ^ static_cast<std::uint8_t>(c)) * 16'777'619U;
  hash = (hash ^ 0xffU) * 16'777'619U;
}

Unmet unmet(std::string requirement, std::string detail) {
  return {std::move(requirement), std::move(detail)};
}

}  // namespace

Catalog::Catalog(const Resources& resources) : resources_(resources) {
  const auto configured = as_configured(resources.groups);
  for (const config::WaitingResource& each : configured) {
    Group& group = groups_.emplace_back();
    group.type = static_cast<std::uint8_t>(number_of(types_, each.type));
    group.first = static_cast<std::uint32_t>(devices_.size());
    for (std::string& name : config::device_names(each)) devices_.push_back(std::move(name));
    group.count = static_cast<std::uint32_t>(devices_.size()) - group.first;
    for (const config::WaitingSize& size : each.sizes) {
      const std::size_t n = number_of(sizes_, size.name);
      if (n < kMostSizes) group.sizes[n] = size.value;
    }
  }
  std::array<std::uint32_t, kMostSizes> largest{};
  for (const Group& group : groups_) {
    for (std::size_t n = 0; n < kMostSizes; ++n) largest[n] = std::max(largest[n], group.sizes[n]);
  }
  const auto weight = [&](std::uint8_t number) {
    std::uint64_t sum = 0;
    for (std::size_t n = 0; n < kMostSizes; ++n) {
      if (largest[n] > 0) sum += (std::uint64_t{groups_[number].sizes[n]} << 24) / largest[n];
    }
    return sum;
  };
  by_size_.resize(types_.size());
  for (std::size_t n = 0; n < groups_.size(); ++n)
    by_size_[groups_[n].type].push_back(static_cast<std::uint8_t>(n));
  for (auto& numbers : by_size_) std::ranges::stable_sort(numbers, {}, weight);
  for (std::size_t type = 0; type < types_.size(); ++type) {
    auto& kinds =
        kinds_.emplace_back(config::requirement_kinds(configured, types_[type], kMostKinds));
    if (kinds.size() > kMostKinds) kinds.resize(kMostKinds);
    for (std::size_t kind = 0; kind < kinds.size(); ++kind) {
      for (std::size_t n = 0; n < groups_.size(); ++n) {
        if ((kinds[kind] >> n & 1) != 0) groups_[n].meets |= KindSet{1} << kind;
      }
    }
  }
  fingerprint_ = 2'166'136'261U;
  for (const std::string& type : types_) add(fingerprint_, type);
  add(fingerprint_, "");
  for (const std::string& size : sizes_) add(fingerprint_, size);
}

std::optional<std::uint8_t> Catalog::find_type(std::string_view name) const {
  const auto at = std::ranges::find(types_, name);
  if (at == types_.end()) return std::nullopt;
  return static_cast<std::uint8_t>(at - types_.begin());
}

std::size_t Catalog::devices_of(std::uint8_t type) const {
  std::size_t count = 0;
  for (const Group& group : groups_) count += group.type == type ? group.count : 0;
  return count;
}

std::size_t Catalog::devices_for(std::uint8_t type, std::uint8_t kind) const {
  std::size_t count = 0;
  for (const Group& group : groups_)
    count += group.type == type && (group.meets >> kind & 1) != 0 ? group.count : 0;
  return count;
}

KindSet Catalog::within(std::uint8_t type, std::uint8_t kind) const {
  const std::vector<config::GroupSet>& kinds = kinds_[type];
  KindSet within = 0;
  for (std::size_t each = 0; each < kinds.size(); ++each)
    within |= (kinds[each] & ~kinds[kind]) == 0 ? KindSet{1} << each : 0;
  return within;
}

// Finds the groups that meet it, and the kind with these groups.
bool Catalog::find_kind(Wish& wish) const {
  config::GroupSet enough = 0;
  for (std::size_t n = 0; n < groups_.size(); ++n) {
    const Group& group = groups_[n];
    if (group.type != wish.type) continue;
    const bool is_enough = std::ranges::equal(group.sizes, wish.sizes, std::greater_equal{});
    if (is_enough) enough |= config::GroupSet{1} << n;
  }
  const auto& kinds = kinds_[wish.type];
  const auto kind = std::ranges::find(kinds, enough);
  if (enough == 0 || kind == kinds.end()) return false;
  wish.kind = static_cast<std::uint8_t>(kind - kinds.begin());
  return true;
}

std::optional<Unmet> Catalog::find_sizes(const Ask& ask, Wish& wish) const {
  const std::string& type = types_[wish.type];
  for (const SizeNamed& size : ask.sizes) {
    if (size.value == 0) continue;
    const auto at = std::ranges::find(sizes_, size.name);
    const auto n = static_cast<std::size_t>(at - sizes_.begin());
    std::uint32_t largest = 0;
    for (const Group& group : groups_) {
      if (group.type == wish.type && n < kMostSizes) largest = std::max(largest, group.sizes[n]);
    }
    if (n >= kMostSizes || largest == 0)
      return unmet(size.name, "No resource of type " + type + " has " + size.name + ".");
    if (size.value > largest)
      return unmet(size.name, "The most " + size.name + " of type " + type + " is " +
                                  std::to_string(largest) + ".");
    wish.sizes[n] = size.value;
  }
  if (!find_kind(wish))
    return unmet("sizes", "No single resource of type " + type + " has all of these sizes.");
  return std::nullopt;
}

std::optional<Unmet> Catalog::find_times(const Ask& ask, Wish& wish) const {
  const auto is_outside = [](Milliseconds time, const TimeBounds& bounds) {
    return time != Milliseconds(0) && (time < bounds.least || time > bounds.most);
  };
  const auto outside = [](std::string name, const TimeBounds& bounds) {
    return unmet(name, name + " is from " + std::to_string(bounds.least.count()) + " to " +
                           std::to_string(bounds.most.count()) + " here.");
  };
  if (is_outside(ask.duration, resources_.duration))
    return outside("duration_ms", resources_.duration);
  if (is_outside(ask.max_wait, resources_.own_wait))
    return outside("max_wait_ms", resources_.own_wait);
  const Milliseconds duration =
      ask.duration == Milliseconds(0) ? resources_.usual_duration : ask.duration;
  wish.duration_ms = static_cast<std::uint32_t>(duration.count());
  wish.max_wait_ms = static_cast<std::uint32_t>(ask.max_wait.count());
  return std::nullopt;
}

std::variant<Wish, Unmet> Catalog::understand(const Ask& ask) const {
  Wish wish;
  const std::string& usual =
      resources_.default_type.empty() && types_.size() == 1 ? types_[0] : resources_.default_type;
  const std::string& wanted = ask.type.empty() ? usual : ask.type;
  if (wanted.empty()) {
    std::string names;
    for (const std::string& type : types_) names += (names.empty() ? "" : ", ") + type;
    return unmet("type", "A type is needed, one of: " + names + ".");
  }
  const auto type = find_type(wanted);
  if (!type) return unmet("type", "There is no resource of type " + wanted + ".");
  wish.type = *type;
  if (auto unmet = find_sizes(ask, wish)) return *std::move(unmet);
  if (auto unmet = find_times(ask, wish)) return *std::move(unmet);
  return wish;
}

std::optional<Wish> Catalog::understand_again(const Ask& ask) const {
  Ask without_times{.type = ask.type, .sizes = ask.sizes, .duration = {}, .max_wait = {}};
  auto understood = understand(without_times);
  Wish* const wish = std::get_if<Wish>(&understood);
  if (wish == nullptr) return std::nullopt;
  if (ask.duration != Milliseconds(0))
    wish->duration_ms = static_cast<std::uint32_t>(ask.duration.count());
  wish->max_wait_ms = static_cast<std::uint32_t>(ask.max_wait.count());
  return *wish;
}

Ask Catalog::say(const Wish& wish) const {
  Ask ask{.type = types_[wish.type],
          .sizes = {},
          .duration = Milliseconds(wish.duration_ms),
          .max_wait = Milliseconds(wish.max_wait_ms)};
  for (std::size_t n = 0; n < sizes_.size(); ++n) {
    if (wish.sizes[n] > 0) ask.sizes.push_back({sizes_[n], wish.sizes[n]});
  }
  return ask;
}

}  // namespace spillway::waiting
