// A simulated run: what must be true of every one, and that it is driven by the configuration.
#include "simulate/run/simulation.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "simulate/report/json.hpp"
#include "unit/simulate/scenarios.hpp"

namespace spillway::simulate {
namespace {

// 1600 requests per second onto 800: twice what the backend can do.
const std::string kTwice = R"("clients":[{"class":"P0","rate":160},{"class":"P1","rate":480},
                                         {"class":"P2","rate":960}])";

Recording run(const Scenario& scenario, bool shedding = true) {
  return simulate(scenario, shedding);
}

std::uint64_t total(const Recording& recording, std::uint64_t ClassCounts::*what) {
  std::uint64_t sum = 0;
  for (const ClassSummary& one : recording.classes) sum += one.counts.*what;
  return sum;
}

bool was_in(const Recording& recording, State state, Reason reason) {
  return std::any_of(recording.changes.begin(), recording.changes.end(), [&](const auto& change) {
    return change.to == state && change.reason == reason;
  });
}

}  // namespace

TEST_CASE("the same seed gives the same bytes and another seed does not") {
  Scenario scenario = scenario_of(kTwice);
  const std::string first = to_json(run(scenario)).dump();
  CHECK(to_json(run(scenario)).dump() == first);
  scenario.seed = 2;
  CHECK(to_json(run(scenario)).dump() != first);
}

TEST_CASE("the same requests come with and without shedding") {
  const Scenario scenario = scenario_of(kTwice);
  const Recording with = run(scenario), without = run(scenario, false);
  REQUIRE(with.seconds.size() == without.seconds.size());
  for (std::size_t s = 0; s < with.seconds.size(); ++s) {
    for (std::size_t c = 0; c < 3; ++c) {
      CHECK(with.seconds[s].classes[c].offered == without.seconds[s].classes[c].offered);
    }
  }
  CHECK(with.classes[2].counts.served != without.classes[2].counts.served);
}

TEST_CASE("clients that leave early put no more to work in the backend than there are slots") {
  // A route whose usual time is not known, as none of its answers is waited for; and one that some
  // wait for. The backend would take on 64 at a time.
  for (const char* others : {"", R"(,{"class":"P0","rate":20,"timeout_ms":2000})"}) {
    CAPTURE(others);
    Scenario scenario = scenario_of(R"("clients":[{"class":"P1","rate":400,"timeout_ms":20})" +
                                    std::string(others) + "]");
    scenario.backend.slots = 64;
    scenario.backend.service = Milliseconds(200);
    const Recording with = run(scenario), without = run(scenario, false);
    std::uint32_t most = 0, most_without = 0;
    for (const auto& second : with.seconds) most = std::max(most, second.running);
    for (const auto& second : without.seconds)
      most_without = std::max(most_without, second.running);
    // Beyond its route's 99th percentile a request may still be at work.
    CHECK(most <= 18);
    CHECK(most_without == 64);
  }
}

TEST_CASE("each request has exactly one fate") {
  const Recording recording = run(scenario_of(kTwice));
  for (const ClassSummary& one : recording.classes) {
    CAPTURE(one.name);
    CHECK(one.counts.offered > 2000);
    CHECK(one.counts.offered == one.counts.served + one.counts.denied + one.counts.expired);
    CHECK(one.counts.admitted == one.counts.served);
  }
}

TEST_CASE("never more run in the backend than the gate has slots") {
  const Recording recording = run(scenario_of(kTwice));
  for (const Second& second : recording.seconds) CHECK(second.running <= 16);
}

TEST_CASE("on a quiet site an answer takes its service time") {
  const Scenario scenario = scenario_of(R"("clients":[{"class":"P1","rate":200}])");
  for (const bool shedding : {true, false}) {
    const Recording recording = run(scenario, shedding);
    // Log-normal of mean 20 ms and sigma 0.5: median 17.6 ms, 95th percentile 40.2 ms.
    CHECK(recording.classes[1].p50 == doctest::Approx(0.0176).epsilon(0.05));
    CHECK(recording.classes[1].p95 == doctest::Approx(0.0402).epsilon(0.05));
    CHECK(recording.classes[1].success == 1);
    CHECK(recording.goodput == doctest::Approx(0.25).epsilon(0.1));
  }
}

