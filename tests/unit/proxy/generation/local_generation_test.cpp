#include "proxy/generation/local_generation.hpp"

#include <doctest/doctest.h>
#include <spdlog/sinks/null_sink.h>

#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "config/file/load.hpp"

namespace spillway::proxy {
namespace {

using nlohmann::json;
using namespace std::chrono_literals;

json route(const char* name, const char* path, const char* upstream) {
  return {{"name", name}, {"match", {{"path", path}}}, {"class", "P1"}, {"upstream", upstream}};
}

// A worker's part of a generation with two upstreams and these routes.
struct Part {
  explicit Part(const json& routes) {
    const auto upstream = [](const char* name) {
      return json{{"name", name}, {"servers", {"127.0.0.1:1"}}};
    };
    const json all = {{"upstreams", {upstream("app"), upstream("search")}}, {"routes", routes}};
    config::LoadResult loaded = config::load_text(all.dump(), "test.json");
    REQUIRE(loaded.config);
    ReadConfiguration read = resolve_servers(*std::move(loaded.config));
    REQUIRE(read.config);
    const ProcessContext process{.workers = {std::make_shared<observe::WorkerGauges>()}};
    auto shared =
        std::make_shared<Generation>(*std::move(read.config), std::move(read.endpoints), process);
    Plans plans;
    for (const Upstream& each : shared->upstreams) plans.push_back(each.controller.plan());
    const LocalGeneration::Home home{0, loop, random, log};
    generation = new LocalGeneration(std::move(shared), home, plans);
  }

  EventLoop loop;
  Random random{1};
  observe::Log log{config::Log{}, std::make_shared<spdlog::sinks::null_sink_mt>()};
  LocalGenerationPtr generation;
};

}  // namespace

TEST_CASE("a reload keeps what was learned at low load of the routes that stay") {
  const Part former({route("same", "/a/**", "app"), route("moved", "/b/**", "app"),
                     route("changed", "/c/**", "app"), route("gone", "/d/**", "app")});
  for (std::uint32_t r = 0; r < 4; ++r) {
    for (int i = 0; i < 64; ++i)
      former.generation->quiet_latency.learn(RouteId(r), 10ms * (r + 1), Clock::now());
  }
  const Part next({route("new", "/e/**", "app"), route("same", "/a/**", "app"),
                   route("moved", "/b/**", "search"), route("changed", "/f/**", "app")});
  next.generation->continue_from(*former.generation);
  const dispatch::QuietLatency& known = next.generation->quiet_latency;
  CHECK_FALSE(known.relative(RouteId(0), 20ms));
  REQUIRE(known.relative(RouteId(1), 20ms));
  CHECK(*known.relative(RouteId(1), 20ms) == doctest::Approx(2));
  CHECK_FALSE(known.relative(RouteId(2), 20ms));  // to another upstream
  CHECK_FALSE(known.relative(RouteId(3), 20ms));  // other requests
}

}  // namespace spillway::proxy
