// Turns of several lanes in one batch.
#include <doctest/doctest.h>

#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "unit/proxy/jobs/played_store.hpp"

using namespace spillway;
using namespace spillway::proxy;

TEST_CASE("many lanes are asked in one batch, and the caps hold over all of them") {
  const auto lane = [](std::uint32_t tenant) {
    return jobs::Lane{jobs::kLowestRank, "export", TenantId{tenant}};
  };
  const auto asked_of = [&](const nlohmann::json& defer, std::size_t& jobs) {
    Play play(defer);
    for (std::uint32_t tenant = 0; tenant < 40; ++tenant) play.see(lane(tenant));
    std::size_t waiting = 1000;
    play.pull(waiting);
    std::set<jobs::Lane> lanes;
    for (const store::Command& command : play.commands) {
      const auto* const claim = std::get_if<store::Claim>(&command);
      if (claim == nullptr) continue;
      CHECK_MESSAGE(lanes.insert(claim->lane).second, "once");
      jobs += claim->limit;
    }
    for (int i = 0; i < 50; ++i) play.pull(waiting);
    CHECK(play.handed.size() == jobs);
    return lanes.size();
  };
  std::size_t free = 0, capped = 0, rated = 0;
  CHECK(asked_of(nlohmann::json::object(), free) == 8);
  CHECK(free == 8);
  CHECK(asked_of({{"concurrency", 3}}, capped) == 3);
  CHECK(capped == 3);
  CHECK(asked_of({{"rate", 0.5}}, rated) == 1);
  CHECK(rated == 1);
}

TEST_CASE("what a lane does not have another one may have in the next batch") {
  Play play(nlohmann::json{{"concurrency", 2}});
  for (std::uint32_t tenant = 0; tenant < 4; ++tenant)
    play.see({jobs::kLowestRank, "export", TenantId{tenant}});
  std::size_t none = 0, waiting = 2;
  play.pull(none);
  CHECK(play.handed.empty());
  play.pull(waiting);
  CHECK(play.handed.size() == 2);
}

TEST_CASE("a lane whose claim ended for the length of its jobs is asked again at once") {
  for (const bool is_cut : {true, false}) {
    Play play;
    play.see();
    play.ask();
    play.answer<store::Claim>([&](store::Claim& claim) {
      REQUIRE(claim.limit > 1);
      jobs::LeasedJob job;
      job.lane = claim.lane;
      claim.jobs.push_back(std::move(job));
      claim.is_cut = is_cut;
    });
    REQUIRE(play.handed.size() == 1);
    play.ask();
    CHECK(play.asked<store::Claim>() == is_cut);
  }
}

// The store gives one long job a batch, to the lane that it comes to first.
TEST_CASE("lanes for which long jobs of others have left nothing of a batch take turns with them") {
  Play play(nlohmann::json{{"concurrency", 100}});
  constexpr std::uint32_t kLanes = 4;
  for (std::uint32_t tenant = 0; tenant < kLanes; ++tenant)
    play.see({jobs::kLowestRank, "export", TenantId{tenant}});
  for (std::uint8_t batch = 0; batch < kLanes; ++batch) {
    play.ask();
    bool is_used_up = false;
    play.answer<store::Claim>([&](store::Claim& claim) {
      claim.is_cut = true;
      if (std::exchange(is_used_up, true)) return;
      jobs::LeasedJob job;
      job.id.bytes[0] = batch;
      job.lane = claim.lane;
      claim.jobs.push_back(std::move(job));
    });
  }
  std::set<jobs::Lane> lanes;
  for (const jobs::LeasedJob& job : play.handed) lanes.insert(job.lane);
  CHECK(play.handed.size() == kLanes);
  CHECK(lanes.size() == kLanes);
}

TEST_CASE("claims that failed take up no room") {
  Play play;
  for (std::uint32_t tenant = 0; tenant < 20; ++tenant)
    play.see({jobs::kLowestRank, "export", TenantId{tenant}});
  for (int i = 0; i < 5; ++i) {
    play.ask();
    CHECK(std::ranges::count_if(play.commands, [](const store::Command& command) {
            return std::holds_alternative<store::Claim>(command);
          }) == 8);
    play.dispatcher.failed(play.now);
    play.ask();
    play.answer<store::Release>([](const store::Release&) {});
  }
}

namespace {

// Each route's is the upstream of its name.
std::shared_ptr<Generation> with_upstreams(const std::vector<std::string>& names) {
  using nlohmann::json;
  json upstreams = json::array(), routes = json::array();
  for (const std::string& name : names) {
    upstreams.push_back({{"name", name}, {"servers", {"127.0.0.1:1"}}});
    routes.push_back({{"name", name},
                      {"match", {{"path", "/" + name}}},
                      {"upstream", name},
                      {"defer", json::object()}});
  }
  return generation_of({{"upstreams", upstreams}, {"routes", routes}});
}

}  // namespace