TEST_CASE("without shedding the queue grows as fast as more comes than is done") {
  const Recording recording = run(scenario_of(kTwice), false);
  for (const std::size_t s : {4u, 9u, 19u}) {
    const double seconds = static_cast<double>(s) + 1;
    CHECK(recording.seconds[s].queued == doctest::Approx(800 * seconds).epsilon(0.05));
  }
  CHECK(recording.max_queued >= recording.seconds.back().queued);
  // Whoever comes at the end waits for as long as the run has lasted.
  CHECK(recording.seconds.back().p95 == doctest::Approx(10).epsilon(0.1));
}

TEST_CASE("work for clients that have left is wasted and shedding avoids it") {
  const Scenario scenario =
      scenario_of(R"("clients":[{"class":"P1","rate":1200,"timeout_ms":500}])");
  const Recording with = run(scenario), without = run(scenario, false);
  CHECK(with.wasted < 0.001);
  CHECK(with.goodput > 0.97);
  CHECK(without.wasted > 0.9);
  CHECK(without.goodput < 0.1);
  CHECK(total(without, &ClassCounts::late) > 8000);
}

TEST_CASE("each request has exactly one fate when servers fail too") {
  const std::string lost = R"("backend":{"service_ms":20,"servers":[{"slots":8},{"slots":8}]},)"
                           R"("changes":[{"at_seconds":8,"until_seconds":14,"server":1,)"
                           R"("error_rate":0.5,"refused_rate":0.5}],)"
                           R"("clients":[{"class":"P0","rate":300,"timeout_ms":500},)"
                           R"({"class":"P2","rate":900,"timeout_ms":100,"retries":1}])";
  std::string text = scenario_text(lost);
  text.erase(text.find(R"("backend":{"slots":16)"),
             std::string(R"("backend":{"slots":16,"service_ms":20},)").size());
  text.replace(text.find(R"(["h:1"])"), 7, R"(["h:1","h:2"])");
  const ScenarioResult read = read_scenario(text, "test.json", nullptr);
  REQUIRE_MESSAGE(read.scenario.has_value(), listing(read.problems));
  Scenario scenario = *read.scenario;
  scenario.seed = 5;  // some requests fail before the server is ejected
  for (const bool shedding : {true, false}) {
    const Recording recording = run(scenario, shedding);
    CHECK(total(recording, &ClassCounts::failed) > (shedding ? 0 : 500));
    for (const ClassSummary& one : recording.classes) {
      const ClassCounts& counts = one.counts;
      // Those in the backend at the very end of the drain have none yet.
      CHECK(counts.offered -
                (counts.served + counts.denied + counts.expired + counts.late + counts.failed) <=
            (shedding ? 0 : 20000));
    }
  }
}

