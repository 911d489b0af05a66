#include "waiting/line/line.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <vector>

#include "unit/waiting/crowd.hpp"

namespace spillway::waiting {
namespace {

Order at(Time arrived, std::uint64_t number = 0) { return order_of(arrived, id_of(number)); }

// The same, slow and obvious.
class PlainLine {
 public:
  void insert(Slot slot, Order order) {
    const auto at = std::find_if(entries_.begin(), entries_.end(),
                                 [&](const Entry& each) { return each.order > order; });
    entries_.insert(at, {slot, order, true});
  }
  void remove(Slot slot) { entries_.erase(find(slot)); }
  void set_present(Slot slot, bool is_present) { find(slot)->is_present = is_present; }
  Line::Ahead ahead(Slot slot) {
    Line::Ahead ahead;
    for (auto each = entries_.begin(); each != find(slot); ++each) {
      ++ahead.all;
      ahead.present += each->is_present ? 1 : 0;
    }
    return ahead;
  }
  Slot first_present() const {
    for (const Entry& each : entries_) {
      if (each.is_present) return each.slot;
    }
    return kNoSlot;
  }
  std::size_t size() const { return entries_.size(); }

 private:
  struct Entry {
    Slot slot;
    Order order;
    bool is_present;
  };
  std::vector<Entry>::iterator find(Slot slot) {
    return std::find_if(entries_.begin(), entries_.end(),
                        [&](const Entry& each) { return each.slot == slot; });
  }
  std::vector<Entry> entries_;
};

// Random operations on both; how many answers differed. `wrong`: the line is told a lie now and
// then.
int differences(std::uint64_t seed, std::size_t operations, Slot slots, bool wrong) {
  Line line;
  PlainLine plain;
  Random random(seed);
  std::vector<Slot> in, out;
  for (Slot slot = 0; slot < slots; ++slot) out.push_back(slot);
  int differing = 0;
  Time now = kStart;
  for (std::size_t n = 0; n < operations; ++n) {
    now += Milliseconds(random.next() % 3);
    const std::uint64_t what = random.next() % 8;
    if ((what < 3 && !out.empty()) || in.empty()) {
      std::swap(out[random.next() % out.size()], out.back());
      const Time arrived = now - Milliseconds(random.next() % 4 == 0 ? random.next() % 2000 : 0);
      const bool lies = wrong && n % 100 == 99;
      plain.insert(out.back(), at(arrived, n % 8));
      line.insert(out.back(), at(lies ? arrived - Milliseconds(500) : arrived, n % 8));
      in.push_back(out.back());
      out.pop_back();
      continue;
    }
    std::swap(in[random.next() % in.size()], in.back());
    const Slot slot = in.back();
    if (what < 5) {
      line.remove(slot);
      plain.remove(slot);
      out.push_back(slot);
      in.pop_back();
    } else if (what == 5) {
      const bool is_present = random.next() % 2 == 0;
      line.set_present(slot, is_present);
      plain.set_present(slot, is_present);
    } else {
      const Line::Ahead one = line.ahead(slot);
      const Line::Ahead other = plain.ahead(slot);
      differing += one.all != other.all || one.present != other.present ? 1 : 0;
    }
    differing += line.first_present() != plain.first_present() ? 1 : 0;
    differing += line.size() != plain.size() ? 1 : 0;
  }
  return differing;
}

}  // namespace

TEST_CASE("the line answers as a plain list does, over a million random operations") {
  CHECK(differences(1, 980'000, 12, false) == 0);
  CHECK(differences(2, 20'000, 600, false) == 0);  // several leaves
  CHECK(differences(3, 10'000, 12, true) > 0);     // a line that is told otherwise is caught
}

TEST_CASE("leaves and groups split and end as a long line grows and shrinks") {
  Line line;
  constexpr Slot kMany = 100'000;
  for (Slot slot = 0; slot < kMany; ++slot) line.insert(slot, at(kStart + Milliseconds(slot / 7)));
  for (Slot slot = 0; slot < kMany; slot += 997) CHECK(line.ahead(slot).all == slot);
  // Into the middle, many at once.
  for (Slot slot = kMany; slot < kMany + 2000; ++slot)
    line.insert(slot, at(kStart + Milliseconds(500)));
  CHECK(line.ahead(kMany).all == 501 * 7);
  CHECK(line.ahead(kMany - 1).all == kMany + 2000 - 1);
  for (Slot slot = 0; slot < kMany; ++slot) line.remove(slot);
  CHECK(line.size() == 2000);
  for (Slot slot = kMany; slot < kMany + 2000; ++slot) {
    CHECK(line.first_present() == slot);
    line.remove(slot);
  }
  CHECK(line.first_present() == kNoSlot);
}

TEST_CASE(
    "the order is by arrival, and of the same millisecond the same whoever is heard of first") {
  CHECK(at(kStart, 1) < at(kStart + Milliseconds(1), 2));
  CHECK(at(kStart + Milliseconds(1), 1) > at(kStart, 2));
  CHECK(at(kStart, 1) != at(kStart, 2));
  const Time late = Time(std::chrono::sys_days(std::chrono::year(2400) / 1 / 1));
  CHECK(at(late, 1) < at(late + Milliseconds(1), 1));
  Line one, other;
  for (Slot slot = 0; slot < 100; ++slot) one.insert(slot, at(kStart, slot));
  for (Slot slot = 100; slot-- > 0;) other.insert(slot, at(kStart, slot));
  for (Slot slot = 0; slot < 100; ++slot) CHECK(one.ahead(slot).all == other.ahead(slot).all);
}

}  // namespace spillway::waiting
