// How long jobs in hand are a proxy's own, and what a lease that is lost does to them.
#include <doctest/doctest.h>

#include <utility>

#include "unit/proxy/jobs/played_store.hpp"

using namespace spillway;
using namespace spillway::proxy;
using std::chrono::seconds;

TEST_CASE("a lease that is lost ends what runs, and then the proxy joins again") {
  Play play;
  std::size_t waiting = 2;
  play.see();
  play.pull(waiting);
  play.pass(seconds(10));
  play.ask();
  REQUIRE(play.asked<store::Renew>());
  play.answer<store::Renew>([](store::Renew& renew) { renew.is_lost = true; });
  CHECK(play.aborts == 1);
  CHECK(play.dispatcher.epoch() == 0);
  CHECK(play.dispatcher.lease().is_ending(play.now));
  play.settle(play.handed[0], jobs::JobState::succeeded, true);
  CHECK(play.counts.lease_lost == 1);
  CHECK(play.counts.succeeded == 0);
  play.ask();
  CHECK_MESSAGE(play.commands.empty(), "one is in hand, under the lease that is lost");
  CHECK(play.dispatcher.next_due(play.now, play.wall) > play.now);
  play.settle(play.handed[1], jobs::JobState::retrying, true);
  CHECK(play.dispatcher.next_due(play.now, play.wall) == play.now);
  play.ask();
  REQUIRE(play.asked<store::Join>());
  play.answer<store::Join>([](store::Join& join) { join.epoch = 8; });
  CHECK_FALSE(play.dispatcher.lease().is_ending(play.now));
}

TEST_CASE(
    "workers see that a lease ends, a tenth of it before, while its renewal never completes") {
  Play play(nlohmann::json::object(), true);
  const milliseconds length = play.generation->config.store.lease;
  REQUIRE(length == seconds(15));
  const auto is_ending = [&] { return play.dispatcher.lease().is_ending(play.now); };
  CHECK_FALSE(is_ending());
  play.pass(length / 3);
  play.ask();
  REQUIRE(play.asked<store::Renew>());  // the thread waits for it from now on
  play.pass(length / 2);
  CHECK_FALSE(is_ending());
  play.pass(length / 15);
  CHECK(is_ending());
  CHECK_MESSAGE(play.aborts == 0, "nobody but the lease has told them");
  // It comes at last, in time: it counts from when it was asked for.
  play.answer<store::Renew>([](const store::Renew&) {});
  CHECK_FALSE(is_ending());
  play.pass(length / 3 - milliseconds(1));
  CHECK_FALSE(is_ending());
  play.pass(milliseconds(1));
  CHECK(is_ending());
  CHECK(Lease().is_ending(TimePoint{}));
}

TEST_CASE(
    "a lease that cannot be renewed ends by the proxy's own clock if others share the store") {
  Play play(nlohmann::json::object(), true);
  std::size_t waiting = 3;
  play.see();
  play.pull(waiting);
  for (int i = 0; i < 16; ++i) {
    CHECK(play.aborts == 0);
    play.pass(seconds(1));
    play.ask();
    play.dispatcher.failed(play.now);  // the store cannot be reached
    if (play.dispatcher.epoch() == 0) break;
  }
  CHECK(play.aborts == 1);
  CHECK(play.dispatcher.epoch() == 0);
}

TEST_CASE("a proxy that is alone on its store keeps what is in hand, however long that is away") {
  Play play;
  std::size_t waiting = 3;
  play.see();
  play.pull(waiting);
  for (int i = 0; i < 60; ++i) {
    play.pass(seconds(60));  // it stood still, or the store does not answer
    CHECK_FALSE(play.dispatcher.lease().is_ending(play.now));
    play.ask();
    play.dispatcher.failed(play.now);
  }
  play.pass(seconds(1));
  play.ask();
  REQUIRE(play.asked<store::Renew>());
  play.answer<store::Renew>([](const store::Renew&) {});
  CHECK_FALSE(play.dispatcher.lease().is_ending(play.now));
  CHECK(play.dispatcher.epoch() == 7);
  CHECK(play.aborts == 0);
  // The control: the store says that it is lost.
  play.pass(seconds(10));
  play.ask();
  play.answer<store::Renew>([](store::Renew& renew) { renew.is_lost = true; });
  CHECK(play.dispatcher.lease().is_ending(play.now));
  CHECK(play.aborts == 1);
}

TEST_CASE("a proxy that joins others looks for jobs of ended ones when those that live have told") {
  const auto sweeps = [](bool is_shared, milliseconds after) {
    Play play(nlohmann::json::object(), is_shared);
    play.pass(after);
    const bool at_once = play.asked<store::Sweep>();
    play.ask();
    return at_once || play.asked<store::Sweep>();
  };
  CHECK_FALSE(sweeps(true, milliseconds(999)));
  CHECK(sweeps(true, milliseconds(1000)));
  CHECK_MESSAGE(sweeps(false, milliseconds(0)), "the control: where there is no other one");
}

TEST_CASE("concurrency holds over leases that are lost, also while their jobs are being ended") {
  Play play(nlohmann::json{{"concurrency", 3}}, true);
  play.renew();
  std::size_t waiting = 1000;
  for (int n = 0; n < 5; ++n) {
    play.see();
    for (int i = 0; i < 5; ++i) play.pull(waiting);
    REQUIRE(play.handed.size() == 3);
    REQUIRE(play.dispatcher.epoch() != 0);
    play.lose_lease();
    for (const jobs::LeasedJob& job : std::exchange(play.handed, {})) {
      play.pull(waiting);
      CHECK_MESSAGE(play.handed.empty(), "one is in hand, under the lease that is lost");
      play.settle(job, jobs::JobState::retrying, true);
    }
    play.pull(waiting);
    CHECK(play.handed.empty());
    play.join();
    play.ask();
    play.renew();
  }
}

TEST_CASE("a lease is renewed before its time if the store will be busy") {
  Play play;
  play.ask();
  CHECK_FALSE(play.asked<store::Renew>());
  play.dispatcher.renew_now();
  play.ask();
  CHECK(play.asked<store::Renew>());
  play.ask();
  CHECK_FALSE(play.asked<store::Renew>());
}