TEST_CASE("a lost server costs a retry at the other one and no request") {
  const auto with_retries = [](int attempts) {
    const std::string text =
        R"({"name":"t","sentence":"s","seconds":20,"warm_up_seconds":5,
            "backend":{"service_ms":20,"servers":[{"slots":16},{"slots":16}]},
            "changes":[{"at_seconds":8,"until_seconds":14,"server":1,"refused_rate":1}],
            "clients":[{"class":"P1","rate":300}],
            "config":{"upstreams":[{"name":"app","servers":["h:1","h:2"],
              "ejection":{"consecutive_failures":0},"dispatch":{"concurrency":32},
              "retries":{"attempts":)" +
        std::to_string(attempts) + "}}]}}";
    const ScenarioResult read = read_scenario(text, "test.json", nullptr);
    REQUIRE_MESSAGE(read.scenario.has_value(), listing(read.problems));
    return *read.scenario;
  };
  CHECK(run(with_retries(1)).classes[1].success == 1);
  CHECK(run(with_retries(1), false).classes[1].success < 0.85);
}

TEST_CASE(
    "a fresh answer asks nothing of the backend and a stale one takes the place of an error") {
  const auto reads = [](const std::string& cache) {
    return scenario_of(R"("changes":[{"at_seconds":8,"until_seconds":14,"error_rate":1}],
                          "clients":[{"class":"P1","rate":200,"keys":20}])",
                       R"(,"overload":{"rules":{"P1":{"strategy":"allow"}}},
                           "default_route":{"class":"P1")" +
                           cache + "}");
  };
  const std::string fresh = R"(,"cache":{"serve":"fresh","ttl_ms":1000,"max_bytes":1000000)";
  const Recording with = run(reads(fresh + "}"));
  CHECK(with.classes[1].success == 1);
  CHECK(with.classes[1].counts.cached > 2500);
  const Recording strict = run(reads(fresh + R"(,"stale_if_error":false})"));
  CHECK(strict.classes[1].success < 0.8);
  const Recording without = run(reads(""));
  CHECK(without.classes[1].success < 0.7);
  CHECK(without.classes[1].counts.cached == 0);
}

TEST_CASE("a backend that stands still is given up after the response timeout") {
  const std::string members = R"("changes":[{"at_seconds":8,"until_seconds":12,"slots":0}],
                                 "clients":[{"class":"P1","rate":100}])";
  Scenario scenario = scenario_of(members);
  CHECK(run(scenario).classes[1].counts.failed == 0);
  scenario.config.upstreams[0].response_timeout = Milliseconds{1000};
  const Recording recording = run(scenario);
  // 16 of them keep the slots for two seconds more.
  CHECK(recording.classes[1].counts.failed >= 16);
  CHECK(recording.classes[1].counts.failed <= 32);
}

TEST_CASE("event-loop lag rises with what the proxy takes on and refusing lowers it") {
  const auto lagging = [](int microseconds, const std::string& more = "") {
    return scenario_of(R"("proxy":{"request_us":)" + std::to_string(microseconds) +
                           R"(},"clients":[{"class":"P0","rate":300,"timeout_ms":1000},
                                           {"class":"P2","rate":300,"timeout_ms":1000}])",
                       more);
  };
  const Recording calm = run(lagging(1000));
  CHECK(calm.changes.empty());
  CHECK(calm.classes[2].success == 1);
  const Recording shed = run(lagging(2000));
  CHECK(was_in(shed, State::overloaded, Reason::event_loop_lag));
  CHECK(shed.classes[0].success > 0.999);
  CHECK(shed.classes[2].success < 0.9);
  const Recording blind = run(lagging(
      2000,
      R"(,"overload":{"enter":{"event_loop_lag_ms":null},"exit":{"event_loop_lag_ms":null}})"));
  CHECK(blind.classes[0].success < 0.5);
}

