// What is pulled, when, and what a route that pauses does to it.
#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "unit/proxy/jobs/played_store.hpp"

using namespace spillway;
using namespace spillway::proxy;
using std::chrono::seconds;

TEST_CASE("a proxy asks for lanes page by page, and for the first one each second") {
  Play play;
  const auto asked = [&]() -> std::optional<store::Lanes> {
    for (const store::Command& command : play.commands)
      if (const auto* const lanes = std::get_if<store::Lanes>(&command)) return *lanes;
    return std::nullopt;
  };
  const auto answered = [&](const jobs::Lane& lane, std::optional<jobs::Lane> next) {
    play.answer<store::Lanes>([&](store::Lanes& lanes) {
      lanes.found.push_back({lane, play.wall + std::chrono::hours(1)});
      lanes.next = std::move(next);
    });
  };
  const jobs::Lane other{jobs::kLowestRank, "export", TenantId{2}};
  REQUIRE(asked());
  CHECK_FALSE(asked()->after);
  const milliseconds ahead = asked()->ahead;
  answered(kLane, kLane);
  play.ask();
  CHECK_FALSE(asked());
  CHECK(play.dispatcher.next_due(play.now, play.wall) <= play.now + milliseconds(100));
  play.pass(milliseconds(100));
  play.ask();
  REQUIRE(asked());
  CHECK(asked()->after == kLane);
  answered(other, std::nullopt);
  play.pass(milliseconds(999));
  play.ask();
  CHECK_FALSE(asked());
  play.pass(milliseconds(1));
  play.ask();
  REQUIRE(asked());
  CHECK_FALSE(asked()->after);
  CHECK_MESSAGE(asked()->ahead > ahead, "a round takes longer than it did");
}

TEST_CASE("a proxy joins before it pulls") {
  Play play;
  CHECK(play.dispatcher.epoch() == 7);
  CHECK_FALSE(play.asked<store::Claim>());
  play.see();
  play.ask();
  CHECK(play.asked<store::Claim>());
}

TEST_CASE("a few jobs more than run are pulled, and no more until some have begun") {
  Play play;
  std::size_t waiting = 1000;
  play.see();
  for (int i = 0; i < 50; ++i) play.pull(waiting);
  CHECK(play.handed.size() == 8);
  SUBCASE("with more of them running, more") {
    set_running(play.generation->upstreams[0], 8);
    for (int i = 0; i < 50; ++i) play.pull(waiting);
    CHECK(play.handed.size() == 16);
  }
  SUBCASE("when one has ended, the next ones") {
    for (int i = 0; i < 8; ++i) play.settle(play.handed[i], jobs::JobState::succeeded);
    for (int i = 0; i < 50; ++i) play.pull(waiting);
    CHECK(play.handed.size() == 16);
  }
}

TEST_CASE("a route's concurrency bounds its jobs in hand") {
  Play play(nlohmann::json{{"concurrency", 3}});
  std::size_t waiting = 1000;
  play.see();
  for (int i = 0; i < 50; ++i) play.pull(waiting);
  CHECK(play.handed.size() == 3);
}

TEST_CASE("a route that pauses is left alone, each time for longer, until a job succeeds") {
  Play play;
  std::size_t waiting = 1000;
  play.see();
  const auto pulled_within = [&](milliseconds time) {
    const std::size_t before = play.handed.size();
    for (milliseconds at{0}; at < time; at += milliseconds(100)) {
      play.pull(waiting);
      play.pass(milliseconds(100));
    }
    return play.handed.size() - before;
  };
  play.dispatcher.pause("export", play.now, play.now);
  CHECK(pulled_within(milliseconds(900)) == 0);
  CHECK(pulled_within(milliseconds(500)) > 0);
  for (const jobs::LeasedJob& job : play.handed) play.settle(job, jobs::JobState::retrying);
  play.dispatcher.pause("export", play.now, play.now);
  CHECK(pulled_within(milliseconds(1900)) == 0);
  CHECK(pulled_within(milliseconds(500)) > 0);
}

TEST_CASE("a route that pauses, and one that is gone, are told to be paused") {
  using Names = std::set<std::string, std::less<>>;
  Play play;
  store::Totals totals;
  for (const char* route : {"export", "former"})
    totals.routes.push_back({.route = route, .by_state = {}});
  CHECK(play.dispatcher.paused(totals, play.now) == Names{"former"});
  play.dispatcher.pause("export", play.now, play.now + seconds(20));
  CHECK(play.dispatcher.paused(totals, play.now) == Names{"export", "former"});
  play.pass(seconds(20));
  CHECK(play.dispatcher.paused(totals, play.now) == Names{"former"});
}

