#include "jobs/cap_shares.hpp"

#include <algorithm>

namespace spillway::jobs {

void CapShares::join(std::int64_t number) {
  number_ = number;
  states_.clear();
  others_.clear();
}

// An equal part; 0 for a proxy that takes no part.
std::int64_t CapShares::aim(const CapId& id, const State& state) const {
  if (!state.takes_part) return 0;
  std::int64_t among = 1, place = 0;
  for (const auto& [number, parts] : others_) {
    const auto its = parts.find(id);
    if (its == parts.end() || !its->second.shares) continue;
    ++among;
    if (number < number_) ++place;
  }
  return equal_share(state.cap.most, among, place);
}

// The part of the cap that the others do not hold.
std::int64_t CapShares::left(const CapId& id, const State& state) const {
  std::int64_t left = state.cap.most;
  for (const auto& [number, parts] : others_) {
    const auto its = parts.find(id);
    if (its != parts.end()) left -= its->second.held;
  }
  return std::max(left, std::int64_t{0});
}

std::int64_t CapShares::wanted(const CapId& id, const State& state) const {
  return std::max({state.share, state.cap.in_use, std::min(aim(id, state), left(id, state))});
}

CapParts CapShares::plan(const Caps& caps, bool takes_part) {
  std::erase_if(states_, [&](const auto& one) { return !caps.contains(one.first); });
  CapParts parts;
  for (const auto& [id, cap] : caps) {
    State& state = states_[id];
    state.cap = cap;
    state.takes_part = takes_part && cap.most > 0;
    state.share = std::min(state.share, aim(id, state));
    state.telling = wanted(id, state);
    // The others may receive `telling` even if this proxy never gets to know that.
    state.told = std::min(state.told, state.telling);
    parts[id] = {state.telling, state.takes_part};
  }
  return parts;
}

void CapShares::learn(const Others& others) {
  others_ = others;
  for (auto& [id, state] : states_) {
    // Uses the part announced before the others were read.
    const std::int64_t is_free = std::min(aim(id, state), left(id, state));
    state.share = std::max(state.share, std::min(state.told, is_free));
    state.told = state.telling;
  }
}

std::int64_t CapShares::share(const CapId& cap) const {
  const auto state = states_.find(cap);
  return state == states_.end() ? 0 : state->second.share;
}

bool CapShares::is_settled() const {
  return std::all_of(states_.begin(), states_.end(), [&](const auto& one) {
    const auto& [id, state] = one;
    const std::int64_t is_free = std::min(aim(id, state), left(id, state));
    return state.share <= aim(id, state) && state.told == wanted(id, state) &&
           state.share >= std::min(state.told, is_free);
  });
}

}  // namespace spillway::jobs
