#include "waiting/line/tiered_line.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <vector>

#include "unit/waiting/tide.hpp"

namespace spillway::waiting {
namespace {

using Member = TieredLine::Member;

// The same, slow and obvious.
class PlainTiers {
 public:
  explicit PlainTiers(const Tiers& tiers) : tiers_(tiers) {}

  void insert(const Member& member, Order order) { entries_.push_back({member, order, true}); }
  void remove(Slot slot) { entries_.erase(find(slot)); }
  void set_present(Slot slot, bool is_present) { find(slot)->is_present = is_present; }
  Member member(Slot slot) { return find(slot)->member; }
  TieredLine::Ahead ahead(Slot slot) {
    const Entry it = *find(slot);
    TieredLine::Ahead ahead;
    for (const Entry& each : entries_) {
      const bool is_higher = each.member.priority > it.member.priority;
      const bool is_before = each.member.priority == it.member.priority && each.order < it.order;
      Line::Ahead& of = is_higher ? ahead.higher : ahead.own;
      of.all += is_higher || is_before ? 1 : 0;
      of.present += (is_higher || is_before) && each.is_present ? 1 : 0;
    }
    return ahead;
  }
  Slot next() const {
    for (int priority = 255; priority >= 0; --priority) {
      const auto owed = owed_.find(static_cast<Priority>(priority));
      if (owed == owed_.end() || owed->second < 1 - 1e-9) continue;
      if (const Slot first = first_of(owed->first); first != kNoSlot) return first;
    }
    for (int priority = 255; priority >= 0; --priority) {
      if (const Slot first = first_of(static_cast<Priority>(priority)); first != kNoSlot)
        return first;
    }
    return kNoSlot;
  }
  void call(Slot slot) {
    for (const Tier& tier : tiers_) {
      if (tier.share > 0 && first_of(tier.priority) != kNoSlot) owed_[tier.priority] += tier.share;
    }
    double& owed = owed_[member(slot).priority];
    owed = owed > 1 ? owed - 1 : 0;
    set_present(slot, false);
  }

 private:
  struct Entry {
    Member member;
    Order order;
    bool is_present;
  };
  std::vector<Entry>::iterator find(Slot slot) {
    return std::find_if(entries_.begin(), entries_.end(),
                        [&](const Entry& each) { return each.member.slot == slot; });
  }
  Slot first_of(Priority priority) const {
    const Entry* first = nullptr;
    for (const Entry& each : entries_) {
      if (each.member.priority != priority || !each.is_present) continue;
      if (first == nullptr || each.order < first->order) first = &each;
    }
    return first != nullptr ? first->member.slot : kNoSlot;
  }

