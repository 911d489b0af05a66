#include "waiting/line/line.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace spillway::waiting {

Line::Place Line::find(Slot slot) const {
  const Slot id = leaf_of_[slot];
  const Leaf& leaf = leaves_[id];
  std::uint32_t at = 0;
  while (slot_of(leaf.slots[at]) != slot) ++at;
  return {id, at};
}

// Neither a group nor a leaf is ever empty.
Line::Place Line::after_all_of(Order order) const {
  const auto first = [&](Slot leaf) { return leaves_[leaf].orders[0]; };
  auto group = std::partition_point(
      top_.begin(), top_.end(), [&](Slot each) { return first(groups_[each].leaves[0]) <= order; });
  if (group != top_.begin()) --group;
  const Group& chosen = groups_[*group];
  const auto* const end = chosen.leaves.data() + chosen.size;
  const auto* leaf = std::partition_point(chosen.leaves.data(), end,
                                          [&](Slot each) { return first(each) <= order; });
  if (leaf != chosen.leaves.data()) --leaf;
  const auto& orders = leaves_[*leaf].orders;
  const auto* const at =
      std::upper_bound(orders.data(), orders.data() + leaves_[*leaf].size, order);
  return {*leaf, static_cast<std::uint32_t>(at - orders.data())};
}

void Line::insert(Slot slot, Order order, std::uint8_t kind) {
  for (; reached_ <= slot; ++reached_) leaf_of_.reach(reached_) = kNoSlot;
  Place place;
  if (top_.empty()) {
    const Slot group = groups_.take();
    top_.push_back(group);
    top_all_.push_back(0);
    top_present_.push_back(0);
    top_kinds_.push_back(0);
    place.leaf = groups_[group].leaves[0] = leaves_.take();
    groups_[group].size = 1;
    leaves_[place.leaf].group = group;
  } else {
    place = make_space(after_all_of(order));
  }
  put(slot | std::uint32_t{kind} << kKindAt, order, place);
}

void Line::insert_before(Slot slot, Slot next, std::uint8_t kind) {
  for (; reached_ <= slot; ++reached_) leaf_of_.reach(reached_) = kNoSlot;
  const Place place = find(next);
  const Order order = leaves_[place.leaf].orders[place.at];
  put(slot | std::uint32_t{kind} << kKindAt, order, make_space(place));
}

// The new entry is present.
void Line::put(std::uint32_t entry, Order order, Place place) {
  Leaf& leaf = leaves_[place.leaf];
  std::copy_backward(leaf.slots.begin() + place.at, leaf.slots.begin() + leaf.size,
                     leaf.slots.begin() + leaf.size + 1);
  std::copy_backward(leaf.orders.begin() + place.at, leaf.orders.begin() + leaf.size,
                     leaf.orders.begin() + leaf.size + 1);
  leaf.slots[place.at] = entry | kPresent;
  leaf.orders[place.at] = order;
  ++leaf.size;
  leaf_of_[slot_of(entry)] = place.leaf;
  count(place.leaf, 1, 1);
  add_kinds(place.leaf, entry | kPresent);
}

// The same place, in a leaf that is not full. An entry at the end gets a new leaf, so that leaves
// stay full where nothing is inserted later.
Line::Place Line::make_space(Place place) {
  if (leaves_[place.leaf].size < kLeaf) return place;
  const Slot next = add_leaf_after(place.leaf);
  if (place.at == kLeaf) return {next, 0};
  move_tail(place.leaf, kLeaf / 2, next);
  recount(place.leaf);
  recount(next);
  if (place.at <= kLeaf / 2) return place;
  return {next, place.at - kLeaf / 2};
}

void Line::move_tail(Slot from, std::uint32_t at, Slot to) {
  Leaf& source = leaves_[from];
  Leaf& target = leaves_[to];
  for (std::uint32_t i = at; i < source.size; ++i) {
    target.slots[target.size] = source.slots[i];
    target.orders[target.size] = source.orders[i];
    ++target.size;
    leaf_of_[slot_of(source.slots[i])] = to;
  }
  source.size = at;
}

