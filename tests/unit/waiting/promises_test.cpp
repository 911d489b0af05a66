// What visitors see of estimates and polls over their wait: how often they are told to ask, whether
// what they were told grows, and how soon a range is right again after entry has become slower.
#include <doctest/doctest.h>

#include <algorithm>
#include <map>

#include "tide.hpp"

namespace spillway::waiting {
namespace {

struct Seen {
  Time first{};
  std::size_t polls = 0;
  Milliseconds lowest = Milliseconds::max();  // of the upper ends that it was told
  bool has_risen = false;                     // one was more than a fifth above that
  bool has_risen_unsaid = false;              // likewise, and no reason was stated
  std::optional<Range> told{};                // first, at `told_at`
  Time told_at{};
};

// Follows all visitors of a tide.
class Watch {
 public:
  explicit Watch(TidePlay& play) : play_(play) {
    EventSet events{};
    events[static_cast<std::size_t>(Event::called)] = true;
    play.room().want_events(events);
    play.on_view = [this](const TicketId& id, const View& view) { see(id, view); };
  }
  struct Call {
    Time at{};
    Seen seen;
  };
  // Returns those who are called meanwhile.
  std::vector<Call> pass(Milliseconds time) {
    std::vector<Call> calls;
    for (Milliseconds passed{0}; passed < time; passed += kTenSeconds) {
      play_.pass(kTenSeconds);
      for (const TicketEvent& call : play_.room().take_events(SIZE_MAX))
        calls.push_back({call.at, seen_[call.id]});
    }
    return calls;
  }

  static constexpr Milliseconds kTenSeconds{10'000};

 private:
  void see(const TicketId& id, const View& view) {
    Seen& seen = seen_[id];
    if (seen.polls++ == 0) seen.first = play_.now();
    if (view.state != TicketState::waiting || !view.estimate) return;
    const Milliseconds upper = view.estimate->p90;
    const bool rises = seen.lowest < upper * 5 / 6;
    seen.has_risen = seen.has_risen || rises;
    seen.has_risen_unsaid = seen.has_risen_unsaid || (rises && view.why == Why::none);
    seen.lowest = std::min(seen.lowest, upper);
    if (seen.told) return;
    seen.told = view.estimate;
    seen.told_at = play_.now();
  }

  TidePlay& play_;
  std::map<TicketId, Seen> seen_;
};

constexpr Milliseconds kHour{3'600'000};
const Tide kSteady{.streams = {{0, 0.66}}, .at_first = 900};

double part_of(const std::vector<Watch::Call>& calls, bool Seen::*what) {
  const auto so = std::ranges::count_if(calls, [&](const auto& call) { return call.seen.*what; });
  return static_cast<double>(so) / static_cast<double>(calls.size());
}

// Of those who were told first in that minute after the change: called within the range, and all.
using WithinByMinute = std::map<std::int64_t, std::pair<double, double>>;

// `change` halves what a room of these terms lets in.
template <class Halve>
WithinByMinute halve(const Terms& before, const Halve& change) {
  WithinByMinute by_minute;
  for (const std::uint64_t seed : {1u, 2u}) {
    Tide tide = kSteady;
    tide.seed = seed;
    TidePlay play(before, tide);
    Watch watch(play);
    watch.pass(2 * kHour);
    change(play);
    const Time slower = play.now();
    for (const Watch::Call& call : watch.pass(3 * kHour)) {
      if (!call.seen.told || call.seen.told_at < slower) continue;
      const Milliseconds wait = call.at - call.seen.told_at;
      auto& [within, all] = by_minute[(call.seen.told_at - slower) / Milliseconds(60'000)];
      within += wait >= call.seen.told->p10 && wait <= call.seen.told->p90 ? 1 : 0;
      all += 1;
    }
  }
  return by_minute;
}

// Within five minutes from that one on.
double part_within(const WithinByMinute& by_minute, std::int64_t from) {
  double within = 0;
  double all = 0;
  for (const auto& [minute, of] : by_minute) {
    if (minute < from || minute >= from + 5) continue;
    within += of.first;
    all += of.second;
  }
  return within / all;
}

}  // namespace

TEST_CASE("visitors that poll as they are told ask half as often as every ten seconds, or less") {
  TidePlay play(long_line(200), kSteady);
  Watch watch(play);
  watch.pass(2 * kHour);
  double polls = 0;
  double fixed = 0;
  for (const Watch::Call& call : watch.pass(2 * kHour)) {
    polls += static_cast<double>(call.seen.polls);
    // With the same jitter.
    fixed += static_cast<double>((call.at - call.seen.first) / Watch::kTenSeconds) / 1.15;
  }
  MESSAGE("polls: " << polls / fixed << " of those every ten seconds");
  CHECK(polls / fixed <= 0.5);
}

TEST_CASE(
    "the upper end of an estimate rises by a fifth for a reason that is stated, or not at all") {
  TidePlay play(long_line(200), kSteady);
  Watch watch(play);
  watch.pass(2 * kHour);
  const auto steady = watch.pass(2 * kHour);
  // Of the visitors that wait now nobody knows it: half of the sessions are taken away.
  Terms fewer = long_line(100);
  play.room().set_terms(fewer, play.now());
  const auto slower = watch.pass(kHour);
  const double unsaid = part_of(steady, &Seen::has_risen_unsaid);
  MESSAGE("steady: risen " << part_of(steady, &Seen::has_risen) << ", without a reason " << unsaid
                           << "; half as many sessions: " << part_of(slower, &Seen::has_risen)
                           << ", " << part_of(slower, &Seen::has_risen_unsaid));
  CHECK(unsaid < 0.01);
  CHECK(part_of(slower, &Seen::has_risen) > 0.5);  // a rise is seen
  CHECK(part_of(slower, &Seen::has_risen_unsaid) < 0.01);
}

// What a reload changes is known at once, and what the site does when it is seen.
TEST_CASE("ranges are right again after entry has become half as fast") {
  Terms minute = long_line(100'000);
  minute.per_minute = 40;
  Terms half_minute = minute;
  half_minute.per_minute = 20;
  const auto reload = [](const Terms& terms) {
    return [terms](TidePlay& play) { play.room().set_terms(terms, play.now()); };
  };
  const WithinByMinute by_minute = halve(minute, reload(half_minute));
  const WithinByMinute by_sessions = halve(long_line(200), reload(long_line(100)));
  const WithinByMinute by_site = halve(long_line(200), [](TidePlay& play) { play.slow_down(2); });
  for (const int from : {0, 2, 5, 10, 20, 30, 45}) {
    MESSAGE("told from minute " << from << " on: " << part_within(by_minute, from)
                                << "; half of the sessions: " << part_within(by_sessions, from)
                                << "; a slower site: " << part_within(by_site, from));
  }
  for (const int from : {2, 5, 10}) {
    CAPTURE(from);
    CHECK(part_within(by_minute, from) >= 0.7);
    CHECK(part_within(by_sessions, from) >= 0.7);
    CHECK(part_within(by_site, from) >= 0.7);
  }
}

TEST_CASE("a room that per_minute alone holds back has an estimate") {
  Terms terms = long_line(100'000);
  terms.per_minute = 40;
  TidePlay play(terms, {.streams = {{0, 0.66}}, .at_first = 100});
  Watch watch(play);
  watch.pass(Milliseconds(600'000));
  REQUIRE(play.counts().entry.per_second);
  CHECK(*play.counts().entry.per_second == doctest::Approx(40 / 60.0).epsilon(0.1));
}

}  // namespace spillway::waiting