TEST_CASE("clients that leave give back their places and slots") {
  // While the backend stands still the patient ones hold the slots and the others leave the queue.
  const Recording recording = run(scenario_of(
      R"("changes":[{"at_seconds":8,"until_seconds":10,"slots":0}],
         "clients":[{"class":"P0","rate":50,"timeout_ms":1500},
                    {"class":"P0","rate":350,"timeout_ms":100}])"));
  CHECK(recording.classes[0].counts.expired > 50);
  CHECK(recording.classes[0].counts.late > 10);
  for (std::size_t s = 14; s < 20; ++s) {
    CHECK(recording.seconds[s].classes[0].served > 300);
    CHECK(recording.seconds[s].queued < 10);
  }
}

TEST_CASE("clients try again as often as they may and sooner if they ignore Retry-After") {
  const auto offered = [](const std::string& more) {
    return total(run(scenario_of(R"("clients":[{"class":"P2","rate":1600)" + more + "}]")),
                 &ClassCounts::offered);
  };
  const auto never = offered("");
  const auto patient = offered(R"(,"retries":2,"retry_backoff_ms":50)");
  const auto impatient =
      offered(R"(,"retries":2,"retry_backoff_ms":50,"honours_retry_after":false)");
  CHECK(static_cast<double>(never) == doctest::Approx(1600 * 15).epsilon(0.02));
  // Their returns are booked: a tenth of the capacity, half of what is offered.
  CHECK(patient > never * 103 / 100);
  CHECK(patient < never * 106 / 100);
  CHECK(impatient > patient);
  CHECK(impatient < never * 3);
}

TEST_CASE("a rule that skips the expensive part serves more with less") {
  const std::string skip =
      R"(,"overload":{"rules":{"P1":{"strategy":"degrade","mode":"skip_downstream"}}})";
  const std::string clients = R"("clients":[{"class":"P1","rate":1100}])";
  const Recording degraded = run(scenario_of(clients, skip));
  const Recording plain = run(scenario_of(clients));
  CHECK(plain.classes[1].success < 0.8);
  CHECK(degraded.classes[1].success > 0.95);
  CHECK(degraded.classes[1].counts.degraded > 8000);
  CHECK(plain.classes[1].counts.degraded == 0);
}

TEST_CASE("a prepared answer costs the backend nothing") {
  const std::string skip =
      R"(,"default_route":{"class":"P1","fallback":{"json":{"body":"{}"}}},
         "overload":{"rules":{"P1":{"strategy":"degrade","mode":"skip_downstream"}}})";
  // Five times what the backend can do. Between two times of overload it is asked again.
  const std::string crowd = R"("clients":[{"class":"P1","rate":4000}])";
  const Recording prepared = run(scenario_of(crowd, skip));
  const Recording plain = run(scenario_of(crowd));
  CHECK(prepared.classes[1].success > 0.5);
  CHECK(prepared.classes[1].counts.degraded > 20'000);
  CHECK(plain.classes[1].success < 0.3);
}

TEST_CASE("a prepared answer goes before a budget that is spent") {
  const Recording recording = run(scenario_of(
      R"("changes":[{"at_seconds":0,"event_loop_lag_ms":250}],
         "clients":[{"class":"P1","rate":100}])",
      R"(,"default_route":{"class":"P1","fallback":{"json":{"body":"{}"}}},
         "overload":{"rules":{"P1":{"strategy":"degrade","mode":"skip_downstream","miss":"deny",
                                    "budget":{"rate":10,"burst":1}}}})"));
  CHECK(was_in(recording, State::overloaded, Reason::event_loop_lag));
  CHECK(recording.classes[1].counts.degraded > 500);
  CHECK(recording.classes[1].counts.denied == 0);
}

TEST_CASE("only served requests count as degraded") {
  // Half as dear, they are still too many; a budget refuses on top of the gate, and some give up.
  const Recording recording = run(scenario_of(
      R"("changes":[{"at_seconds":0,"event_loop_lag_ms":250},
                    {"at_seconds":10,"until_seconds":11,"slots":0}],
         "clients":[{"class":"P1","rate":1500,"timeout_ms":500},
                    {"class":"P2","rate":1500,"timeout_ms":500}])",
      R"(,"overload":{"rules":{
            "P1":{"strategy":"degrade","mode":"skip_downstream"},
            "P2":{"strategy":"degrade","mode":"skip_downstream",
                  "budget":{"rate":200,"burst":20}}}})"));
  for (const std::size_t c : {1u, 2u}) {
    const ClassCounts& counts = recording.classes[c].counts;
    CAPTURE(c);
    CHECK(counts.denied > 1000);
    CHECK(counts.expired > 10);
    CHECK(counts.late > 0);
    CHECK(counts.offered == counts.served + counts.denied + counts.expired + counts.late);
    CHECK(counts.degraded == counts.served);
  }
  for (const Second& second : recording.seconds) {
    for (const ClassCounts& counts : second.classes) CHECK(counts.degraded <= counts.served);
  }
}

TEST_CASE("a class's budget holds while the upstream is overloaded") {
  const std::string budget =
      R"(,"overload":{"rules":{"P0":{"strategy":"allow","budget":{"rate":100,"burst":5}}}})";
  const Recording with = run(scenario_of(kTwice, budget));
  const Recording without = run(scenario_of(kTwice));
  CHECK(static_cast<double>(with.classes[0].counts.served) ==
        doctest::Approx(100 * 15).epsilon(0.02));
  CHECK(without.classes[0].success > 0.99);
}

