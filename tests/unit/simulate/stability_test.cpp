// How often the state changes, and that regulation does no harm, in every built-in scenario and
// after steps of the load. The negative controls: without hysteresis, and rules that refuse a fixed
// share (`"regulate": false`).
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "simulate/run/simulation.hpp"
#include "simulate/scenario/built_in.hpp"
#include "unit/simulate/scenarios.hpp"

namespace spillway::simulate {
namespace {

config::Overload& overload_of(Scenario& scenario) {
  return scenario.config.upstreams[index(scenario.upstream)].overload;
}

// Of 800 per second that can be done: `rate`, and meanwhile `more`.
Scenario stepped(double rate, double more = 0, int from = 0, int until = 0) {
  std::string clients;
  const auto add = [&](double times, const std::string& when) {
    for (const auto& [name, part] : {std::pair{"P0", 0.1}, {"P1", 0.3}, {"P2", 0.6}}) {
      clients += std::string(clients.empty() ? "" : ",") + R"({"class":")" + name +
                 R"(","timeout_ms":1000,"rate":)" + std::to_string(times * part) + when + "}";
    }
  };
  add(rate, "");
  if (more > 0) {
    add(more, R"(,"from_seconds":)" + std::to_string(from) + R"(,"until_seconds":)" +
                  std::to_string(until));
  }
  Scenario scenario = scenario_of(R"("clients":[)" + clients + "]");
  scenario.seconds = 60;
  return scenario;
}

struct Named {
  std::string name;
  Scenario scenario;
};

// Each has one step at most, or few that are minutes apart; except `bursty`, whose load itself goes
// up and down every few seconds.
std::vector<Named> steps() {
  std::vector<Named> all;
  for (const BuiltIn& one : built_in_scenarios()) {
    if (one.name != "bursty")
      all.push_back({std::string(one.name), open_good(std::string(one.name))});
  }
  Scenario unprotected = open_good("error-burst");
  for (config::Upstream& upstream : unprotected.config.upstreams)
    upstream.ejection.consecutive_failures = 0;
  all.push_back({"error-burst without ejection", std::move(unprotected)});
  all.push_back({"just below the capacity", stepped(780)});
  all.push_back({"twice the capacity for 30 s", stepped(480, 1120, 10, 40)});
  all.push_back({"four times the capacity for 2 s", stepped(480, 2720, 20, 22)});
  return all;
}

// The most transitions within one minute.
std::size_t busiest_minute(const Recording& run) {
  std::size_t most = 0;
  for (std::size_t i = 0, first = 0; i < run.changes.size(); ++i) {
    while (run.changes[i].at - run.changes[first].at > 60) ++first;
    most = std::max(most, i - first + 1);
  }
  return most;
}

std::string listing(const Recording& run) {
  std::string out;
  for (const StateChange& change : run.changes) {
    out += std::to_string(change.at) + " s: " + std::string(name(change.to)) + " " +
           std::string(name(change.reason)) + "\n";
  }
  return out;
}

void check_steady(const Named& one) {
  const Recording run = simulate(one.scenario, true);
  CHECK_MESSAGE(busiest_minute(run) <= 2, one.name, ", seed ", run.seed, "\n", listing(run));
}

// Answered in time, of all requests.
double answered(const Recording& run) {
  std::uint64_t offered = 0, served = 0;
  for (const ClassSummary& one : run.classes) {
    offered += one.counts.offered;
    served += one.counts.served;
  }
  return static_cast<double>(served) / static_cast<double>(std::max<std::uint64_t>(offered, 1));
}

std::string row(const std::string& what, const Recording& run) {
  char part[80];
  std::snprintf(part, sizeof part, "%-34s goodput %6.2f %%, answered %6.2f %%", what.c_str(),
                100 * run.goodput, 100 * answered(run));
  std::string out = part;
  for (const ClassSummary& one : run.classes) {
    std::snprintf(part, sizeof part, ", %s %6.2f %%", one.name.c_str(), 100 * one.success);
    out += part;
  }
  return out + ", " + std::to_string(run.changes.size()) + " transitions\n";
}

}  // namespace

TEST_CASE("after a step the state changes at most twice a minute") {
  for (Named& one : steps()) {
    one.scenario.seed = 1;
    check_steady(one);
  }
}

// By chance: the state begins, ends, and comes back. Queues of few places are full for a moment at
// any load.
TEST_CASE("near the capacity the state changes at most five times in two minutes") {
  for (const std::uint32_t places : {8u, 16u, 32u, 512u}) {
    for (const double load : {0.8, 0.85, 0.9}) {
      Scenario scenario = stepped(800 * load);
      for (config::TrafficClass& one : scenario.config.classes)
        one.max_queue = std::min(one.max_queue, places);
      scenario.seconds = 120;
      for (const std::uint64_t seed : {1u, 2u, 3u}) {
        scenario.seed = seed;
        const Recording run = simulate(scenario, true);
        CHECK_MESSAGE(run.changes.size() <= 5, places, " places, ", load, ", seed ", seed, "\n",
                      listing(run));
      }
    }
  }
}

TEST_CASE("with signals twice as late the state swings no more than that") {
  for (Named& one : steps()) {
    one.scenario.seed = 2;
    overload_of(one.scenario).tick *= 2;
    overload_of(one.scenario).window *= 2;
    check_steady(one);
  }
}

TEST_CASE("without hysteresis the state swings") {
  for (const char* name : {"lag", "budget", "cached-reads", "just below the capacity"}) {
    CAPTURE(name);
    for (Named& one : steps()) {
      if (one.name != name) continue;
      one.scenario.seed = 1;
      config::Overload& settings = overload_of(one.scenario);
      settings.exit = settings.enter;
      settings.cooldown = Milliseconds{0};
      CHECK(busiest_minute(simulate(one.scenario, true)) > 10);
    }
  }
}

// Two measures are not goodput's: in `cached-reads` most answers cost the backend nothing, and in
// `budget` less is served because the budget binds, which a state that swings lets pass.
TEST_CASE("regulation takes nothing from the highest class and from what is served in all") {
  std::string table;
  double gained = 0;
  for (Named& one : steps()) {
    one.scenario.seed = 1;
    const Recording on = simulate(one.scenario, true);
    overload_of(one.scenario).regulate = false;
    const Recording off = simulate(one.scenario, true);
    table += row(one.name, on) + row("  fixed shares", off);
    CHECK_MESSAGE(on.classes[0].success >= off.classes[0].success - 0.01, one.name, "\n", table);
    if (one.name == "cached-reads") {
      CHECK_MESSAGE(answered(on) >= answered(off) - 0.01, one.name, "\n", table);
    } else if (one.name != "budget") {
      CHECK_MESSAGE(on.goodput >= off.goodput - 0.01, one.name, "\n", table);
    }
    gained = std::max(gained, on.goodput - off.goodput);
  }
  CHECK_MESSAGE(gained > 0.2, table);  // it can be seen here, then, what a law loses
}

}  // namespace spillway::simulate