Slot Line::add_leaf_after(Slot leaf) {
  if (groups_[leaves_[leaf].group].size == kGroup) split(leaves_[leaf].group);
  const Slot id = leaves_[leaf].group;
  Group& group = groups_[id];
  const std::uint32_t at = leaves_[leaf].rank + 1;
  const auto open_gap = [&](auto& array) {
    std::copy_backward(array.begin() + at, array.begin() + group.size,
                       array.begin() + group.size + 1);
  };
  open_gap(group.leaves);
  open_gap(group.all);
  open_gap(group.present);
  open_gap(group.kinds);
  ++group.size;
  const Slot made = leaves_.take();
  group.leaves[at] = made;
  group.all[at] = group.present[at] = group.kinds[at] = 0;
  leaves_[made].group = id;
  number_leaves(id, at);
  return made;
}

// As with leaves: if the group is the last one, only its last leaf moves on.
void Line::split(Slot id) {
  const Slot made = groups_.take();
  Group& source = groups_[id];
  Group& target = groups_[made];
  const bool is_last = source.rank + 1 == top_.size();
  const std::uint32_t at = is_last ? kGroup - 1 : kGroup / 2;
  std::uint32_t all = 0;
  std::uint32_t present = 0;
  KindBits kinds = 0;
  for (std::uint32_t i = at; i < kGroup; ++i) {
    target.leaves[i - at] = source.leaves[i];
    all += target.all[i - at] = source.all[i];
    present += target.present[i - at] = source.present[i];
    kinds |= target.kinds[i - at] = source.kinds[i];
    leaves_[source.leaves[i]].group = made;
  }
  target.size = kGroup - at;
  source.size = at;
  const auto place = static_cast<std::ptrdiff_t>(source.rank) + 1;
  top_.insert(top_.begin() + place, made);
  top_all_.insert(top_all_.begin() + place, all);
  top_present_.insert(top_present_.begin() + place, present);
  top_kinds_.insert(top_kinds_.begin() + place, kinds);
  top_all_[source.rank] -= all;
  top_present_[source.rank] -= present;
  kinds = 0;
  for (std::uint32_t i = 0; i < source.size; ++i) kinds |= source.kinds[i];
  top_kinds_[source.rank] = kinds;
  number_groups(source.rank + 1);
  number_leaves(made, 0);
}

void Line::remove(Slot slot) {
  const Place place = find(slot);
  Leaf& leaf = leaves_[place.leaf];
  const bool was_present = (leaf.slots[place.at] & kPresent) != 0;
  if ((leaf.slots[place.at] & kAway) != 0) --away_;
  std::copy(leaf.slots.begin() + place.at + 1, leaf.slots.begin() + leaf.size,
            leaf.slots.begin() + place.at);
  std::copy(leaf.orders.begin() + place.at + 1, leaf.orders.begin() + leaf.size,
            leaf.orders.begin() + place.at);
  --leaf.size;
  leaf_of_[slot] = kNoSlot;
  count(place.leaf, -1, was_present ? -1 : 0);
  if (was_present) note_kinds(place.leaf);
  if (leaf.size == 0) {
    drop_leaf(place.leaf);
  } else if (leaf.size < kLeaf / 4) {
    merge(place.leaf);
  }
}

// Merges it with the next leaf of its group, if both fit into one with some space to spare.
void Line::merge(Slot leaf) {
  const Group& group = groups_[leaves_[leaf].group];
  const std::uint32_t rank = leaves_[leaf].rank;
  if (rank + 1 == group.size) return;
  const Slot next = group.leaves[rank + 1];
  if (leaves_[leaf].size + leaves_[next].size > kLeaf * 3 / 4) return;
  move_tail(next, 0, leaf);
  recount(leaf);
  recount(next);
  drop_leaf(next);
}