TEST_CASE("an upstream whose jobs never end leaves room to others, and they to further ones") {
  const std::vector<std::string> names{"first", "second", "third"};
  Play play;
  play.generation = with_upstreams(names);
  play.dispatcher.configure(job_routes(play.generation));
  const auto handed_of = [&](const std::string& route) {
    return std::ranges::count_if(
        play.handed, [&](const jobs::LeasedJob& job) { return job.lane.route == route; });
  };
  const auto pull_of = [&](std::size_t n) {
    set_running(play.generation->upstreams[n], 2000);  // as many as it may have, and more
    for (int i = 0; i < 100; ++i) {
      std::size_t waiting = 100'000;
      play.see({jobs::kLowestRank, names[n], TenantId{1}});
      play.pull(waiting);
    }
    return handed_of(names[n]);
  };
  CHECK(pull_of(0) == 512);
  CHECK(pull_of(1) == 256);
  CHECK(pull_of(2) == 128);
  // What ends is shared, too: the first one has more than is left, and gets no more for now.
  for (int i = 0; i < 100; ++i) play.settle(play.handed[i], jobs::JobState::succeeded);
  CHECK(pull_of(0) == 512);
  CHECK(pull_of(2) > 128);
}

namespace {

// Of one upstream, by name; "": without a class.
std::shared_ptr<Generation> with_classes(const std::vector<std::string>& classes) {
  using nlohmann::json;
  json routes = json::array();
  for (const std::string& name : classes) {
    const std::string route = "of" + name;
    json defer = json::object();
    if (!name.empty()) defer["class"] = name;
    routes.push_back({{"name", route}, {"match", {{"path", "/" + route}}}, {"defer", defer}});
  }
  return generation_of(support::configuration({"127.0.0.1:1"}, {{"routes", routes}}));
}

}  // namespace

TEST_CASE("jobs that wait for a slot keep none with a higher class in the store, and all others") {
  const std::vector<std::string> classes{"P0", "P1", ""};
  const std::uint8_t ranks[] = {0, 1, jobs::kLowestRank};
  // How many jobs of each are pulled while the upstream's slots are all taken by live requests, and
  // jobs of `first` wait there.
  const auto pulled_behind = [&](std::size_t first) {
    Play play;
    play.generation = with_classes(classes);
    play.dispatcher.configure(job_routes(play.generation));
    Upstream& upstream = play.generation->upstreams[0];
    const auto pull_of = [&](std::size_t n) {
      const std::size_t before = play.handed.size();
      for (int i = 0; i < 50; ++i) {
        std::size_t waiting = 1000;
        play.see({ranks[n], "of" + classes[n], TenantId{1}});
        play.pull(waiting);
        if (n != first) break;
      }
      return play.handed.size() - before;
    };
    set_running(upstream, 60, ranks[first]);
    CHECK(pull_of(first) > 60);
    // Those that ran have ended, and live requests have their slots.
    set_running(upstream, 0, ranks[first]);
    for (std::size_t n = 0; n < 60; ++n) play.settle(play.handed.at(n), jobs::JobState::succeeded);
    REQUIRE(play.dispatcher.in_hand() > 8);
    std::vector<std::size_t> pulled;
    for (std::size_t n = 0; n < classes.size(); ++n) pulled.push_back(pull_of(n));
    return pulled;
  };
  CHECK(pulled_behind(2) == std::vector<std::size_t>{8, 0, 0});
  CHECK(pulled_behind(1) == std::vector<std::size_t>{8, 0, 0});
  CHECK(pulled_behind(0) == std::vector<std::size_t>{0, 0, 0});
}

TEST_CASE("a route rests for a job that waited in vain only where others wait for what it had") {
  // Another proxy, or other jobs that have to be alone.
  const auto pulled_after = [](bool is_shared, jobs::NoSlot how, std::uint32_t recoveries = 0) {
    Play play(nlohmann::json::object(), is_shared);
    play.see();
    std::size_t waiting = 100;
    play.pull(waiting, recoveries);
    REQUIRE(play.handed.size() == 8);
    store::Settle settle;
    settle.id = play.handed.front().id;
    play.dispatcher.rest(settle, play.now, how);
    for (const jobs::LeasedJob& job : std::vector(play.handed))
      play.settle(job, jobs::JobState::queued);
    play.handed.clear();
    play.pull(waiting);
    return play.handed.size();
  };
  CHECK(pulled_after(false, jobs::NoSlot::waited) == 8);
  CHECK(pulled_after(true, jobs::NoSlot::waited) == 0);
  CHECK(pulled_after(false, jobs::NoSlot::refused) == 0);
  CHECK(pulled_after(false, jobs::NoSlot::waited, jobs::kMostRecoveries - 1) == 8);
  CHECK(pulled_after(false, jobs::NoSlot::waited, jobs::kMostRecoveries) == 0);
}