TEST_CASE("an injected event-loop lag makes its state and none is seen without") {
  const std::string clients = R"("clients":[{"class":"P2","rate":100}])";
  const std::string lag =
      R"("changes":[{"at_seconds":8,"until_seconds":12,"event_loop_lag_ms":250}],)";
  const Recording with = run(scenario_of(lag + clients));
  CHECK(was_in(with, State::overloaded, Reason::event_loop_lag));
  CHECK(with.seconds[9].classes[2].denied > 60);
  CHECK(with.seconds[15].classes[2].denied == 0);
  CHECK(run(scenario_of(clients)).changes.empty());
}

TEST_CASE("in shadow mode no rule refuses anybody") {
  const std::string members = R"("changes":[{"at_seconds":0,"event_loop_lag_ms":250}],
                                 "clients":[{"class":"P2","rate":100}])";
  const Recording shadow = run(scenario_of(members, R"(,"overload":{"mode":"shadow"})"));
  CHECK(was_in(shadow, State::overloaded, Reason::event_loop_lag));
  CHECK(shadow.classes[2].success == 1);
  CHECK(run(scenario_of(members)).classes[2].success < 0.9);
}

TEST_CASE("shadow mode sees the overload that it does nothing against") {
  const std::string clients = R"("clients":[{"class":"P0","rate":200,"until_seconds":12},
                                            {"class":"P2","rate":1400,"until_seconds":12}])";
  const Scenario scenario = scenario_of(clients, R"(,"overload":{"mode":"shadow"})");
  const Recording shadow = run(scenario), off = run(scenario, false);
  CHECK_FALSE(shadow.changes.empty());
  CHECK(shadow.seconds[8].state == State::overloaded);
  // Everything goes to the backend at once, as it would without Spillway.
  for (std::size_t s = 0; s < shadow.seconds.size(); ++s) {
    CHECK(shadow.seconds[s].queued == off.seconds[s].queued);
    CHECK(shadow.seconds[s].classes[2].served == off.seconds[s].classes[2].served);
  }
}

TEST_CASE("a ladder of stages is climbed and left step by step") {
  const Recording recording = run(scenario_of(
      R"("clients":[{"class":"P1","rate":550,"until_seconds":6},
                    {"class":"P1","rate":1200,"from_seconds":6,"until_seconds":10},
                    {"class":"P1","rate":50,"from_seconds":10}])",
      R"(,"overload":{"cooldown_ms":1000,"stages":[
            {"name":"ELEVATED","enter":{"inflight_ratio":0.5},"exit":{"inflight_ratio":0.3}},
            {"name":"OVERLOADED","enter":{"inflight_ratio":0.95},"exit":{"inflight_ratio":0.6}}]})"));
  std::vector<State> states;
  for (const StateChange& change : recording.changes) states.push_back(change.to);
  CHECK(states ==
        std::vector<State>{State::elevated, State::overloaded, State::elevated, State::normal});
}

TEST_CASE("every discipline keeps the backend busy and the queue within its places") {
  for (const char* name : {"pq", "rr", "wrr", "drr", "wfq", "aging", "edf"}) {
    CAPTURE(name);
    Scenario scenario = scenario_of(
        kTwice, R"(,"dispatch":{"concurrency":16,"discipline":")" + std::string(name) + R"("})");
    const Recording recording = run(scenario);
    CHECK(recording.goodput > 0.97);
    CHECK(recording.max_queued <= 512 + 256 + 128);
    CHECK(recording.classes[0].success > 0.9);
  }
}

TEST_CASE("progress is told each second") {
  std::vector<std::uint32_t> told;
  Scenario scenario = scenario_of(R"("clients":[{"class":"P1","rate":10}])");
  simulate(scenario, true, [&](std::uint32_t seconds) { told.push_back(seconds); });
  REQUIRE(told.size() == 20);
  CHECK(told.front() == 1);
  CHECK(told.back() == 20);
}

}  // namespace spillway::simulate
