// A proxy's share of its routes' caps where others are on the store.
#include <doctest/doctest.h>

#include <map>
#include <utility>
#include <vector>

#include "unit/proxy/jobs/played_store.hpp"

using namespace spillway;
using namespace spillway::proxy;
using std::chrono::seconds;

namespace {

const jobs::CapId kSlots{"export", jobs::CapKind::concurrency};
const jobs::CapId kStarts{"export", jobs::CapKind::rate};

struct Shared : Play {
  explicit Shared(const nlohmann::json& defer) : Play(defer, true) {}

  void look(const jobs::CapParts& others) {
    pass(seconds(1));
    ask();
    CHECK(renew(others) > 0);
  }
  std::size_t pulled(std::size_t waiting = 100) {
    const std::size_t before = handed.size();
    for (int n = 0; n < 5; ++n) {
      see();
      pull(waiting);
    }
    return handed.size() - before;
  }
};

}  // namespace

TEST_CASE("nothing of a capped route is pulled before the others are told, and then its share") {
  Shared play(nlohmann::json{{"concurrency", 4}});
  CHECK(play.asked<store::Renew>());
  play.answer<store::Renew>([](const store::Renew&) {});
  CHECK_MESSAGE(play.dispatcher.next_due(play.now, play.wall) <= play.now, "the next is at once");
  play.see();
  play.ask();
  REQUIRE(play.asked<store::Renew>());
  CHECK_FALSE(play.asked<store::Claim>());
  play.renew();
  CHECK(play.parts.at(kSlots) == jobs::CapPart{4, true});
  CHECK(play.pulled() == 4);
  // Another one joins: the jobs that run keep their places until they have ended.
  play.look({{kSlots, {0, true}}});
  CHECK(play.parts.at(kSlots) == jobs::CapPart{4, true});
  for (std::size_t n = 0; n < 3; ++n) play.settle(play.handed[n], jobs::JobState::succeeded);
  CHECK(play.pulled() == 1);
  play.look({{kSlots, {2, true}}});
  CHECK(play.parts.at(kSlots) == jobs::CapPart{2, true});
  // It ends.
  play.look({});
  CHECK(play.pulled() == 2);
}

TEST_CASE("what it may use of each cap is told") {
  Shared play(nlohmann::json{{"concurrency", 4}, {"rate", 10}});
  using Shares = std::map<jobs::CapId, double>;
  CHECK(play.dispatcher.cap_shares() == Shares{{kSlots, 0}, {kStarts, 0}});
  play.renew();
  CHECK(play.dispatcher.cap_shares() == Shares{{kSlots, 4}, {kStarts, 10}});
  play.look({{kSlots, {2, true}}, {kStarts, {5'000'000, true}}});
  CHECK(play.dispatcher.cap_shares() == Shares{{kSlots, 2}, {kStarts, 5}});
  play.generation = generation_with({{"rate", 4}});
  play.dispatcher.configure(job_routes(play.generation));
  CHECK(play.dispatcher.cap_shares() == Shares{{kStarts, 4}});
  Play alone(nlohmann::json{{"concurrency", 4}});
  CHECK(alone.dispatcher.cap_shares() == Shares{{kSlots, 4}});
}

TEST_CASE(
    "a cancel of a job that another proxy has in hand is told at once, one of its own is not") {
  Shared play(nlohmann::json::object());
  play.see();
  REQUIRE(play.pulled(1) == 1);
  const auto cancel = [&](const jobs::JobId& id, jobs::JobState was) {
    store::Command command = store::Cancel{.id = id, .was = was};
    play.dispatcher.learn(command, play.now, play.wall);
    return std::get<store::Cancel>(command).is_elsewhere;
  };
  const jobs::JobId other{{9, 9}};
  CHECK_FALSE(cancel(play.handed[0].id, jobs::JobState::leased));
  CHECK_FALSE(cancel(other, jobs::JobState::succeeded));
  play.ask();
  CHECK_FALSE(play.asked<store::Announce>());
  CHECK(cancel(other, jobs::JobState::leased));
  CHECK(play.dispatcher.next_due(play.now, play.wall) <= play.now);
  play.ask();
  REQUIRE(play.asked<store::Announce>());
  play.answer<store::Announce>([&](const store::Announce& announce) {
    CHECK(announce.cancels == std::vector<store::AskedCancel>{{.id = other}});
  });
  play.ask();
  CHECK_MESSAGE(!play.asked<store::Announce>(), "once");
  for (int n = 0; n < 3; ++n) CHECK(cancel(other, jobs::JobState::leased));
  play.ask();
  CHECK_MESSAGE(!play.asked<store::Announce>(), "not as often as a client asks");
  play.pass(milliseconds(100));
  CHECK(play.dispatcher.next_due(play.now, play.wall) <= play.now);
  play.ask();
  play.answer<store::Announce>(
      [](const store::Announce& announce) { CHECK(announce.cancels.size() == 1); });
  // What it hears.
  play.dispatcher.heard({.cancels = {{other, jobs::Cause::cancelled_by_client},
                                     {play.handed[0].id, jobs::Cause::cancelled_by_operator}}},
                        play.wall);
  CHECK_FALSE(play.dispatcher.withdrawals().has(other));
  CHECK(play.dispatcher.withdrawals().close(play.handed[0].id) ==
        jobs::Cause::cancelled_by_operator);
  Play alone;
  store::Command command = store::Cancel{.id = other, .was = jobs::JobState::leased};
  alone.dispatcher.learn(command, alone.now, alone.wall);
  CHECK_FALSE(std::get<store::Cancel>(command).is_elsewhere);
}