TEST_CASE("jobs of a route that is gone stay in the store") {
  Play play;
  std::size_t waiting = 10;
  play.see(kGone);
  for (int i = 0; i < 5; ++i) play.pull(waiting);
  CHECK(play.handed.empty());
}

TEST_CASE("they do not wake the thread, until their route is configured again") {
  Play idle, play;
  play.see(kGone);
  const int without = idle.wakes_in(seconds(10), {});
  CHECK(play.wakes_in(seconds(10), {kGone}) <= without + 2);
  play.dispatcher.configure(job_routes(generation_with(nlohmann::json::object(), kGone.route)));
  play.ask();
  REQUIRE(play.asked<store::Claim>());
  CHECK(std::get<store::Claim>(play.commands.back()).lane == kGone);
}

TEST_CASE("nor do jobs of a route that pauses, or of one with a rate, before they may have room") {
  const auto wakes_of = [](const nlohmann::json& defer, bool pauses) {
    Play play(defer);
    if (pauses) play.dispatcher.pause("export", play.now, play.now + seconds(20));
    play.see();
    std::size_t waiting = 1;
    play.pull(waiting);
    return play.wakes_in(seconds(10), {kLane});
  };
  Play idle;
  const int without = idle.wakes_in(seconds(10), {});
  CHECK(wakes_of(nlohmann::json::object(), true) <= without + 2);
  CHECK(wakes_of({{"rate", 0.01}}, false) <= without + 2);
  // Slots that get free are looked for: negative control.
  CHECK(wakes_of({{"concurrency", 1}}, false) > 300);
}

TEST_CASE("the other proxies are told with each renewal at which rate jobs end here") {
  Play play;
  for (const double rate : {0.0, 12.3456}) {
    play.dispatcher.tell_rate(rate);
    play.pass(seconds(5));
    play.ask();
    REQUIRE(play.asked<store::Renew>());
    play.answer<store::Renew>(
        [&](const store::Renew& renew) { CHECK(renew.rate == (rate > 0 ? 12346 : 0)); });
  }
}

TEST_CASE("a proxy that drains pulls nothing, and keeps its lease") {
  Play play;
  std::size_t waiting = 10;
  play.see();
  play.dispatcher.stop_pulling();
  play.pull(waiting);
  CHECK(play.handed.empty());
  play.pass(seconds(10));
  play.ask();
  CHECK(play.asked<store::Renew>());
}

TEST_CASE("after a claim of which nothing is known all but what is in hand is given back") {
  Play play;
  std::size_t waiting = 3;
  play.see();
  play.pull(waiting);
  REQUIRE(play.handed.size() == 3);
  play.see();
  play.ask();
  REQUIRE(play.asked<store::Claim>());
  for (int i = 0; i < 2; ++i) {
    play.dispatcher.failed(play.now);
    play.ask();
    REQUIRE(play.asked<store::Release>());
    CHECK_FALSE(play.asked<store::Claim>());
  }
  play.answer<store::Release>([&](const store::Release& release) {
    CHECK(release.epoch == 7);
    CHECK(release.kept.size() == 3);
  });
  play.ask();
  CHECK_FALSE(play.asked<store::Release>());
  CHECK_MESSAGE(play.asked<store::Claim>(), "then it goes on");
  CHECK(play.dispatcher.epoch() == 7);
  CHECK(play.aborts == 0);
  // The control: when the claim was answered nothing is given back.
  play.answer<store::Claim>([](const store::Claim&) {});
  play.dispatcher.failed(play.now);
  play.ask();
  CHECK_FALSE(play.asked<store::Release>());
}

TEST_CASE("jobs that find no room here are announced, once, and those that do are not") {
  Play play(nlohmann::json{{"concurrency", 2}}, true);
  play.renew();
  std::size_t waiting = 3;
  play.see();
  play.pull(waiting);
  CHECK_FALSE(play.asked<store::Announce>());
  REQUIRE(play.handed.size() == 2);
  play.pass(JobNews::kEvery);
  play.ask();
  REQUIRE(play.asked<store::Announce>());
  play.answer<store::Announce>(
      [](const store::Announce& announce) { CHECK(announce.lanes == std::vector{kLane}); });
  play.pass(JobNews::kEvery);
  play.ask();
  CHECK_FALSE(play.asked<store::Announce>());
  play.see();
  play.ask();
  CHECK(play.asked<store::Announce>());
  play.see();
  play.ask();
  CHECK_MESSAGE(!play.asked<store::Announce>(), "not as often as jobs come");
  CHECK(play.dispatcher.next_due(play.now, play.wall) <= play.now + JobNews::kEvery);
  play.pass(JobNews::kEvery);
  play.ask();
  CHECK(play.asked<store::Announce>());
}