void Line::drop_leaf(Slot leaf) {
  const Slot id = leaves_[leaf].group;
  const std::uint32_t rank = leaves_[leaf].rank;
  Group& group = groups_[id];
  const auto close_gap = [&](auto& array) {
    std::copy(array.begin() + rank + 1, array.begin() + group.size, array.begin() + rank);
  };
  close_gap(group.leaves);
  close_gap(group.all);
  close_gap(group.present);
  close_gap(group.kinds);
  --group.size;
  leaves_.give_back(leaf);
  number_leaves(id, rank);
  if (group.size > 0) return;
  const auto place = static_cast<std::ptrdiff_t>(group.rank);
  top_.erase(top_.begin() + place);
  top_all_.erase(top_all_.begin() + place);
  top_present_.erase(top_present_.begin() + place);
  top_kinds_.erase(top_kinds_.begin() + place);
  number_groups(group.rank);
  groups_.give_back(id);
}

void Line::number_leaves(Slot group, std::uint32_t from) {
  for (std::uint32_t i = from; i < groups_[group].size; ++i)
    leaves_[groups_[group].leaves[i]].rank = i;
}

void Line::number_groups(std::uint32_t from) {
  for (std::uint32_t i = from; i < top_.size(); ++i) groups_[top_[i]].rank = i;
}

void Line::count(Slot leaf, int all, int present) {
  Group& group = groups_[leaves_[leaf].group];
  const std::uint32_t rank = leaves_[leaf].rank;
  const auto more = static_cast<std::uint32_t>(all);  // modulo 2^32, as the sums are
  const auto more_present = static_cast<std::uint32_t>(present);
  group.all[rank] += more;
  group.present[rank] += more_present;
  top_all_[group.rank] += more;
  top_present_[group.rank] += more_present;
  total_.all += static_cast<std::size_t>(static_cast<std::ptrdiff_t>(all));
  total_.present += static_cast<std::size_t>(static_cast<std::ptrdiff_t>(present));
}

// After entries moved between leaves.
void Line::recount(Slot leaf) {
  const Leaf& counted = leaves_[leaf];
  const Group& group = groups_[counted.group];
  const auto present = std::count_if(counted.slots.begin(), counted.slots.begin() + counted.size,
                                     [](std::uint32_t slot) { return (slot & kPresent) != 0; });
  count(leaf, static_cast<int>(counted.size) - static_cast<int>(group.all[counted.rank]),
        static_cast<int>(present) - static_cast<int>(group.present[counted.rank]));
  set_kinds(leaf, kinds_in(counted));
}

Line::KindBits Line::kinds_in(const Leaf& leaf) {
  KindBits kinds = 0;
  for (std::uint32_t i = 0; i < leaf.size; ++i) kinds |= bits_of(leaf.slots[i]);
  return kinds;
}

void Line::add_kinds(Slot id, std::uint32_t entry) {
  const Leaf& leaf = leaves_[id];
  set_kinds(id, groups_[leaf.group].kinds[leaf.rank] | bits_of(entry));
}

// After an entry of it stopped being present, or went away.
void Line::note_kinds(Slot id) {
  const Leaf& leaf = leaves_[id];
  const Group& group = groups_[leaf.group];
  const bool is_of_one_kind =
      std::has_single_bit(static_cast<std::uint32_t>(group.kinds[leaf.rank]));
  if (group.present[leaf.rank] > 0 && is_of_one_kind && away_ == 0) return;
  set_kinds(id, kinds_in(leaf));
}

void Line::set_kinds(Slot id, KindBits kinds) {
  const Leaf& leaf = leaves_[id];
  Group& group = groups_[leaf.group];
  if (std::exchange(group.kinds[leaf.rank], kinds) == kinds) return;
  KindBits all = 0;
  for (std::uint32_t i = 0; i < group.size; ++i) all |= group.kinds[i];
  top_kinds_[group.rank] = all;
}

void Line::set_present(Slot slot, bool is_present) {
  const Place place = find(slot);
  std::uint32_t& entry = leaves_[place.leaf].slots[place.at];
  if (((entry & kPresent) != 0) == is_present) return;
  entry ^= kPresent;
  count(place.leaf, 0, is_present ? 1 : -1);
  if (is_present)
    add_kinds(place.leaf, entry);
  else
    note_kinds(place.leaf);
}

void Line::set_away(Slot slot, bool is_away) {
  const Place place = find(slot);
  std::uint32_t& entry = leaves_[place.leaf].slots[place.at];
  if (((entry & kAway) != 0) == is_away) return;
  entry ^= kAway;
  away_ += is_away ? 1 : -1;
  if ((entry & kPresent) == 0) return;
  if (is_away)
    note_kinds(place.leaf);
  else
    add_kinds(place.leaf, entry);
}

