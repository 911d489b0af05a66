#include "waiting/line/tiered_line.hpp"

#include <algorithm>
#include <utility>

namespace spillway::waiting {

namespace {

// Tolerance: sums of shares are not exact.
constexpr double kOneCall = 1 - 1e-9;

}  // namespace

void TieredLine::set_tiers(const Tiers& tiers) {
  tiers_ = tiers;
  std::erase_if(lanes_, [](const Lane& lane) { return lane.line.size() == 0; });
  for (Lane& lane : lanes_) lane.share = tiers_.share_of(lane.priority);
}

TieredLine::Lane& TieredLine::lane(Priority priority) {
  const auto at = std::find_if(lanes_.begin(), lanes_.end(),
                               [&](const Lane& lane) { return lane.priority <= priority; });
  if (at != lanes_.end() && at->priority == priority) return *at;
  Lane made;
  made.priority = priority;
  made.share = tiers_.share_of(priority);
  return *lanes_.insert(at, std::move(made));
}

const TieredLine::Lane* TieredLine::find(Priority priority) const {
  for (const Lane& lane : lanes_) {
    if (lane.priority == priority) return &lane;
  }
  return nullptr;
}

const Line& TieredLine::of(Priority priority) const {
  static const Line kEmpty;
  const Lane* const found = find(priority);
  return found != nullptr ? found->line : kEmpty;
}

const Line& TieredLine::away_of(Priority priority) const {
  static const Line kEmpty;
  const Lane* const found = find(priority);
  return found != nullptr ? found->away : kEmpty;
}

void TieredLine::insert(const Member& member, Order order) {
  lane(member.priority).line.insert(member.slot, order, member.kind);
}

void TieredLine::insert_before(const Member& member, Slot next) {
  lane(member.priority).line.insert_before(member.slot, next, member.kind);
}

void TieredLine::remove(const Member& member) {
  set_away(member, false);
  lane(member.priority).line.remove(member.slot);
}

void TieredLine::set_present(const Member& member, bool is_present) {
  Lane& its = lane(member.priority);
  its.line.set_present(member.slot, is_present);
  if (its.away.has(member.slot)) its.away.set_present(member.slot, is_present);
}

void TieredLine::set_away(const Member& member, bool is_away) {
  Lane& its = lane(member.priority);
  if (its.away.has(member.slot) == is_away) return;
  its.line.set_away(member.slot, is_away);
  if (!is_away) return its.away.remove(member.slot);
  its.away.insert(member.slot, its.line.order(member.slot));
  its.away.set_present(member.slot, its.line.is_present(member.slot));
}

bool TieredLine::is_away(const Member& member) const {
  return away_of(member.priority).has(member.slot);
}

bool TieredLine::is_present(const Member& member) const {
  return of(member.priority).is_present(member.slot);
}

TieredLine::Ahead TieredLine::ahead(const Member& member) const {
  Ahead ahead;
  for (const Lane& lane : lanes_) {
    if (lane.priority == member.priority) {
      ahead.own = lane.line.ahead(member.slot);
      if (lane.away.size() > 0) ahead.own_away = lane.away.ahead_of(lane.line.order(member.slot));
      break;
    }
    ahead.higher += lane.line.total();
    ahead.higher_away += lane.away.total();
  }
  return ahead;
}

template <class HasAny>
const TieredLine::Lane* TieredLine::next_lane(const HasAny& has_any) const {
  const Lane* chosen = nullptr;
  for (const Lane& lane : lanes_) {
    if (!has_any(lane)) continue;
    if (chosen == nullptr) chosen = &lane;
    if (lane.share > 0 && lane.owed >= kOneCall) return &lane;
  }
  return chosen;
}

Slot TieredLine::next(std::uint32_t kinds) const {
  const Lane* const lane =
      next_lane([kinds](const Lane& each) { return each.line.has_present(kinds); });
  return lane != nullptr ? lane->line.first_present(kinds) : kNoSlot;
}

Slot TieredLine::next_at_page(std::uint32_t kinds) const {
  const Lane* const lane =
      next_lane([kinds](const Lane& each) { return each.line.first_here(kinds) != kNoSlot; });
  return lane != nullptr ? lane->line.first_here(kinds) : kNoSlot;
}

void TieredLine::call(const Member& member, std::uint32_t kinds) {
  for (Lane& lane : lanes_) {
    if (lane.share > 0 && lane.line.has_present(kinds)) lane.owed += lane.share;
    if (lane.priority != member.priority) continue;
    lane.owed = std::max(lane.owed - 1, 0.0);
    lane.line.set_present(member.slot, false);
    set_away(member, false);
  }
}

double TieredLine::shares_below(Priority priority) const {
  double shares = 0;
  for (const Lane& lane : lanes_) {
    if (lane.priority < priority && lane.line.present() > 0) shares += lane.share;
  }
  return shares;
}

std::optional<Slot> TieredLine::at(std::size_t ahead) const {
  for (const Lane& lane : lanes_) {
    if (ahead < lane.line.size()) return lane.line.at(ahead);
    ahead -= lane.line.size();
  }
  return std::nullopt;
}

std::size_t TieredLine::before(Priority priority, Order order) const {
  std::size_t before = 0;
  for (const Lane& lane : lanes_) {
    if (lane.priority == priority) return before + lane.line.before(order);
    if (lane.priority < priority) break;
    before += lane.line.size();
  }
  return before;
}

std::size_t TieredLine::size() const {
  std::size_t size = 0;
  for (const Lane& lane : lanes_) size += lane.line.size();
  return size;
}

std::size_t TieredLine::present() const {
  std::size_t present = 0;
  for (const Lane& lane : lanes_) present += lane.line.present();
  return present;
}

Line::Ahead TieredLine::away() const {
  Line::Ahead away;
  for (const Lane& lane : lanes_) away += lane.away.total();
  return away;
}

}  // namespace spillway::waiting