TEST_CASE("a proxy that is alone on its store announces nothing") {
  Play play(nlohmann::json{{"concurrency", 1}});
  std::size_t waiting = 2;
  play.see();
  play.pull(waiting);
  play.pass(JobNews::kEvery);
  play.ask();
  CHECK_FALSE(play.asked<store::Announce>());
}

TEST_CASE("a proxy that drains announces what it still writes down") {
  Play play;
  play.dispatcher.share();
  play.dispatcher.stop_pulling();
  play.see();
  play.ask();
  CHECK(play.asked<store::Announce>());
}

TEST_CASE("what another proxy has announced is claimed at once") {
  Play play;
  play.ask();
  CHECK_FALSE(play.asked<store::Claim>());
  play.dispatcher.heard({.lanes = {kLane}}, play.wall);
  CHECK(play.dispatcher.next_due(play.now, play.wall) < play.now + seconds(1));
  play.ask();
  CHECK(play.asked<store::Claim>());
}

TEST_CASE("what becomes of a job without an attempt is told") {
  using jobs::JobState;
  Play play;
  play.answer<store::Sweep>([](store::Sweep& sweep) {
    sweep.expired.resize(1);
    sweep.recovered.resize(2);
    sweep.poisoned.resize(1);
  });
  CHECK(play.told.empty());
  CHECK(play.dispatcher.next_due(play.now, play.wall) == play.now);
  play.say_whose();
  CHECK(play.told ==
        std::vector{JobState::expired, JobState::retrying, JobState::retrying, JobState::dead});
  play.told.clear();
  for (const bool is_dry_run : {true, false}) {
    store::Command replayed = store::Replay{.is_dry_run = is_dry_run, .jobs = {{}, {}}};
    play.dispatcher.learn(replayed, play.now, play.wall);
    play.say_whose();
    CHECK(play.told.size() == (is_dry_run ? 0 : 2));
  }
  CHECK(play.told == std::vector{JobState::queued, JobState::queued});
  play.told.clear();
  for (const bool is_done : {false, true}) {  // false: it was too late
    store::Command cancelled = store::Cancel{.was = JobState::queued, .is_done = is_done};
    play.dispatcher.learn(cancelled, play.now, play.wall);
    play.say_whose();
  }
  CHECK(play.told == std::vector{JobState::cancelled});
  CHECK(play.counts.cancelled == 1);
  for (const JobStateChange& line : play.lines) {
    CHECK(line.route == "export");
    CHECK(line.tenant == "acme");
    CHECK(line.attempts == 2);
  }
}

TEST_CASE("the store is asked a few at a time whose the jobs are, and again after it has failed") {
  Play play;
  const auto questions = [&] {
    return std::ranges::count_if(play.commands, [](const store::Command& one) {
      return std::holds_alternative<store::Find>(one);
    });
  };
  play.answer<store::Sweep>([](store::Sweep& sweep) {
    sweep.expired.resize(JobLines::kMostUntold + 1);
    for (std::size_t n = 0; n < sweep.expired.size(); ++n) {
      sweep.expired[n].bytes[0] = static_cast<std::uint8_t>(n >> 8);
      sweep.expired[n].bytes[1] = static_cast<std::uint8_t>(n);
    }
  });
  REQUIRE(play.lines.size() == 1);
  CHECK_MESSAGE(play.lines[0].route.empty(), "one too many: it is told at once");
  play.ask();
  CHECK(questions() == JobLines::kAtOnce);
  play.dispatcher.failed(play.now);
  CHECK(play.lines.size() == 1);
  play.say_whose();
  CHECK(play.lines.size() == 1 + JobLines::kAtOnce);
  CHECK(play.lines.back().tenant == "acme");
  play.dispatcher.give_up_lines();
  CHECK(play.lines.size() == JobLines::kMostUntold + 1);
  play.ask();
  CHECK(questions() == 0);
}

TEST_CASE("what is given back with the registration is told, and what had ended is not") {
  using jobs::JobState;
  std::size_t waiting = 3;
  Play play;
  play.see();
  play.pull(waiting);
  play.settle(play.handed.at(0), JobState::succeeded);
  play.dispatcher.left();
  CHECK(play.told == std::vector{JobState::queued, JobState::queued});
  play.dispatcher.left();
  CHECK(play.told.size() == 2);
}
