// How a waiting room learns the rate of entry, and which part of that still holds after a reload
// has changed the caps.
#include <algorithm>
#include <cmath>
#include <utility>

#include "waiting/room/waiting_room.hpp"

namespace spillway::waiting {

namespace {

// A cap limits the calls if entries reach this share of it.
constexpr double kBinding = 0.9;

}  // namespace

void WaitingRoom::learn(Time now) {
  const double seconds = static_cast<double>((now - last_).count()) / 1000;
  const bool is_first = last_ == Time{};
  const bool had_begun = has_begun();
  last_ = now;
  // The few sessions of a quiet hour say little about a crowd's, and sessions during an outage
  // nothing; nor do those of a room whose calls wait for the cap per minute.
  const bool is_overloaded = counts_.entry.is_overloaded;
  const bool lets_in = had_begun && !calls_nobody() && !orders_.has_ended && !is_overloaded &&
                       begins_.remaining(now) > 0;
  for (Lane& lane : lanes_) {
    const Learned::Events since = std::exchange(lane.since, {});
    if (is_first || seconds <= 0) continue;
    // Includes sessions that have just ended: their ends count, as does their time.
    const double open = static_cast<double>(sessions_of(lane)) + since.ended;
    const bool was_in_use = 10 * open >= 9 * static_cast<double>(capacity_of(lane));
    if (lets_in && !hands_out() && (was_in_use || lane.line.present() > 0))
      lane.learned.observe_stay(seconds, sessions_.size(), since.ended);
    // While the room fills for the first time, calls are no rate: no ticket has to wait for the end
    // of a session, nor for the cap per minute.
    const std::size_t capacity = capacity_of(lane);
    const bool is_filling = !lane.learned.knows_calls() &&
                            begins_.remaining(now) > called().all() && !is_in_use(lane) &&
                            lane.calls < 2 * capacity;
    const bool is_used =
        !is_filling && overdue(lane) == 0 && (lane.line.present() > 0 || since.calls > 0);
    lane.learned.observe(seconds, since, is_used && had_begun && !calls_nobody(),
                         lane.line.size() - lane.called.all());
  }
}

// Full enough that calls wait for the ends of sessions.
bool WaitingRoom::is_in_use(const Lane& lane) const {
  return 10 * sessions_of(lane) >= 9 * capacity_of(lane);
}

// How many calls fit into the time in which no visitor is called: after a reload there are more
// sessions than allowed, whose ends make no room, or more have begun within the minute.
std::size_t WaitingRoom::overdue(const Lane& lane) const {
  if (hands_out()) return 0;
  double calls = 0;
  const auto capacity = static_cast<double>(capacity_of(lane));
  const auto sessions = static_cast<double>(sessions_of(lane));
  if (sessions > capacity) calls = capacity * std::log(sessions / capacity);
  const auto excess = static_cast<double>(begins_.excess(last_));
  if (terms_.per_minute > 0) calls += excess * terms_.per_minute / (terms_.per_minute + excess);
  return static_cast<std::size_t>(std::ceil(calls));
}

// Scales the learned rate of entry to the new caps, by the cap that limits it.
void WaitingRoom::change_pace(const Terms& terms, Time now) {
  const Lane& its = lanes_.front();
  const bool has_changed =
      terms.active_sessions != terms_.active_sessions || terms.per_minute != terms_.per_minute;
  if (!has_changed || !its.learned.knows_calls()) return;
  const double rate = its.learned.calls().per_second();
  const double former = terms_.per_minute / 60.0;
  const double minute = terms.per_minute / 60.0;
  const bool is_by_minute = former > 0 && rate >= kBinding * former;
  double next = rate;
  if (is_by_minute && minute > 0)
    next = rate * minute / former;
  else if (!is_by_minute && is_in_use(its))
    next = rate * terms.active_sessions / terms_.active_sessions;
  if (minute > 0) next = std::min(next, minute);
  lanes_.front().learned.change_pace(next / rate, now);
}

}  // namespace spillway::waiting
