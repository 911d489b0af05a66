#include "waiting/resources/stock.hpp"

#include <algorithm>
#include <utility>

namespace spillway::waiting {

Stock::Stock(const Resources& resources) : catalog_(resources) {
  add_devices();
  index();
}

void Stock::add_devices() {
  for (std::size_t number = 0; number < catalog_.groups().size(); ++number) {
    const Catalog::Group& group = catalog_.groups()[number];
    for (std::uint32_t n = group.first; n < group.first + group.count; ++n) {
      Device& device = devices_.emplace_back();
      device.name = catalog_.devices()[n];
      device.type = catalog_.type_name(group.type);
      device.group = static_cast<std::uint8_t>(number);
    }
  }
}

bool Stock::is_known(const Wish& wish) const {
  return wish.kind < kMostKinds && (is_empty() || wish.type < catalog_.types().size());
}

bool Stock::index() {
  free_.assign(catalog_.groups().size(), 0);
  held_.clear();
  const std::size_t named = catalog_.devices().size();
  if (devices_.size() < named) return false;
  for (std::uint32_t n = 0; n < devices_.size(); ++n) {
    const Device& device = devices_[n];
    if ((device.group == Device::kGone) != (n >= named)) return false;
    if (n < named && device.group >= free_.size()) return false;
    if (!is_known(device.wish)) return false;
    if (device.is_held)
      held_.emplace(device.holder, n);
    else if (device.group != Device::kGone)
      ++free_[device.group];
  }
  return true;
}

const Wish& Stock::wish(Slot ticket) const {
  static const Wish kNone;
  return ticket < reached_ ? wishes_[ticket] : kNone;
}

void Stock::set_wish(Slot ticket, const Wish& wish) {
  if (is_empty() && ticket >= reached_) return;
  for (; reached_ <= ticket; ++reached_) wishes_.reach(reached_) = {};
  wishes_[ticket] = wish;
}

KindSet Stock::free_kinds(std::uint8_t type) const {
  KindSet kinds = 0;
  for (std::size_t n = 0; n < free_.size(); ++n) {
    const Catalog::Group& group = catalog_.groups()[n];
    if (group.type == type && free_[n] > 0) kinds |= group.meets;
  }
  return kinds;
}

// All devices of a type meet its first kind.
std::size_t Stock::free(std::uint8_t type) const { return free(type, 0); }

std::size_t Stock::free(std::uint8_t type, std::uint8_t kind) const {
  std::size_t count = 0;
  for (std::size_t n = 0; n < free_.size(); ++n) {
    const Catalog::Group& group = catalog_.groups()[n];
    count += group.type == type && (group.meets >> kind & 1) != 0 ? free_[n] : 0;
  }
  return count;
}

void Stock::hold(std::uint32_t number, const TicketId& holder, const Wish& wish) {
  Device& device = devices_[number];
  if (device.group != Device::kGone) --free_[device.group];
  device.is_held = true;
  device.is_inside = false;
  device.holder = holder;
  device.wish = wish;
  held_.insert_or_assign(holder, number);
}

bool Stock::give(const TicketId& holder, const Wish& wish) {
  if (is_empty() || held_.contains(holder)) return false;
  for (const std::uint8_t number : catalog_.by_size(wish.type)) {
    const Catalog::Group& group = catalog_.groups()[number];
    if (free_[number] == 0 || (group.meets >> wish.kind & 1) == 0) continue;
    std::uint32_t device = group.first;
    while (devices_[device].is_held) ++device;
    hold(device, holder, wish);
    return true;
  }
  return false;
}

bool Stock::give_again(const TicketId& holder, const std::string& name, const Wish& wish) {
  if (held_.contains(holder)) return false;
  auto at = std::ranges::find(devices_, name, &Device::name);
  if (at == devices_.end()) {
    devices_.emplace_back().name = name;
    at = devices_.end() - 1;
  } else if (at->is_held) {
    return false;
  }
  hold(static_cast<std::uint32_t>(at - devices_.begin()), holder, wish);
  at->is_inside = true;
  return true;
}

void Stock::enter(const TicketId& holder) {
  const auto found = held_.find(holder);
  if (found != held_.end()) devices_[found->second].is_inside = true;
}

void Stock::take_back(const TicketId& holder) {
  const auto found = held_.find(holder);
  if (found == held_.end()) return;
  const std::uint32_t number = found->second;
  held_.erase(found);
  Device& device = devices_[number];
  device.is_held = device.is_inside = false;
  device.holder = {};
  device.wish = {};
  if (device.group != Device::kGone) {
    ++free_[device.group];
    return;
  }
  devices_.erase(devices_.begin() + number);
  index();
}

const Device* Stock::of(const TicketId& holder) const {
  const auto found = held_.find(holder);
  return found == held_.end() ? nullptr : &devices_[found->second];
}

void Stock::change(const Resources& resources) {
  const Catalog former = std::exchange(catalog_, Catalog(resources));
  std::vector<Device> before = std::exchange(devices_, {});
  add_devices();
  for (Device& device : before) {
    if (!device.is_held) continue;
    Wish wish{.duration_ms = device.wish.duration_ms};
    if (!former.is_empty() && !is_empty())
      wish = catalog_.understand_again(former.say(device.wish)).value_or(wish);
    device.wish = wish;
    const auto same = std::ranges::find(devices_, device.name, &Device::name);
    if (same == devices_.end()) {
      device.group = Device::kGone;
      devices_.push_back(std::move(device));
      continue;
    }
    same->is_held = true;
    same->is_inside = device.is_inside;
    same->holder = device.holder;
    same->wish = wish;
  }
  if (is_empty()) reached_ = 0;
  index();
}

}  // namespace spillway::waiting
