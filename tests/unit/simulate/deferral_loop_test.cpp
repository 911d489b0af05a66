// Deferral in the closed loop: deferred work is done in the valley, and live traffic does not
// notice. Beside it what breaks that: jobs that compete with live requests, jobs that fail, and
// refusals for event-loop lag.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "simulate/model/deferral_rules.hpp"
#include "simulate/model/visitors_model.hpp"
#include "simulate/report/json.hpp"
#include "simulate/report/states.hpp"
#include "simulate/run/simulation.hpp"
#include "simulate/scenario/built_in.hpp"
#include "unit/simulate/scenarios.hpp"

namespace spillway::simulate {
namespace {

// The clients of the lowest class that comes go to copies of their routes, with `defer`.
Scenario deferring(Scenario scenario) {
  config::Config& config = scenario.config;
  ClassId lowest{};
  for (Clients& clients : scenario.clients) {
    clients.traffic_class = class_of(scenario, clients);
    clients.route = route_of(scenario, clients);
    lowest = std::max(lowest, *clients.traffic_class);
  }
  for (Clients& clients : scenario.clients) {
    if (clients.traffic_class != lowest) continue;
    config::Route later = config.routes[index(*clients.route)];
    if (later.defer) continue;
    later.name += "-later";
    later.defer.emplace(config.jobs);
    config.routes.insert(config.routes.begin(), later);
    for (Clients& each : scenario.clients)
      each.route = static_cast<RouteId>(index(*each.route) + 1);
    clients.route = RouteId{};
  }
  return scenario;
}

struct Pair {
  Recording with, without;
};

Pair play(const Scenario& scenario) {
  return {simulate(scenario, true), simulate(without_deferral(scenario), true)};
}

// With three seeds.
std::vector<Pair> play_days(Scenario day) {
  std::vector<Pair> out;
  for (const std::uint64_t seed : {1u, 2u, 3u}) {
    day.seed = seed;
    out.push_back(play(day));
  }
  return out;
}

bool is_conserved(const JobsSummary& jobs) {
  return jobs.deferred == jobs.done + jobs.dead + jobs.expired + jobs.pending;
}

std::uint64_t refused(const Recording& run, std::size_t c) {
  return run.classes[c].counts.denied + run.classes[c].counts.expired;
}

double overloaded(const Recording& run) {
  const auto times = time_per_state(run);
  return times[index(State::overloaded)] + times[index(State::critical)];
}

// Of the scenarios with names from `first` to `last`. Means of three seeds; the tolerances are
// those of one run against another whose random draws differ. Returns how many there are.
std::size_t check_no_harm(std::string_view first, std::string_view last) {
  std::size_t scenarios = 0;
  for (const BuiltIn& one : built_in_scenarios()) {
    if (one.name < first || one.name > last) continue;
    // Its visitors answer each other: who is deferred looks at the next page at once.
    if (has_waiting_room(open_good(std::string(one.name)))) continue;
    ++scenarios;
    CAPTURE(std::string(one.name));
    double success[2] = {}, latency[2] = {};
    std::size_t changes = 0, changes_without = 0;
    for (const Pair& runs : play_days(deferring(open_good(std::string(one.name))))) {
      REQUIRE(runs.with.jobs.has_value());
      CHECK(is_conserved(*runs.with.jobs));
      changes += runs.with.changes.size();
      changes_without += runs.without.changes.size();
      for (std::size_t c = 0; c < 2; ++c) {
        const ClassSummary &with = runs.with.classes[c], &without = runs.without.classes[c];
        success[c] += (with.success - without.success) / 3;
        latency[c] += with.p99 / without.p99 / 3;
      }
    }
    CHECK(changes <= changes_without);
    for (std::size_t c = 0; c < 2; ++c) {
      CAPTURE(c);
      CHECK(success[c] > -0.004);
      CHECK(latency[c] < 1.06);
    }
  }
  return scenarios;
}

Scenario day_with(void (*change)(config::Defer&)) {
  Scenario day = open_good("daily-peak");
  for (config::Route& route : day.config.routes)
    if (route.defer) change(*route.defer);
  return day;
}

}  // namespace

TEST_CASE("daily-peak: what was refused at noon is done in the evening") {
  for (const Pair& day : play_days(open_good("daily-peak"))) {
    CAPTURE(day.with.seed);
    REQUIRE(day.with.jobs.has_value());
    const JobsSummary& jobs = *day.with.jobs;
    MESSAGE("deferred ", jobs.deferred, ", most pending ", jobs.most_pending, " at ",
            jobs.most_pending_at, " s, empty at ", jobs.empty_at.value_or(-1), " s, oldest ",
            jobs.longest, " s; refused without ", refused(day.without, 2));
    CHECK(refused(day.with, 2) == 0);
    CHECK(refused(day.without, 2) > 7000);
    CHECK(jobs.done == jobs.deferred);
    CHECK(is_conserved(jobs));
    CHECK(jobs.most_pending > 7000);
    // The noon is over at 130 s; the night has begun at 160 s.
    CHECK(jobs.empty_at.value_or(1e9) < 190);
    CHECK(day.with.goodput > day.without.goodput + 0.07);
    CHECK_FALSE(day.without.jobs.has_value());
  }
}

TEST_CASE("daily-peak: the state is entered and left as often and as long as without deferral") {
  for (const Pair& day : play_days(open_good("daily-peak"))) {
    CHECK(day.with.changes.size() == day.without.changes.size());
    CHECK(overloaded(day.with) == doctest::Approx(overloaded(day.without)).epsilon(0.03));
  }
}

TEST_CASE("deferral does no harm to the higher classes from budget to failing-client") {
  CHECK(check_no_harm("a", "g") == 7);
}

TEST_CASE("deferral does no harm to the higher classes from latency-target to spike") {
  CHECK(check_no_harm("latency", "z") == 8);
}

TEST_CASE("each request has exactly one fate, and deferred is one of them") {
  const Recording run = simulate(open_good("daily-peak"), true);
  for (const ClassSummary& one : run.classes) {
    const ClassCounts& counts = one.counts;
    CHECK(counts.offered == counts.served + counts.denied + counts.expired + counts.failed +
                                counts.late + counts.deferred);
  }
  CHECK(run.classes[2].counts.deferred > 0);
  std::uint64_t deferred = 0;
  for (const Second& second : run.seconds) deferred += second.classes[2].deferred;
  CHECK(deferred == run.jobs->deferred);
}

TEST_CASE("runs with deferral are the same for the same seed") {
  Scenario day = open_good("daily-peak");
  for (Clients& clients : day.clients) clients.error_rate = 0.02;  // with retries
  const std::string first = to_json(simulate(day, true)).dump();
  CHECK(to_json(simulate(day, true)).dump() == first);
  day.seed = 2;
  CHECK(to_json(simulate(day, true)).dump() != first);
}

TEST_CASE("jobs count as no offered load and their ends are no latencies of clients") {
  for (const Pair& day : play_days(open_good("daily-peak"))) {
    for (std::size_t s = 0; s < day.with.seconds.size(); ++s)
      for (std::size_t c = 0; c < 3; ++c)
        CHECK(day.with.seconds[s].classes[c].offered == day.without.seconds[s].classes[c].offered);
    // In the evening jobs fill the slots, and no more is admitted than comes.
    for (std::size_t s = 150; s < 170; ++s) {
      CHECK(day.with.seconds[s].running >= 60);
      CHECK(day.with.seconds[s].queued < 10);
    }
    CHECK(day.without.seconds[165].running < 50);
    double p95 = 0, p95_without = 0;
    for (std::size_t s = 142; s < 172; ++s) {
      p95 += day.with.seconds[s].p95 / 30;
      p95_without += day.without.seconds[s].p95 / 30;
    }
    CHECK(p95 < p95_without + 0.015);
  }
}

TEST_CASE("an outage in the evening delays jobs and loses none") {
  Scenario day = open_good("daily-peak");
  Change outage;
  outage.at = 140;
  outage.until = 150;
  outage.refused_rate = 1;
  day.changes.push_back(outage);
  for (const Pair& runs : play_days(day)) {
    CHECK(is_conserved(*runs.with.jobs));
    CHECK(runs.with.jobs->done == runs.with.jobs->deferred);
    CHECK(runs.with.jobs->dead == 0);
    // Without a server requests are deferred rather than failed.
    CHECK(runs.with.classes[2].counts.failed == 0);
    CHECK(runs.without.classes[2].counts.failed > 200);
  }
}

TEST_CASE("beyond max_pending requests are refused as without deferral") {
  const Scenario day = day_with([](config::Defer& defer) { defer.max_pending = 1000; });
  const Pair runs = play(day);
  CHECK(runs.with.jobs->most_pending <= 1000 + 64 + 64);
  CHECK(runs.with.jobs->not_kept > 0);
  CHECK(refused(runs.with, 2) + runs.with.jobs->deferred ==
        doctest::Approx(refused(runs.without, 2)).epsilon(0.03));
}

TEST_CASE("the control: jobs that compete with live requests harm them") {
  const Scenario low = day_with([](config::Defer& defer) { defer.traffic_class = ClassId{2}; });
  for (const Pair& day : play_days(low)) {
    CHECK(overloaded(day.with) > overloaded(day.without) + 30);
    CHECK(day.with.classes[2].success < day.without.classes[2].success - 0.03);
    for (std::size_t c = 0; c < 2; ++c) CHECK(day.with.classes[c].success > 0.9999);
    CHECK(is_conserved(*day.with.jobs));
    // In the valley they take what is left, as those without a class.
    CHECK(day.with.jobs->done == day.with.jobs->deferred);
    CHECK(day.with.jobs->empty_at.value_or(1e9) < 190);
  }
  const Scenario high = day_with([](config::Defer& defer) { defer.traffic_class = ClassId{0}; });
  for (const Pair& day : play_days(high)) {
    CHECK(day.with.classes[1].success < 0.7);
    CHECK(day.with.classes[0].success > 0.995);
    CHECK(day.without.classes[1].success > 0.99);
  }
}

// Jobs take longer than live requests of the class may wait.
TEST_CASE("before an idle upstream jobs with a class are done as soon as those without") {
  const auto empty_at = [](const std::string& defer) {
    Scenario burst =
        scenario_of(R"("clients":[{"route":"later","rate":160,"until_seconds":2}])",
                    R"(,"routes":[{"name":"later","match":{"path":"/later"},"class":"P2","defer":)"
                    R"({"when":"always")" +
                        defer + "}}]");
    burst.backend.service = std::chrono::milliseconds(400);
    const Recording run = simulate(burst, true);
    CHECK(run.jobs->done == run.jobs->deferred);
    return run.jobs->empty_at.value_or(1e9);
  };
  const double without = empty_at("");
  CHECK(without > 5);
  for (const char* its : {"P0", "P2"})
    CHECK(empty_at(R"(,"class":")" + std::string(its) + '"') < 1.05 * without);
}

// A refusal is the cheapest answer there is; to write a request down and forward it later costs the
// loop more.
TEST_CASE("the control: deferring what is refused for event-loop lag harms live requests") {
  Scenario lag = deferring(open_good("lag"));
  const Pair runs = play(lag);
  CHECK(runs.with.classes[0].success > 0.999);
  CHECK(runs.without.classes[0].success > 0.999);
  lag.defers_for_lag = true;
  CHECK(simulate(lag, true).classes[0].success < 0.7);
}

// In the valley jobs are most of what the upstream answers. Their failures do not count as its own.
TEST_CASE("jobs that keep failing neither make the state swing nor harm the higher classes") {
  Scenario day = open_good("daily-peak");
  for (Clients& clients : day.clients)
    if (clients.route) clients.error_rate = 0.3;
  const Pair runs = play(day);
  CHECK(runs.with.changes.size() <= runs.without.changes.size() + 2);
  CHECK(is_conserved(*runs.with.jobs));
  for (std::size_t c = 0; c < 2; ++c) CHECK(runs.with.classes[c].success > 0.999);
}

TEST_CASE("jobs that keep failing are sent again within the upstream's retry budget") {
  Scenario failing =
      scenario_of(R"("clients":[{"route":"later","rate":5}])",
                  R"(,"routes":[{"name":"later","match":{"path":"/later"},"class":"P2","defer":)"
                  R"({"when":"always","max_attempts":1000,"backoff":{"base_ms":1,"max_ms":1}}}])");
  for (Clients& clients : failing.clients) clients.error_rate = 1;
  const auto retried_with = [&](double per_second) {
    failing.config.upstreams[0].retries.budget_ratio = 0;
    failing.config.upstreams[0].retries.budget_per_second = per_second;
    const Recording run = simulate(failing, true);
    CHECK(is_conserved(*run.jobs));
    CHECK(run.jobs->pending == run.jobs->deferred);
    return run.jobs->retried;
  };
  // Each first attempt is followed by another, which may have to wait for the budget.
  const std::uint64_t first = retried_with(0);
  CHECK(first > 80);
  CHECK(first < 160);
  // Half of it, over at most three windows of ten seconds.
  CHECK(retried_with(10) > first + 50);
  CHECK(retried_with(10) <= first + 3 * 10 * 10 / 2);
  CHECK_MESSAGE(retried_with(1e5) > 20 * first, "negative control");
}

// Jobs use every slot. Where the slots are more than the backend can do, the latency that follows
// is told apart from overload by no signal.
TEST_CASE("jobs before a concurrency that is too high make the state swing, and a cap calms it") {
  Scenario day = open_good("daily-peak");
  day.backend.slots = 128;
  day.backend.thrash_knee = 64;
  config::Upstream& upstream = day.config.upstreams[0];
  upstream.dispatch.concurrency = 128;
  upstream.overload.enter.latency_p95 = Milliseconds(500);
  upstream.overload.exit.latency_p95 = Milliseconds(400);
  Scenario capped = day;
  for (config::Route& route : capped.config.routes)
    if (route.defer) route.defer->concurrency = 32;
  std::size_t changes = 0, changes_capped = 0;
  const auto days = play_days(day), capped_days = play_days(capped);
  for (std::size_t i = 0; i < days.size(); ++i) {
    changes += days[i].with.changes.size();
    changes_capped += capped_days[i].with.changes.size();
    for (const Recording* run : {&days[i].with, &capped_days[i].with}) {
      CHECK(run->jobs->done == run->jobs->deferred);
      for (std::size_t c = 0; c < 2; ++c) {
        CHECK(run->classes[c].success > 0.999);
        CHECK(run->classes[c].p99 < 1.1 * days[i].without.classes[c].p99);
      }
    }
  }
  CHECK(changes > 40);
  CHECK(changes_capped < 20);
}

}  // namespace spillway::simulate
