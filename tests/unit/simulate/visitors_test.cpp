// Visitors of a site, with and without a waiting room before it.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "scenarios.hpp"
#include "simulate/model/visitors_model.hpp"
#include "simulate/report/json.hpp"
#include "simulate/report/table.hpp"
#include "simulate/run/simulation.hpp"

namespace spillway::simulate {
namespace {

std::uint64_t accounted(const VisitorsSummary& of) {
  return of.left.done + of.left.turned_away + of.left.ghosts + of.left.gave_up_in_line +
         of.left.lost_place + of.left.sent_out + of.left.gave_up_inside + of.waiting + of.inside;
}

std::string quiet_site(const std::string& room, const std::string& more = "") {
  return R"({"name": "site", "sentence": "few visitors", "seconds": 120, "warm_up_seconds": 0,
    "backend": {"slots": 16, "service_ms": 100},
    "clients": [{"route": "sale", "rate": 2, "until_seconds": 60)" +
         more + R"(, "visit": {"pages": 4, "think_ms": 2000}}],
    "config": {"upstreams": [{"name": "shop", "servers": ["127.0.0.1:3000"]}],
      "routes": [{"name": "sale", "match": {"path": "/sale/**"}, "class": "P1")" +
         room + R"(}], "dispatch": {"concurrency": 16}}})";
}

Recording play(const std::string& scenario) {
  const ScenarioResult read = read_scenario(scenario, "site", nullptr);
  for (const auto& problem : read.problems) MESSAGE(problem.path, ": ", problem.message);
  REQUIRE(read.scenario);
  return simulate(*read.scenario, true);
}

}  // namespace

TEST_CASE("ticket-sale: the caps hold, sessions are used, and everybody is accounted for") {
  const Scenario sale = open_good("ticket-sale");
  CHECK(has_waiting_room(sale));
  const Recording run = simulate(sale, true);
  REQUIRE(run.visitors);
  const VisitorsSummary& of = *run.visitors;
  MESSAGE("used ", of.use, ", p95 of waits ", of.waits.p95, " s, polls ", of.polls);
  CHECK(of.came > 8000);
  // Those between their first and second contact are in no place yet.
  CHECK(accounted(of) <= of.came);
  CHECK(accounted(of) + 50 >= of.came);
  CHECK(of.most_sessions <= 900);
  CHECK(of.use > 0.9);
  CHECK(of.left.turned_away == 0);  // all come in within max_wait_ms
  CHECK(of.waits.longest < 600);
  MESSAGE("calls within the range that was told first: ", of.within, " of ", of.told);
  CHECK(of.told > 4000);
  CHECK(static_cast<double>(of.within) > 0.6 * static_cast<double>(of.told));
  // Asking every ten seconds would be twice as much.
  double waited_for = 0;
  for (const Second& second : run.seconds)
    waited_for += static_cast<double>(second.visitors_waiting);
  CHECK(static_cast<double>(of.polls) < waited_for / 10);

  const Recording other = simulate(without_waiting_rooms(sale), true);
  REQUIRE(other.visitors);
  CHECK(other.visitors->came == of.came);  // the same people
  CHECK(other.visitors->waits.count == 0);
  CHECK(run.classes[1].success > 0.98);
  CHECK(other.classes[1].success < 0.9);  // refused again and again, and in no order
  CHECK(to_json(simulate(sale, true)).dump() == to_json(run).dump());
}

// Five minutes into the sale half of the shop is lost, with 900 places inside and thousands in
// line.
TEST_CASE("ticket-sale: when capacity halves hardly any visitor inside loses its session") {
  Scenario sale = open_good("ticket-sale");
  const Recording calm = simulate(sale, true);
  sale.changes.push_back({.at = 300, .slots = 8});
  const Recording run = simulate(sale, true);
  REQUIRE(run.visitors);
  const VisitorsSummary& of = *run.visitors;
  const VisitorsSummary& as_planned = *calm.visitors;
  MESSAGE("sent out ", of.left.sent_out, " of ", of.entered, ", gave up inside ",
          of.left.gave_up_inside, ", lost their place ", of.left.lost_place, " beside ",
          as_planned.left.lost_place, ", pages served ", run.classes[1].success, " beside ",
          calm.classes[1].success, ", within the range ", of.within, " of ", of.told);
  // Its pages are slower, and some come with the second try.
  CHECK(static_cast<double>(of.left.sent_out) <= 0.001 * static_cast<double>(of.entered));
  CHECK(of.left.gave_up_inside == 0);
  CHECK(run.classes[1].success > 0.95);
  // Those who do not come when they are called lose their places, as they would have otherwise.
  CHECK(of.left.lost_place <= as_planned.left.lost_place);
  CHECK(of.most_sessions <= 900);
  CHECK(of.entered < as_planned.entered);  // entry is slower, and stays so
  CHECK(static_cast<double>(of.within) > 0.8 * static_cast<double>(of.told));
}

TEST_CASE("visitors see all their pages, with and without a waiting room that is never full") {
  const Recording open = play(quiet_site(""));
  const Recording roomy = play(quiet_site(R"(, "waiting_room": {"active_sessions": 1000})"));
  for (const Recording* run : {&open, &roomy}) {
    REQUIRE(run->visitors);
    CHECK(run->visitors->came > 80);
    CHECK(run->visitors->left.done == run->visitors->came);
    CHECK(run->visitors->polls == 0);
  }
  CHECK(open.classes[1].counts.offered == 4 * open.visitors->came);
  // With a pass they are of the first class unless the waiting room says otherwise.
  CHECK(roomy.classes[0].counts.offered == 4 * roomy.visitors->came);
  CHECK(open.visitors->came == roomy.visitors->came);
}

TEST_CASE("a small waiting room lets few in at a time, and all in the end") {
  const Recording run = play(
      quiet_site(R"(, "waiting_room": {"active_sessions": 10, "idle_ms": 1000, "class": "P1"})"));
  REQUIRE(run.visitors);
  CHECK(run.visitors->most_sessions == 10);
  CHECK(run.visitors->waits.count > 0);
  CHECK(run.visitors->left.done + run.visitors->waiting + run.visitors->inside > 0);
  CHECK(summary(run, nullptr).find("longest wait") != std::string::npos);
}

TEST_CASE("visitors of a higher tier wait less, and the summary says how long each waited") {
  const auto of_tiers = [](const std::string& tier) {
    return play(R"({"name": "site", "sentence": "two tiers", "seconds": 120, "warm_up_seconds": 0,
      "backend": {"slots": 16, "service_ms": 100},
      "clients": [
        {"route": "sale", "rate": 1, "visit": {"pages": 4, "think_ms": 2000}},
        {"route": "sale", "rate": 0.2, "visit": {"pages": 4, "think_ms": 2000)" +
                tier + R"(}}],
      "config": {"upstreams": [{"name": "shop", "servers": ["127.0.0.1:3000"]}],
        "routes": [{"name": "sale", "match": {"path": "/sale/**"}, "class": "P1",
          "waiting_room": {"active_sessions": 12, "idle_ms": 1000, "class": "P1"}}],
        "dispatch": {"concurrency": 16}}})");
  };
  const Recording run = of_tiers(R"(, "tier": "vip")");
  REQUIRE(run.visitors->tiers.size() == 2);
  const TierSummary& standard = run.visitors->tiers[0];
  const TierSummary& vip = run.visitors->tiers[1];
  CHECK(standard.name == "standard");
  CHECK(vip.name == "vip");
  CHECK(vip.waits.count > 5);
  CHECK(vip.waits.p50 < standard.waits.p50 / 2);
  CHECK(standard.came + vip.came == run.visitors->came);
  const std::string text = summary(run, nullptr);
  CHECK(text.find("p95 of vip") != std::string::npos);
  CHECK(to_json(run)["visitors"]["tiers"].size() == 2);
  CHECK(of_tiers("").visitors->tiers.empty());
}

TEST_CASE(
    "entry does not quicken while the upstream refuses requests, though its state is normal") {
  // Of the other class one runs at a time, and none waits for long.
  const auto inside = [](const std::string& other_class) {
    const Recording run =
        play(R"({"name": "site", "sentence": "refusals", "seconds": 30, "warm_up_seconds": 0,
      "backend": {"slots": 64, "service_ms": 100},
      "clients": [
        {"route": "sale", "rate": 300, "until_seconds": 2,
         "visit": {"pages": 2, "think_ms": 600000}},
        {"route": "api", "rate": 50}],
      "config": {"upstreams": [{"name": "shop", "servers": ["127.0.0.1:3000"]}],
        "classes": [{"name": "P0"}, {"name": "P1"}, {"name": "P2", "max_wait_ms": 1)" +
             other_class + R"(}],
        "routes": [
          {"name": "sale", "match": {"path": "/sale/**"}, "class": "P1",
           "waiting_room": {"active_sessions": 300, "when": "always"}},
          {"name": "api", "match": {"path": "/api/**"}, "class": "P2"}],
        "dispatch": {"concurrency": 64}}})");
    for (const Second& second : run.seconds) CHECK(second.state == State::normal);
    return static_cast<double>(run.seconds.at(14).visitors_inside);
  };
  const double calm = inside("");
  const double refusing = inside(R"(, "max_inflight": 1)");
  MESSAGE("inside after 15 s: ", calm, ", and ", refusing, " beside refusals");
  CHECK(calm > 110);
  CHECK(refusing > 50);
  CHECK(refusing < 0.9 * calm);
}

TEST_CASE("visitors ask again by themselves: retries besides are an error") {
  const ScenarioResult read = read_scenario(quiet_site("", R"(, "retries": 2)"), "site", nullptr);
  CHECK_FALSE(read.scenario);
  REQUIRE(read.problems.size() == 1);
  CHECK(read.problems[0].path == "$.clients[0].retries");
}

}  // namespace spillway::simulate