TEST_CASE("one without a share of a route sleeps until it renews its lease, and says what waits") {
  Shared play(nlohmann::json{{"concurrency", 1}});
  play.renew({{kSlots, {1, true}}});
  CHECK(play.parts.at(kSlots) == jobs::CapPart{0, true});
  play.look({{kSlots, {1, true}}});
  play.see();
  play.ask();
  CHECK(play.asked<store::Announce>());
  CHECK(play.pulled() == 0);
  CHECK_MESSAGE(play.wakes_in(milliseconds(400), {kLane}) <= 4, "not each 20 ms");
}

TEST_CASE("a route's rate is divided, and changes with the configuration") {
  Shared play(nlohmann::json{{"rate", 10}});
  const auto rate = [&] { return play.dispatcher.begin_rate("export").rate(); };
  CHECK(rate() == 0);
  play.renew();
  CHECK(rate() == 10);
  play.look({{kStarts, {0, true}}});
  CHECK(rate() == 5);
  play.generation = generation_with({{"rate", 4}});
  play.dispatcher.configure(job_routes(play.generation));
  CHECK_MESSAGE(rate() == 4, "no more than is configured, at once");
  play.ask();
  CHECK_MESSAGE(rate() == 2, "before the others are told");
  play.renew({{kStarts, {2'000'000, true}}});
  CHECK(rate() == 2);
  play.generation = generation_with(nlohmann::json::object());
  play.dispatcher.configure(job_routes(play.generation));
  CHECK(rate() == jobs::BeginRate::kNoCap);
  CHECK_MESSAGE(Play(nlohmann::json{{"rate", 10}}).dispatcher.begin_rate("export").rate() == 10,
                "the whole where nobody shares the store");
}

TEST_CASE("one that drains, or has lost its lease, has no share") {
  Shared play(nlohmann::json{{"concurrency", 4}});
  play.renew();
  REQUIRE(play.pulled() == 4);
  play.settle(play.handed[0], jobs::JobState::succeeded);
  SUBCASE("drains") {
    play.dispatcher.stop_pulling();
    play.ask();
    CHECK(play.renew() > 0);
    CHECK(play.parts.at(kSlots) == jobs::CapPart{3, false});
  }
  SUBCASE("lost its lease") {
    play.lose_lease();
    play.answer<store::Claim>([](const store::Claim&) {});
    for (std::size_t n = 1; n < 4; ++n) play.settle(play.handed[n], jobs::JobState::retrying, true);
    play.ask();
    REQUIRE(play.asked<store::Join>());
    play.answer<store::Join>([](store::Join& join) {
      CHECK(join.former == 7);
      join.epoch = 8;
    });
    play.ask();
    play.renew();
    CHECK(play.pulled() == 4);
  }
}

TEST_CASE("a route that is gone still holds what runs of it") {
  Shared play(nlohmann::json{{"concurrency", 4}});
  play.renew();
  REQUIRE(play.pulled() == 4);
  play.generation = generation_with(nlohmann::json::object(), "mail");
  play.dispatcher.configure(job_routes(play.generation));
  play.look({});
  CHECK(play.parts.at(kSlots) == jobs::CapPart{4, false});
  for (const jobs::LeasedJob& job : std::exchange(play.handed, {}))
    play.settle(job, jobs::JobState::succeeded);
  play.look({});
  CHECK(play.parts.empty());
}
