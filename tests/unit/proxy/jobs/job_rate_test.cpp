// A route's `rate`, with the gate of its upstream and its workers played by the test.
#include <doctest/doctest.h>

#include <algorithm>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "unit/proxy/jobs/played_store.hpp"

using namespace spillway;
using namespace spillway::proxy;
using std::chrono::seconds;

namespace {

// Jobs of a route with a rate, more than can begin. What is handed over waits for the rate and then
// for a slot, as JobRun does.
struct Workers {
  explicit Workers(double per_second, bool asks = true)
      : asks_rate(asks), play(nlohmann::json{{"rate", per_second}}) {}

  Upstream& upstream() { return play.generation->upstreams[0]; }
  void step() {
    play.see();
    std::size_t waiting = 1000;
    play.pull(waiting);
    for (; seen < play.handed.size(); ++seen) at_hand.push_back(play.handed[seen]);
    most_at_hand = std::max(most_at_hand, at_hand.size());
    jobs::BeginRate& its = play.dispatcher.begin_rate("export");
    while (is_open && !at_hand.empty() && (!asks_rate || its.try_take(play.now))) {
      its.begin();
      began.push_back(play.now);
      running.push_back(at_hand.front());
      at_hand.pop_front();
    }
    set_running(upstream(), running.size());
  }
  void end_all() {
    for (; !running.empty(); running.pop_front()) {
      play.dispatcher.begin_rate("export").end();
      play.settle(running.front(), jobs::JobState::succeeded);
    }
    set_running(upstream(), 0);
  }
  void go_on(milliseconds time) {
    for (const TimePoint end = play.now + time; play.now < end; play.pass(milliseconds(50))) {
      step();
      end_all();
    }
  }
  // What is in hand is closed, and the proxy joins again.
  void lose_lease() {
    play.lose_lease();
    for (; !at_hand.empty(); at_hand.pop_front())
      play.settle(at_hand.front(), jobs::JobState::retrying, true);
    for (; !running.empty(); running.pop_front()) {
      play.dispatcher.begin_rate("export").end();
      play.settle(running.front(), jobs::JobState::retrying, true);
    }
    set_running(upstream(), 0);
    play.join();
  }
  // In each second since then.
  std::vector<std::size_t> begins_since(TimePoint from) const {
    std::vector<std::size_t> counts;
    for (const TimePoint time : began) {
      if (time < from) continue;
      const auto second = static_cast<std::size_t>((time - from) / seconds(1));
      counts.resize(std::max(counts.size(), second + 1));
      ++counts[second];
    }
    return counts;
  }

  bool asks_rate;  // false: negative control
  Play play;
  bool is_open = true;
  std::size_t seen = 0;
  std::deque<jobs::LeasedJob> at_hand{};  // handed over, not begun
  std::size_t most_at_hand = 0;
  std::deque<jobs::LeasedJob> running{};
  std::vector<TimePoint> began{};
};

}  // namespace

TEST_CASE("the rate holds over leases that are lost") {
  const auto begun = [](bool asks_rate) {
    Workers workers(5, asks_rate);
    for (int n = 0; n < 10; ++n) {
      workers.go_on(milliseconds(250));
      workers.step();
      workers.lose_lease();
      workers.play.pass(milliseconds(50));
    }
    return workers.began.size();
  };
  CHECK(begun(true) <= 16);  // in three seconds
  CHECK(begun(true) >= 14);
  CHECK_MESSAGE(begun(false) > 25, "the control");
}

TEST_CASE("a gate that was shut for long lets no more jobs begin than the rate says") {
  for (const double rate : {1.0, 5.0, 20.0}) {
    CAPTURE(rate);
    Workers workers(rate);
    workers.is_open = false;
    workers.go_on(seconds(30));
    CHECK(workers.began.empty());
    CHECK_MESSAGE(workers.most_at_hand <= 11, "the others wait in the store");
    workers.is_open = true;
    const TimePoint opened = workers.play.now;
    workers.go_on(seconds(10));
    const std::vector<std::size_t> counts = workers.begins_since(opened);
    REQUIRE(counts.size() == 10);
    // The first second has what was saved up besides: one, and a tenth of a second's.
    CHECK(static_cast<double>(counts[0]) <= rate + 1 + rate / 10);
    for (std::size_t n = 0; n < counts.size(); ++n)
      CHECK(static_cast<double>(counts[n]) >= rate - 1);
    for (std::size_t n = 1; n < counts.size(); ++n)
      CHECK(static_cast<double>(counts[n]) <= rate + 1);
    CHECK(static_cast<double>(workers.began.size()) <= 1 + rate * 10.1);
  }
}

TEST_CASE("negative control: jobs that do not ask as they begin do begin at once") {
  Workers workers(5, false);
  workers.is_open = false;
  workers.go_on(seconds(30));
  workers.is_open = true;
  const TimePoint opened = workers.play.now;
  workers.go_on(milliseconds(50));
  CHECK(workers.begins_since(opened).at(0) > 5);
}

TEST_CASE("a route's rate bounds how many jobs begin") {
  Workers workers(10);
  workers.go_on(seconds(10));
  CHECK(workers.began.size() >= 98);
  CHECK(workers.began.size() <= 102);
}

TEST_CASE("jobs that a rate holds up are not ahead of those of other routes") {
  const auto pulled_with = [](std::size_t held) {
    Play play;
    play.generation = generation_of(support::configuration(
        {"127.0.0.1:1"},
        {{"routes",
          {{{"name", "slow"}, {"match", {{"path", "/slow"}}}, {"defer", {{"rate", 8}}}},
           {{"name", "export"},
            {"match", {{"path", "/export"}}},
            {"defer", nlohmann::json::object()}}}}}));
    play.dispatcher.configure(job_routes(play.generation));
    for (int i = 0; i < 20; ++i) {
      std::size_t waiting = 1000;
      play.see({jobs::kLowestRank, "slow", TenantId{1}});
      play.pull(waiting);
    }
    REQUIRE(play.handed.size() == 8);
    for (std::size_t n = 0; n < held; ++n)
      play.generation->upstreams[0].held_jobs.begin(jobs::kLowestRank);
    play.see();
    std::size_t waiting = 1000;
    play.pull(waiting);
    return play.handed.size() - 8;
  };
  CHECK(pulled_with(7) == 7);
  CHECK_MESSAGE(pulled_with(0) == 0, "negative control: they wait for a slot");
}
