// Short runs: whether the figures tell apart what is known to be good and bad.
#include "bench/grid/play.hpp"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "bench/grid/figures.hpp"
#include "bench/grid/fleet.hpp"

using namespace spillway;
using namespace spillway::grid;
using nlohmann::json;

namespace {

constexpr Times kShort{.warm_up = 4, .measured = 12};

json figures(const Cell& cell, const char* name) {
  return json::parse(result_line(play(cell, contender(name), 1, kShort), contender(name)));
}

json figures(const Fleet& fleet, const char* name) {
  return json::parse(fleet_line(fleet, contender(name), 1, kShort));
}

}  // namespace

TEST_CASE("the configuration of every contender is valid for every cell") {
  for (const Contender& one : contenders()) {
    for (const Cell& cell : sample(4, 1e18, {})) {
      CAPTURE(one.name);
      CAPTURE(name(cell));
      CHECK_NOTHROW(configuration(one, cell, alone(Cell{}).p95));
    }
  }
}

TEST_CASE("without any queue the answers take as long as the service does") {
  const Alone calm = alone({.service = Milliseconds{20}, .sigma = 0.5});
  CHECK(calm.answered == 1);
  CHECK(calm.useful == 1);
  CHECK(calm.p95 == doctest::Approx(0.0402).epsilon(0.02));
  CHECK(calm.p99 == doctest::Approx(0.0565).epsilon(0.02));
  const Alone wild = alone({.service = Milliseconds{200}, .sigma = 1});
  CHECK(wild.answered == doctest::Approx(0.982).epsilon(0.003));
  CHECK(wild.useful < 0.9);
}

TEST_CASE("a strict priority keeps what passing everything loses") {
  const Cell cell{.slots = 16, .load = 2};
  const json kept = figures(cell, "strict"), lost = figures(cell, "passthrough");
  CHECK(kept["saturated_useful"] > 0.97);
  CHECK(kept["success_P0"] > 0.999);
  CHECK(kept["success_P1"] > 0.98);
  CHECK(kept["idle_while_refused"] < 0.01);
  CHECK(kept["jain_P1"] > 0.98);
  CHECK(lost["saturated_useful"] < 0.1);
  CHECK(lost["success_P0"] < 0.1);
}

TEST_CASE("a number that is too low leaves slots idle while requests are refused") {
  const json low = figures({.slots = 16, .load = 4}, "strict-low");
  CHECK(low["idle_while_refused"] == doctest::Approx(0.75).epsilon(0.03));
  CHECK(low["saturated_useful"] == doctest::Approx(0.25).epsilon(0.05));
}

TEST_CASE("what a disturbance leaves behind is seen only where something stays behind") {
  const Cell cell{.shape = Shape::slow5, .slots = 16, .load = 0.7};
  CHECK(figures(cell, "strict")["lost_after_s"] < 1);
  CHECK(figures(cell, "passthrough")["lost_after_s"] > 3);
  CHECK_FALSE(figures({.load = 0.7}, "strict").contains("lost_after_s"));
}

TEST_CASE("the first class is judged by its demand at the worst moment") {
  CHECK(share_of_first_class({.load = 2}) == doctest::Approx(0.2));
  CHECK(share_of_first_class({.load = 10}) == doctest::Approx(0.7));
  CHECK(share_of_first_class({.shape = Shape::slow5, .load = 2}) == doctest::Approx(1));
  CHECK(share_of_first_class({.shape = Shape::cut, .slots = 256, .load = 2}) ==
        doctest::Approx(0.5).epsilon(0.02));
}

TEST_CASE("every shape offers the load it says, at the cost its clients have") {
  for (std::size_t i = 0; i < kShapes; ++i) {
    const Cell cell{.shape = static_cast<Shape>(i), .load = 2};
    CAPTURE(name(cell));
    const auto played = scenario(cell, 1, {});
    double work = 0;  // at the moment before the end
    for (const auto& clients : played.clients) {
      if (clients.until != 80) continue;
      work += clients.ramp_to.value_or(clients.rate) * clients.service_factor * 0.02 / 16;
    }
    CHECK(work == doctest::Approx(cell.shape == Shape::step ? 0.85 : 2));
  }
}

TEST_CASE("a fleet with true numbers shares evenly, and one of too large numbers does harm") {
  Fleet fleet{.cell = {.slots = 64, .load = 2}, .proxies = std::vector<Presence>(4)};
  const json good = figures(fleet, "true");
  CHECK(good["useful"] > 0.98);
  CHECK(good["success_P0"] > 0.999);
  CHECK(good["jain_proxies"] > 0.999);
  CHECK(good["limits_mean"] == 64);
  const json bad = figures(fleet, "aimd");
  CHECK(bad["p99_P0_ms"] > 2 * good["p99_P0_ms"].get<double>());
}

TEST_CASE("proxies that look for the limit find one together, unless their clocks are apart") {
  constexpr Times kLonger{.warm_up = 20, .measured = 20};
  Fleet fleet{.cell = {.slots = 64, .sigma = 0.5, .load = 2}, .proxies = std::vector<Presence>(4)};
  const auto played = [&] { return json::parse(fleet_line(fleet, contender("auto"), 1, kLonger)); };
  const json together = played();
  CHECK(together["useful"] > 0.97);
  CHECK(together["jain_proxies"] > 0.95);
  CHECK(together["limits_mean"] < 100);
  fleet.clocks_apart = Milliseconds{730};
  CHECK(played()["limits_mean"] > 200);
}

TEST_CASE("a proxy that left gets nothing, and one that joined takes its share") {
  Fleet fleet{.cell = {.slots = 64, .load = 1.2}, .proxies = std::vector<Presence>(3)};
  fleet.proxies[1].until = 8;
  fleet.proxies[2].from = 8;
  const FleetRun run = play(fleet, contender("true"), 1, kShort);
  CHECK(run.offered[0] == doctest::Approx(run.offered[1] + run.offered[2]).epsilon(0.05));
  CHECK(run.offered[2] == doctest::Approx(2 * run.offered[1]).epsilon(0.1));
  CHECK(run.seconds[6].limits[2] == 0);
  CHECK(run.seconds[10].limits[1] == 0);
}

TEST_CASE("a lost server gets no requests, and its survivor no more than its own slots") {
  Fleet fleet{.cell = {.slots = 32, .load = 0.7},
              .proxies = std::vector<Presence>(1),
              .servers = {{16, 1}, {16, 1}},
              .loses_server = true};
  const json figure = figures(fleet, "true");
  CHECK(figure["in_flight_2_during"] == 0);
  CHECK(figure["in_flight_1_during"] > 0.95);
  CHECK(figure["in_flight_1_during"] <= 1);
  CHECK(figure["most_1_during"] <= 1.3);  // until it is ejected
  CHECK(figure["in_flight_1"] == doctest::Approx(figure["in_flight_2"].get<double>()).epsilon(0.2));
}
