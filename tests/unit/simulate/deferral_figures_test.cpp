// What table, summary, JSON and picture show of deferred requests.
#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <utility>

#include "simulate/report/json.hpp"
#include "simulate/report/plot.hpp"
#include "simulate/report/table.hpp"
#include "unit/simulate/recordings.hpp"
#include "unit/simulate/xml.hpp"

namespace spillway::simulate {
namespace {

// The spike of which what is denied to P2 is deferred, and done from 50 s on.
Recording deferring() {
  Recording run = made_up_spike(true);
  std::uint64_t deferred = 0;
  for (Second& second : run.seconds) {
    ClassCounts& counts = second.classes[2];
    deferred += counts.deferred = std::exchange(counts.denied, 0);
    second.jobs_pending = deferred;
  }
  run.classes[2].counts.deferred = std::exchange(run.classes[2].counts.denied, 0);
  run.jobs = JobsSummary{.deferred = deferred,
                         .done = deferred - 40,
                         .dead = 3,
                         .pending = 37,
                         .most_pending = deferred,
                         .most_pending_at = 50.2,
                         .longest = 41.5};
  run.seconds[58].jobs_done = deferred - 50;
  run.seconds[59].jobs_done = deferred - 40;
  run.seconds[59].jobs_pending = 37;
  return run;
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("a summary tells what became of deferred requests") {
  const Recording run = deferring();
  const std::string text = summary(run, nullptr);
  CHECK(has(text, "failed  deferred\n"));
  CHECK(has(text, "  still pending" + std::string(18, ' ') + "37\n"));
  CHECK(has(text, "  dead "));
  CHECK_FALSE(has(text, "\n  expired "));
  CHECK(has(text, "oldest waited" + std::string(16, ' ') + "41.5 s\n"));
  CHECK(has(text, "backlog empty at" + std::string(18, ' ') + "-\n"));
  CHECK(has(text, "with shedding"));
}

TEST_CASE("a comparison of two runs with shedding is one of deferral") {
  const Recording without = made_up_spike(true);
  const std::string text = summary(deferring(), &without);
  CHECK(has(text, "with deferral   without deferral\n"));
  CHECK(has(text, "class        deferral "));
  CHECK_FALSE(has(text, "shedding"));
  const Recording naked = made_up_spike(false);
  CHECK(has(summary(deferring(), &naked), "with shedding   without shedding\n"));
}

TEST_CASE("a run without deferral says nothing of it") {
  const Recording run = made_up_spike(true);
  CHECK_FALSE(has(summary(run, nullptr), "deferred"));
  CHECK_FALSE(has(to_json(run).dump(), "deferred"));
  CHECK_FALSE(has(to_json(run).dump(), "jobs"));
  CHECK_FALSE(has(plot(run, nullptr), "eferred"));
}

TEST_CASE("the table ends with the jobs that are pending") {
  const Recording run = deferring();
  const std::string with = line(59, run.seconds[59], true), without = line(59, run.seconds[59]);
  CHECK(with == without.substr(0, without.size() - 1) + " |      37\n");
  CHECK(header({"P0"}, true).size() == header({"P0"}).size() + 20);
  CHECK(has(header({"P0"}, true), " pending\n"));
  CHECK(compare_line(1, run.seconds[1], run.seconds[1], true).size() ==
        compare_line(1, run.seconds[1], run.seconds[1]).size() + 10);
  CHECK(compare_header({"P0"}, true).size() == compare_header({"P0"}).size() + 20);
}

TEST_CASE("JSON has the deferred requests of the run, of each class and of each second") {
  const Recording run = deferring();
  const auto json = to_json(run);
  CHECK(json["jobs"]["deferred"] == run.jobs->deferred);
  CHECK(json["jobs"]["pending"] == 37);
  CHECK(json["jobs"]["empty_at_ms"].is_null());
  CHECK(json["jobs"]["most_pending_at_ms"] == 50200.0);
  CHECK(json["jobs"]["longest_ms"] == 41500.0);
  CHECK(json["classes"][2]["deferred"] == run.classes[2].counts.deferred);
  CHECK(json["seconds"][59]["jobs_pending"] == 37);
  CHECK(json["seconds"][59]["jobs_done"] == 10);
  CHECK(json["seconds"][20]["classes"][2]["deferred"] == run.seconds[20].classes[2].deferred);
}

TEST_CASE("a picture of a run with deferral has its backlog") {
  const Recording without = made_up_spike(true);
  for (const std::string& picture : {plot(deferring(), nullptr), plot(deferring(), &without)}) {
    CHECK(malformed(picture) == "");
    CHECK(has(picture, ">Deferred and not done yet<"));
    CHECK(has(picture, ">deferred<"));
    CHECK(has(picture, ">done later<"));
  }
  CHECK(has(plot(deferring(), &without), ">Without deferral<"));
  CHECK_FALSE(has(plot(deferring(), &without), "hedding"));
  const Recording naked = made_up_spike(false);
  CHECK(has(plot(deferring(), &naked), ">Without shedding<"));
}

}  // namespace spillway::simulate
