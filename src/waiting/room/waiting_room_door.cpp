// Whether a visitor has to wait, and whether it gets a place.
#include <algorithm>
#include <cmath>
#include <limits>

#include "waiting/room/waiting_room.hpp"

namespace spillway::waiting {

namespace {

// Until calls have been observed, and without expected_stay_ms, sessions are assumed to last for
// Terms::idle, but for no longer than this.
constexpr Milliseconds kShortestStay{30'000};

// The normal quantile at which a visitor with a place reaches its call in time: 99 %.
constexpr double kSure = 2.326;
// The same if only sessions show how long they last: 99.9 %. Each visitor that arrives leads to
// another estimate, and places are given by the most optimistic one.
constexpr double kSureOfShown = 3;

// Number of places that are given whatever sessions have shown.
constexpr double kFewPlaces = 10;

double square(double x) { return x * x; }
double in_seconds(Milliseconds time) { return static_cast<double>(time.count()) / 1000; }

double first_guess(const Terms& terms) { return in_seconds(std::min(terms.idle, kShortestStay)); }
// A session with a single use, then idle.
double longest_guess(const Terms& terms) { return in_seconds(2 * terms.idle); }

// A safe number of visitors that come in, estimated from the observed length of sessions. First
// calls and a guess would promise a crowd far too much: ten calls are seen soon, and places are
// given by the most optimistic rate of the first minutes. `free`: sessions that could begin at
// once.
double shown_within(double seconds, double capacity, double free, const Terms& terms,
                    const Learned& learned) {
  const ShownStay& stay = learned.stay();
  const double guess = first_guess(terms);
  // The guess counts as one session that has ended, with the uncertainty of one. Sessions that
  // began together and last equally long show nothing until they end.
  const double least = std::max(capacity / longest_guess(terms) * seconds, kFewPlaces);
  const double ends = capacity / stay.seconds(guess) * seconds;
  CallsWithin shown{.mean = ends,
                    .variance = ends + square(ends) * stay.doubt(),
                    .most = std::numeric_limits<double>::max()};
  if (!learned.knows_calls()) return std::max(free + shown.surely(kSureOfShown), least);
  // As in calls_within().
  const LearnedRate& calls = learned.calls();
  const double faith = calls.age() / LearnedRate::kSteady;
  const double measured = faith * calls.per_second() * seconds;
  const double believed = (1 - faith) * ends;
  shown.mean = measured + believed + (1 - faith) * free;
  shown.variance = learned.dispersion() * (measured + believed + square(measured) * calls.doubt()) +
                   square(believed) * stay.doubt();
  return std::max(shown.surely(kSureOfShown), least);
}

}  // namespace

bool WaitingRoom::is_open(Time now) const {
  if (hands_out() || is_held()) return true;
  if (orders_.is_paused || orders_.has_ended || !terms_.start.is_over(now)) return true;
  const When when = orders_.is_held_open ? When::always : terms_.when;
  return opening_.is_open(when, room(now) > 0, has_line(), now);
}

// The wait counts only tickets that polled lately and are called before this one. The others are
// not called, and visitors that have left must not close the door.
Space WaitingRoom::space(Priority priority, const Wish* wish) const {
  const Space tickets{static_cast<double>(tickets_.size()),
                      static_cast<double>(terms_.max_tickets)};
  if (tickets.free() <= 0) return tickets;
  // Before the draw no ticket has a wait of its own, and early visitors must not be preferred.
  if (terms_.start.draw && !has_begun()) return tickets;
  // For a requirement that only some devices meet, it is not known how soon one is free.
  if (hands_out() && (wish == nullptr || !stock_.catalog().is_met_by_all(*wish))) return tickets;
  const Lane& lane = lanes_[wish == nullptr ? 0 : wish->type];
  Milliseconds wait = terms_.max_wait;
  if (wish != nullptr && wish->max_wait_ms > 0)
    wait = std::min(wait, Milliseconds(wish->max_wait_ms));
  const double calls = places_within(wait, lane);
  double before = static_cast<double>(lane.called.all() - lane.called.away) +
                  lane.learned.away_come() * static_cast<double>(lane.called.away);
  double away = (1 - lane.learned.away_come()) * static_cast<double>(lane.called.away);
  lane.line.each([&](Priority its, const Line& line) {
    if (its < priority) return;
    const Line::Ahead its_away = lane.line.away_of(its).total();
    before += lane.expected(line.total(), its_away);
    away += lane.not_expected(its_away);
  });
  // A few arrivals in the first second say nothing about the whole wait.
  const bool is_rate_known = lane.learned.knows_calls() || terms_.per_minute > 0;
  const double higher =
      is_rate_known
          ? lane.learned.higher_per_second(terms_.tiers.number_of(priority)) * in_seconds(wait)
          : 0;
  Space line{before, std::max(calls - higher, 1.0), away};
  // Its tier's share, or all calls that later tickets of higher tiers leave, whichever is better.
  const double share = terms_.tiers.share_of(priority) * calls;
  const Line::Ahead own_away = lane.line.away_of(priority).total();
  const double own_before = lane.expected(lane.line.of(priority).total(), own_away);
  const Space own{own_before, share, lane.not_expected(own_away)};
  if (share >= 1 && own.free() > line.free()) line = own;
  return tickets.free() < line.free() ? tickets : line;
}

// The user has as many tickets and sessions as it may have.
bool WaitingRoom::refuses(const UserKey& user) const {
  return terms_.per_user != 0 && users_.count(user) >= terms_.per_user;
}

std::optional<TicketId> WaitingRoom::held_by(const UserKey& user) const {
  const std::vector<TicketId> held = users_.list(user, 1);
  return held.empty() ? std::nullopt : std::optional(held.front());
}

// The quantile of a gamma law with that mean and variance: for few calls, or a rate that is hardly
// known, a normal law would promise too many.
double CallsWithin::surely(double quantile) const {
  if (!(mean > 0) || !(variance > 0)) return std::max(expected(), 0.0);
  const double shape = mean * mean / variance;
  return std::min(mean / shape * gamma_quantile(shape, -quantile), most);
}

CallsWithin WaitingRoom::calls_within(Milliseconds wait, const Lane& lane) const {
  const double capacity = static_cast<double>(capacity_of(lane));
  const double seconds = in_seconds(wait);
  const double most = terms_.per_minute == 0 ? std::numeric_limits<double>::max()
                                             : terms_.per_minute * seconds / 60;
  if (!lane.learned.knows_calls() || !has_begun()) {
    // The crowd of a first minute must not get places for a whole day.
    const double believed =
        terms_.expected_stay ? in_seconds(*terms_.expected_stay) : first_guess(terms_);
    const double free = std::max(capacity - static_cast<double>(sessions_of(lane)), 0.0);
    const double ends = capacity / believed * seconds;
    // Without expected_stay_ms the stay is a guess, for which no margin can be given.
    return {.mean = free + ends, .variance = terms_.expected_stay ? ends : 0, .most = most};
  }
  // When the first sessions have filled the room, none ends for a while: the rate measured then
  // must not close the door. So sessions are assumed to last as long as configured, or twice as
  // long as they may idle, until a quarter of an hour of calls has shown it.
  const double believed = capacity / in_seconds(terms_.expected_stay.value_or(2 * terms_.idle));
  const LearnedRate& calls = lane.learned.calls();
  const double faith = calls.age() / LearnedRate::kSteady;
  const double measured = calls.per_second();
  const double both = faith * measured + (1 - faith) * believed;
  // The configured stay is as likely too long as too short.
  const double rate = terms_.expected_stay ? both : std::max(measured, both);
  const double mean = rate * seconds;
  const double dispersion = lane.learned.dispersion();
  const double unknown = faith * measured * seconds;  // it may be off by as much as calls vary
  return {.mean = mean,
          .variance = dispersion * (mean + square(unknown) * calls.doubt()),
          .most = most};
}

// If no stay is configured, sessions have to show as well that the places are reached.
double WaitingRoom::places_within(Milliseconds wait, const Lane& lane) const {
  const double places = calls_within(wait, lane).surely(kSure);
  const Learned& learned = lane.learned;
  if (terms_.expected_stay || !learned.stay().has_shown() || !has_begun()) return places;
  const double capacity = static_cast<double>(capacity_of(lane));
  const double free = std::max(capacity - static_cast<double>(sessions_of(lane)), 0.0);
  return std::min(places, shown_within(in_seconds(wait), capacity, free, terms_, learned));
}

WaitingRoom::Door WaitingRoom::arrive(Time now, Priority priority, const UserKey& user) {
  if (!is_open(now)) {
    provisional_.add(now);
    begins_.add(now);
    return Door::enter;
  }
  return ask_for_ticket(now, priority, user);
}

WaitingRoom::Door WaitingRoom::would_give_ticket(Priority priority, const UserKey& user,
                                                 const Wish* wish) const {
  if (orders_.has_ended) return Door::ended;
  if (refuses(user)) return Door::taken;
  return is_full(priority, wish) ? Door::full : Door::wait;
}

// Counts refused visitors.
WaitingRoom::Door WaitingRoom::counted(Door door) {
  if (door == Door::taken) ++counts_.refused_users;
  if (door == Door::full) ++counts_.refused;
  return door;
}

WaitingRoom::Door WaitingRoom::ask_for_ticket(Time now, Priority priority, const UserKey& user) {
  const Door door = counted(would_give_ticket(priority, user, nullptr));
  if (door == Door::wait) stamp(now);
  return door;
}

void WaitingRoom::stamp(Time now) {
  // Until the start, and while newcomers are held, all have to wait; a visitor that has got a stamp
  // then still finds the room open.
  const bool all_wait = orders_.is_held_open || is_held() || !terms_.start.is_over(now);
  const When when = all_wait ? When::always : terms_.when;
  if (is_open(now)) opening_.stamp(when, room(now) > 0, has_line(), now);
}

}  // namespace spillway::waiting