Line::Ahead Line::ahead(Slot slot) const {
  const Slot id = leaf_of_[slot];
  const Leaf& leaf = leaves_[id];
  const Group& group = groups_[leaf.group];
  Ahead ahead;
  for (std::uint32_t i = 0; i < group.rank; ++i) {
    ahead.all += top_all_[i];
    ahead.present += top_present_[i];
  }
  for (std::uint32_t i = 0; i < leaf.rank; ++i) {
    ahead.all += group.all[i];
    ahead.present += group.present[i];
  }
  for (std::uint32_t i = 0; slot_of(leaf.slots[i]) != slot; ++i) {
    ++ahead.all;
    ahead.present += leaf.slots[i] >> 31;
  }
  return ahead;
}

bool Line::has_present(std::uint32_t kinds) const {
  return std::ranges::any_of(top_kinds_, [kinds](KindBits of) { return (of & kinds) != 0; });
}

Slot Line::first_of(KindBits kinds) const {
  const auto some = [kinds](KindBits of) { return (of & kinds) != 0; };
  const auto top = std::ranges::find_if(top_kinds_, some);
  if (top == top_kinds_.end()) return kNoSlot;
  const Group& group = groups_[top_[static_cast<std::size_t>(top - top_kinds_.begin())]];
  const auto rank = std::ranges::find_if(group.kinds, some);
  const Leaf& leaf = leaves_[group.leaves[static_cast<std::size_t>(rank - group.kinds.begin())]];
  const auto entry =
      std::ranges::find_if(leaf.slots, [&](std::uint32_t each) { return some(bits_of(each)); });
  return slot_of(*entry);
}

Slot Line::at(std::size_t ahead) const {
  if (ahead >= total_.all) return kNoSlot;
  const auto pass = [&ahead](const std::uint32_t* counts) {
    std::size_t n = 0;
    for (; ahead >= counts[n]; ++n) ahead -= counts[n];
    return n;
  };
  const Group& group = groups_[top_[pass(top_all_.data())]];
  const Leaf& leaf = leaves_[group.leaves[pass(group.all.data())]];
  return slot_of(leaf.slots[ahead]);
}

Line::Ahead Line::ahead_of(Order order) const {
  if (top_.empty() || order == 0) return {};
  const Place place = after_all_of(order - 1);
  const Leaf& leaf = leaves_[place.leaf];
  if (place.at < leaf.size) return ahead(slot_of(leaf.slots[place.at]));
  const std::uint32_t last = leaf.slots[leaf.size - 1];
  const Ahead before_last = ahead(slot_of(last));
  return {before_last.all + 1, before_last.present + ((last & kPresent) != 0 ? 1 : 0)};
}

Order Line::order(Slot slot) const {
  const Place place = find(slot);
  return leaves_[place.leaf].orders[place.at];
}

bool Line::is_present(Slot slot) const {
  const Place place = find(slot);
  return (leaves_[place.leaf].slots[place.at] & kPresent) != 0;
}

std::vector<Line::Entry> Line::entries() const {
  std::vector<Entry> entries;
  entries.reserve(total_.all);
  for (const Slot top : top_) {
    const Group& group = groups_[top];
    for (std::uint32_t rank = 0; rank < group.size; ++rank) {
      const Leaf& leaf = leaves_[group.leaves[rank]];
      for (std::uint32_t i = 0; i < leaf.size; ++i) {
        const std::uint32_t entry = leaf.slots[i];
        entries.push_back({slot_of(entry), leaf.orders[i], (entry & kPresent) != 0,
                           (entry & kAway) != 0, static_cast<std::uint8_t>(kind_of(entry))});
      }
    }
  }
  return entries;
}

void Line::restore(const Entry& entry) {
  insert(entry.slot, entry.order, entry.kind & 31);
  set_present(entry.slot, entry.is_present);
  set_away(entry.slot, entry.is_away);
}

}  // namespace spillway::waiting
