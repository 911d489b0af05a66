// Who has to wait at all, and who is told that there is no place.
#include <algorithm>

#include "waiting/waiting_room.hpp"

namespace spillway::waiting {

bool WaitingRoom::is_open(Time now) const {
  if (orders_.is_paused || orders_.has_ended) return true;
  const When when = orders_.is_held_open ? When::always : terms_.when;
  return opening_.is_open(when, room(now) > 0, tickets_.size() > 0, now);
}

// Those who were not heard of lately do not count for the wait: nobody calls them, and the door is
// not closed by those who left.
bool WaitingRoom::is_full() const {
  return tickets_.size() >= terms_.max_tickets || line_.present() + called_.all() >= most_present();
}

std::size_t WaitingRoom::most_present() const {
  double per_second = terms_.per_minute / 60.0;
  if (learned_.calls.is_known()) {
    // When the first sessions have filled the room, none ends for a while: what is measured then
    // must not close the door. So sessions are believed to last twice as long as they may idle,
    // until a quarter of an hour has shown it.
    const double idle = static_cast<double>(terms_.idle.count()) / 1000;
    const double believed = terms_.active_sessions / (2 * idle);
    const double faith = learned_.calls.age() / LearnedRate::kSteady;
    const double measured = learned_.calls.per_second();
    per_second = std::max(measured, faith * measured + (1 - faith) * believed);
  }
  if (per_second <= 0) return terms_.max_tickets;
  const double within = per_second * static_cast<double>(terms_.max_wait.count()) / 1000;
  return std::clamp<std::size_t>(static_cast<std::size_t>(within), 1, terms_.max_tickets);
}

WaitingRoom::Door WaitingRoom::arrive(Time now) {
  if (!is_open(now)) {
    provisional_.add(now);
    begins_.add(now);
    return Door::enter;
  }
  return ask_for_ticket(now);
}

WaitingRoom::Door WaitingRoom::ask_for_ticket(Time now) {
  if (orders_.has_ended) return Door::ended;
  if (is_full()) {
    ++counts_.refused;
    return Door::full;
  }
  const When when = orders_.is_held_open ? When::always : terms_.when;
  if (is_open(now)) opening_.stamp(when, room(now) > 0, tickets_.size() > 0, now);
  return Door::wait;
}

}  // namespace spillway::waiting