  Tiers tiers_;
  std::vector<Entry> entries_;
  std::map<Priority, double> owed_;
};

const Tiers kShared = tiers_of({{7, 0}, {3, 0.2}, {2, 0.05}, {0, 0.1}});

bool is_same(const TieredLine::Ahead& one, const TieredLine::Ahead& other) {
  return one.own.all == other.own.all && one.own.present == other.own.present &&
         one.higher.all == other.higher.all && one.higher.present == other.higher.present;
}

// Random operations on both; how many answers differed. `wrong`: the line is told another tier now
// and then.
int differences(std::uint64_t seed, std::size_t operations, Slot slots, bool wrong) {
  constexpr std::array<Priority, 5> kPriorities{7, 3, 2, 1, 0};  // 1 is no tier
  TieredLine line(kShared);
  PlainTiers plain(kShared);
  Random random(seed);
  std::vector<Slot> in, out;
  std::map<Slot, Member> told;
  for (Slot slot = 0; slot < slots; ++slot) out.push_back(slot);
  int differing = 0;
  Time now = kStart;
  for (std::uint64_t n = 0; n < operations; ++n) {
    now += Milliseconds(1);
    const std::uint64_t what = random.next() % 10;
    if ((what < 3 && !out.empty()) || in.empty()) {
      std::swap(out[random.next() % out.size()], out.back());
      const Member member{kPriorities[random.next() % kPriorities.size()], out.back()};
      const Time arrived = now - Milliseconds(random.next() % 4 == 0 ? random.next() % 2000 : 0);
      const bool lies = wrong && n % 100 == 99;
      told[member.slot] = {lies ? Priority{7} : member.priority, member.slot};
      const Order order = order_of(arrived, id_of(n));
      plain.insert(member, order);
      line.insert(told[member.slot], order);
      in.push_back(member.slot);
      out.pop_back();
      continue;
    }
    std::swap(in[random.next() % in.size()], in.back());
    const Slot slot = in.back();
    if (what < 5) {
      line.remove(told[slot]);
      plain.remove(slot);
      out.push_back(slot);
      in.pop_back();
    } else if (what == 5) {
      const bool is_present = random.next() % 2 == 0;
      line.set_present(told[slot], is_present);
      plain.set_present(slot, is_present);
    } else if (what == 6) {
      differing += is_same(line.ahead(told[slot]), plain.ahead(slot)) ? 0 : 1;
      const auto there = line.at(line.ahead(told[slot]).all());
      differing += there == slot ? 0 : 1;
    } else if (const Slot next = line.next(); next != kNoSlot) {
      line.call(told[next]);
      plain.call(next);
    }
    differing += line.next() != plain.next() ? 1 : 0;
    differing += line.size() != in.size() ? 1 : 0;
  }
  return differing;
}

// The first that is present and not away, one after the other. Slots are of kinds by turns.
constexpr std::uint8_t kKindsOfSlots = 5;
std::uint8_t kind_of(Slot slot) { return slot % kKindsOfSlots; }
Slot first_at_page(const Line& line, const Line& away, std::uint32_t kinds) {
  for (std::size_t n = 0; n < line.size(); ++n) {
    const Slot slot = line.at(n);
    const bool is_of_them = (kinds >> kind_of(slot) & 1) != 0;
    if (is_of_them && line.is_present(slot) && !away.has(slot)) return slot;
  }
  return kNoSlot;
}

// Calls of `calls` that a tier got, while there is always somebody of each.
std::size_t got(const Tiers& tiers, Priority priority, std::size_t calls) {
  TieredLine line(tiers);
  for (Slot n = 0; n < tiers.count; ++n)
    line.insert({tiers.list[n].priority, n}, order_of(kStart, id_of(n)));
  std::size_t got = 0;
  for (std::size_t n = 0; n < calls; ++n) {
    const Slot next = line.next();
    const Member member{tiers.list[next].priority, next};
    got += member.priority == priority ? 1 : 0;
    line.call(member);
    line.set_present(member, true);
  }
  return got;
}

}  // namespace

TEST_CASE("the tiered line answers as a plain one does, over random operations") {
  CHECK(differences(1, 300'000, 12, false) == 0);
  CHECK(differences(2, 20'000, 300, false) == 0);
  CHECK(differences(3, 10'000, 12, true) > 0);  // a line that is told another tier is caught
}

TEST_CASE("the first ticket at its page is found among those that are away, of any kinds") {
  for (const Slot slots : {8u, 400u}) {
    CAPTURE(slots);
    TieredLine line;
    Random random(slots);
    std::size_t differing = 0, found = 0, differing_of_all = 0;
    for (int n = 0; n < 20'000; ++n) {
      const auto slot = static_cast<Slot>(random.next() % slots);
      const Member it{0, slot, kind_of(slot)};
      const bool is_in = line.of(0).has(it.slot);
      switch (random.next() % 5) {
        case 0:  // many are of one order
          if (!is_in) line.insert(it, order_of(kStart + Milliseconds(random.next() % 20), {}));
          break;
        case 1:
          if (is_in) line.remove(it);
          break;
        case 2:
          if (is_in) line.set_present(it, random.next() % 4 == 0);
          break;
        case 3:
          if (is_in) line.set_away(it, random.next() % 4 != 0);
          break;
        case 4:
          if (is_in) line.call(it);
          break;
      }
      const auto kinds = static_cast<std::uint32_t>(random.next() % (1 << kKindsOfSlots));
      const Slot expected = first_at_page(line.of(0), line.away_of(0), kinds);
      differing += line.next_at_page(kinds) != expected ? 1 : 0;
      found += expected != kNoSlot ? 1 : 0;
      differing_of_all += line.next_at_page() != expected ? 1 : 0;
    }
    CHECK(differing == 0);
    CHECK(found > 9'000);
    CHECK(differing_of_all > 1'000);  // control: kinds are told apart
  }
}

TEST_CASE("each tier gets its share of any number of calls, and the highest what is left") {
  for (const std::size_t calls : {100u, 1000u, 12'345u}) {
    CAPTURE(calls);
    double left = 1;
    for (const Tier& tier : kShared) {
      if (tier.share == 0) continue;
      const double due = tier.share * static_cast<double>(calls);
      CHECK(static_cast<double>(got(kShared, tier.priority, calls)) >= due - 1);
      CHECK(static_cast<double>(got(kShared, tier.priority, calls)) <= due + 1);
      left -= tier.share;
    }
    CHECK(static_cast<double>(got(kShared, 7, calls)) >= left * static_cast<double>(calls) - 3);
  }
  // Control: without a share a lower tier gets nothing.
  CHECK(got(tiers_of({{1, 0}, {0, 0}}), 0, 1000) == 0);
}

TEST_CASE("a share is neither saved up while nobody is there nor spent while no higher one is") {
  const Tiers tiers = tiers_of({{1, 0}, {0, 0.1}});
  const Member high{1, 0}, low{0, 1};
  TieredLine line(tiers);
  line.insert(high, order_of(kStart, id_of(0)));
  const auto call = [&] {
    const Slot next = line.next();
    const Member member = next == 0 ? high : low;
    line.call(member);
    line.set_present(member, true);
    return member.priority;
  };
  for (int n = 0; n < 1000; ++n) call();
  line.insert(low, order_of(kStart, id_of(1)));
  int to_low = 0;
  for (int n = 0; n < 100; ++n) to_low += call() == 0 ? 1 : 0;
  CHECK(to_low <= 10);
  CHECK(to_low >= 9);
  line.set_present(high, false);
  for (int n = 0; n < 1000; ++n) CHECK(call() == 0);
  line.set_present(high, true);
  to_low = 0;
  for (int n = 0; n < 100; ++n) to_low += call() == 0 ? 1 : 0;
  CHECK(to_low >= 9);
}

TEST_CASE("other tiers after a reload: who is in line stays, in the order of priorities") {
  TieredLine line(kShared);
  for (const Priority priority : {0, 2, 3, 7})
    line.insert({priority, priority}, order_of(kStart, id_of(priority)));
  line.set_tiers(tiers_of({{5, 0}, {1, 0.5}}));
  CHECK(line.next() == 7);
  CHECK(line.ahead({0, 0}).all() == 3);
  CHECK(line.shares_below(7) == 0);
  line.insert({5, 5}, order_of(kStart, id_of(5)));
  CHECK(line.ahead({5, 5}).all() == 1);
  CHECK(line.ahead({3, 3}).all() == 2);
  const Tiers two = tiers_of({{5, 0}, {1, 0.5}});
  CHECK(two.number_of(7) == 0);
  CHECK(two.number_of(4) == 1);
  CHECK(two.number_of(0) == 1);
}

}  // namespace spillway::waiting
