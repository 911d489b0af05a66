// Cells with real processes over loopback. What they measure is for the benchmark to say, on a
// quiet machine; here the load may be late.
#include "bench/overload/play.hpp"

#include <doctest/doctest.h>

#include <stdlib.h>

#include <filesystem>
#include <stdexcept>
#include <string>

#include "support/places.hpp"

using namespace spillway;
using namespace spillway::bench;
namespace fs = std::filesystem;

namespace {

struct Folder {
  Folder() {
    REQUIRE(mkdtemp(path.data()) != nullptr);
    fs::permissions(path, fs::perms(0755));  // NGINX's workers are somebody else
  }
  ~Folder() { fs::remove_all(path); }
  std::string path = (fs::temp_directory_path() / "spillway-cell-XXXXXX").string();
};

Stage stage_in(const Folder& folder) {
  return {.programs = {.spillway = support::in_build("spillway"),
                       .nginx = "nginx",
                       .haproxy = "haproxy"},
          .configurations = support::in_source("bench/peers"),
          .work = folder.path,
          .pinned = false,
          .late_is_fine = true};
}

Result play_one(const Stage& stage, const std::string& scenario, const std::string& contender,
                double load, double seconds) {
  const auto cells = plan({.quick = true,
                           .scenarios = {scenario},
                           .loads = {load},
                           .contenders = {contender},
                           .repetitions = 1,
                           .seconds = seconds});
  REQUIRE(cells.size() == 1);
  return play(cells.front(), stage);
}

double share(const Result& result, std::size_t kind) {
  const Counts& counts = result.tally.kind(kind);
  return static_cast<double>(counts.succeeded) / static_cast<double>(counts.sent);
}

}  // namespace

TEST_CASE("a backend below its capacity answers nearly all, and to clients that still wait") {
  const Folder folder;
  const Result result = play_one(stage_in(folder), "capacity-known", "direct", 0.3, 1);
  CHECK(result.failure == "");
  CHECK(share(result, 0) > 0.9);
  CHECK(result.wasted_ratio < 0.1);
  CHECK(goodput_ratio(result, result.all()) == doctest::Approx(0.3).epsilon(0.3));
  CHECK(result.stretch >= 1);
  CHECK(to_milliseconds(result.mean_service) == doctest::Approx(20).epsilon(0.3));
}

TEST_CASE("a backend that is asked for far more works for clients already gone") {
  const Folder folder;
  const Result result = play_one(stage_in(folder), "capacity-known", "direct", 4, 1.5);
  CHECK(result.failure == "");
  CHECK(share(result, 2) < 0.5);
  CHECK(result.all().gave_up > 0);
  CHECK(result.wasted_ratio > 0.1);
}

TEST_CASE("every contender starts with its configuration and answers") {
  for (const std::string contender :
       {"nginx", "nginx-limit", "nginx-tuned", "nginx-tenants", "nginx-cache", "haproxy",
        "haproxy-tuned", "haproxy-tenants", "spillway"}) {
    CAPTURE(contender);
    const Folder folder;
    const Result result = play_one(stage_in(folder), "capacity-known", contender, 0.2, 0.5);
    CHECK(result.failure == "");
    CHECK(share(result, 0) > 0.8);
    CHECK(share(result, 2) > 0.8);
  }
}

TEST_CASE("of three times the load degrading answers far more reads than denying") {
  const auto reads_answered = [](const std::string& contender) {
    const Folder folder;
    const Result result = play_one(stage_in(folder), "cacheable-reads", contender, 3, 3);
    CHECK(result.failure == "");
    const Counts all = result.all();
    const Counts& p0 = result.tally.kind(0);
    CHECK((all.degraded > 0) == (contender == "spillway-degrading"));
    return static_cast<double>(all.succeeded - p0.succeeded) /
           static_cast<double>(all.sent - p0.sent);
  };
  const double denying = reads_answered("spillway-denying");
  const double degrading = reads_answered("spillway-degrading");
  CAPTURE(denying);
  CAPTURE(degrading);
  CHECK(degrading > denying + 0.1);
}

TEST_CASE(
    "a backend that loses slots for a while is told of it and the cell says when it was over") {
  const Folder folder;
  const Result result = play_one(stage_in(folder), "capacity-cut", "spillway", 0.6, 1.5);
  CHECK(result.failure == "");
  REQUIRE(result.recovery.has_value());
  CHECK(result.all().succeeded > 0);
}

TEST_CASE("a contender that does not start or has no configuration is a failure with its words") {
  const Folder folder;
  Stage stage = stage_in(folder);
  stage.programs.haproxy = "/bin/false";
  CHECK(play_one(stage, "capacity-known", "haproxy", 0.2, 0.5).failure.find("did not start") !=
        std::string::npos);
  stage.programs.spillway = "/bin/echo";
  CHECK(play_one(stage, "capacity-known", "spillway", 0.2, 0.5).failure.find("--config") !=
        std::string::npos);
  stage.configurations = folder.path + "/nowhere";
  CHECK_THROWS_AS(play_one(stage, "capacity-known", "spillway", 0.2, 0.5), std::runtime_error);
}

TEST_CASE("a cell that is told to stop stops and has no figures") {
  const Folder folder;
  Stage stage = stage_in(folder);
  stage.stopped = [] { return true; };
  const TimePoint start = Clock::now();
  const Result result = play_one(stage, "capacity-known", "direct", 0.2, 60);
  CHECK_FALSE(result.failure.empty());
  CHECK(Clock::now() - start < std::chrono::seconds(30));
}
