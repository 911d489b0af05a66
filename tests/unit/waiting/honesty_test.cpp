// Estimates are what they say: over hours of a room with sessions of random length, four of five
// calls come within the range that was told first.
#include "waiting/pace/told.hpp"

#include <doctest/doctest.h>

#include "tide.hpp"

namespace spillway::waiting {
namespace {

struct Judged {
  double within = 0;
  double error = 0;
  std::uint64_t calls = 0;
};

// The first hour and a half is left out: nothing is known at first, and a wait is up to an hour.
Judged judge(const Tide& tide, const Tiers& tiers = {}) {
  Terms terms = long_line(200);
  terms.tiers = tiers;
  TidePlay play(terms, tide);
  play.pass(Milliseconds(5'400'000));
  const Counts before = play.counts();
  play.pass(Milliseconds(14'400'000));
  const Counts after = play.counts();
  const auto within = static_cast<double>(after.estimates.within - before.estimates.within);
  const auto outside = static_cast<double>(after.estimates.outside - before.estimates.outside);
  return {within / (within + outside), after.estimates.error,
          static_cast<std::uint64_t>(within + outside)};
}

// Of several rooms: the calls of one are late together.
Judged judge_several(Tide tide, const Tiers& tiers = {}) {
  Judged mean;
  constexpr int kRooms = 3;
  for (int n = 1; n <= kRooms; ++n) {
    tide.seed = static_cast<std::uint64_t>(n);
    const Judged one = judge(tide, tiers);
    mean.within += one.within / kRooms;
    mean.error += one.error / kRooms;
    mean.calls += one.calls;
  }
  return mean;
}

const Tiers kTwo = tiers_of({{1, 0}, {0, 0}});

double within_of(double middle, double side, double wait) {
  Told told;
  told.tell({.p10 = middle / side, .p50 = middle, .p90 = middle * side}, 1, 100, Milliseconds(500));
  return told.outcome(Milliseconds(500 + static_cast<std::int64_t>(wait * 1000))).is_within ? 1 : 0;
}

}  // namespace

TEST_CASE("four of five calls come within the range that was told first") {
  const Tide plain{.streams = {{0, 0.65}}, .at_first = 700};
  const Tide impatient{.streams = {{0, 0.9}}, .at_first = 700, .patience = 3600};
  const Tide overtaken{.streams = {{0, 0.45}, {1, 0.2}}, .at_first = 700};
  const Tide both{.streams = {{0, 0.65}, {1, 0.2}}, .at_first = 500, .patience = 3600};
  const Judged of_plain = judge_several(plain);
  const Judged of_impatient = judge_several(impatient);
  const Judged of_overtaken = judge_several(overtaken, kTwo);
  const Judged of_both = judge_several(both, kTwo);
  MESSAGE("within: plain " << of_plain.within << ", patience 1 h " << of_impatient.within
                           << ", 30 % of a higher tier " << of_overtaken.within << ", both "
                           << of_both.within);
  MESSAGE("error: " << of_plain.error << ' ' << of_impatient.error << ' ' << of_overtaken.error
                    << ' ' << of_both.error << "; calls " << of_plain.calls << ' '
                    << of_impatient.calls << ' ' << of_overtaken.calls << ' ' << of_both.calls);
  for (const Judged& each : {of_plain, of_impatient, of_overtaken, of_both}) {
    CHECK(each.calls > 10'000);
    CHECK(each.within >= 0.75);
    CHECK(each.within <= 0.85);
  }
}

TEST_CASE(
    "where half of the sessions are gone, who waits is told that it goes slower, and else not") {
  double before = 0, after = 0;
  constexpr std::uint64_t kRooms = 4;  // in one of them by itself entry goes slower for a while
  for (std::uint64_t seed = 1; seed <= kRooms; ++seed) {
    Terms terms = long_line(200);
    TidePlay play(terms, {.streams = {{0, 0.65}}, .at_first = 700, .seed = seed});
    std::size_t polls = 0, slower = 0;
    Time until = Time::max();
    play.on_poll = [&](const WaitingRoom::View& view) {
      if (view.joined > until) return;  // it was told of the slower entry only
      polls += 1;
      slower += view.why == Why::slower ? 1 : 0;
    };
    const auto part_of = [&](Milliseconds time) {
      polls = slower = 0;
      play.pass(time);
      return static_cast<double>(slower) / static_cast<double>(polls) / kRooms;
    };
    play.pass(std::chrono::minutes(90));
    before += part_of(std::chrono::hours(2));
    until = play.now();
    terms.active_sessions = 100;
    play.room().set_terms(terms, play.now());
    play.pass(std::chrono::minutes(7));  // sessions that are there go on, of five minutes each
    after += part_of(std::chrono::minutes(2));
  }
  MESSAGE("told that it goes slower: " << before << ", and after the cut " << after);
  CHECK(before < 0.1);
  CHECK(after > 0.9);
}

TEST_CASE("an outcome says how far off the middle was, and whether the range held") {
  CHECK(within_of(100, 1.5, 149) == 1);
  CHECK(within_of(100, 1.5, 152) == 0);
  CHECK(within_of(100, 1.5, 67) == 1);
  CHECK(within_of(100, 1.5, 65) == 0);
  Told told;
  CHECK_FALSE(told.is_told());
  told.tell({.p10 = 50, .p50 = 100, .p90 = 200}, 2, 100, Milliseconds(0));
  CHECK(told.is_told());
  const Told::Outcome late = told.outcome(Milliseconds(400'000));
  CHECK(late.is_within);  // twice as wide was told
  CHECK(late.distance == doctest::Approx(2));
  CHECK(late.error == doctest::Approx(0.75));
  CHECK(late.ahead == 100);
  CHECK(told.at(kStart) == kStart);
}

TEST_CASE("ranges become as wide as calls show that they must be, and no wider") {
  for (const double noise : {0.5, 1.0, 3.0}) {
    Honesty honesty;
    Random random(1);
    const auto normal = [&] {
      return std::sqrt(-2 * std::log(1 - random.uniform())) *
             std::cos(6.2831853 * random.uniform());
    };
    int within = 0;
    for (int n = 0; n < 40'000; ++n) {
      Told told;
      const double side = std::exp(0.1 * 1.2815515655);
      told.tell({.p10 = 100 / side, .p50 = 100, .p90 = 100 * side}, honesty.times(50), 50,
                Milliseconds(0));
      const double wait = 100 * std::exp(0.1 * noise * normal());
      const auto outcome = told.outcome(Milliseconds(static_cast<std::int64_t>(wait * 1000)));
      honesty.learn(outcome);
      if (n >= 20'000 && outcome.is_within) ++within;
    }
    CAPTURE(noise);
    CHECK(honesty.times(50) == doctest::Approx(std::max(noise, Honesty::kNarrowest)).epsilon(0.1));
    if (noise >= 1) CHECK(within / 20'000.0 == doctest::Approx(0.8).epsilon(0.02));
    CHECK(honesty.times(5) == 1);  // shorter waits hang on ticks and polls
    CHECK(honesty.within() + honesty.outside() == 40'000);
  }
}

}  // namespace spillway::waiting
