// What `"concurrency": "auto"` takes for a collapse is tried and taken back: what that costs each
// class beside a fixed number of 64, all of which the backend can do. 64 slots x 50 ms, seldom more
// than a tenth of them in use.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "simulate/run/simulation.hpp"
#include "unit/simulate/scenarios.hpp"

namespace spillway::simulate {
namespace {

struct Course {
  std::string what;
  double costs;         // of the success of any class, at most
  std::string clients;  // of 100 a second in the first minute
  std::string changes = "";
};

std::string of_class(const char* name, int rate, const std::string& more = "") {
  return std::string(R"({"class":")") + name + R"(","timeout_ms":10000,"rate":)" +
         std::to_string(rate) + more + "}";
}

std::string usual(int rate, const std::string& more = "") {
  return of_class("P0", rate / 5, more) + "," + of_class("P1", rate / 5 * 2, more) + "," +
         of_class("P2", rate / 5 * 2, more);
}

Recording play(const Course& course, const std::string& concurrency, std::uint64_t seed) {
  std::string text =
      R"({"name":"test","sentence":"A test.","seconds":180,"warm_up_seconds":55,)"
      R"("backend":{"slots":64,"service_ms":50,"sigma":0.3},"changes":[)" +
      course.changes + R"(],"clients":[)" + course.clients +
      R"(],"config":{"upstreams":[{"name":"app","servers":["h:1"],"dispatch":{"concurrency":)" +
      concurrency + "}}]}}";
  ScenarioResult result = read_scenario(text, "test.json", nullptr);
  REQUIRE_MESSAGE(result.scenario.has_value(), text, "\n", listing(result.problems));
  result.scenario->seed = seed;
  return simulate(*result.scenario, true);
}

const std::string kFirstMinute = R"(,"until_seconds":60)";
const std::string kThen = R"(,"from_seconds":60)";

}  // namespace

TEST_CASE("what looks like a collapse costs little of what the backend could have done") {
  const Course courses[]{
      {"a pause of a second, and from then on bursts", 0.005,
       usual(100, kFirstMinute) + "," +
           usual(20, R"(,"burst":{"on_ms":20,"off_ms":1000,"factor":50})" + kThen),
       R"({"at_seconds":60,"until_seconds":61,"speed":0.001})"},
      {"all of it ten times slower, which is 50 at work", 0.02, usual(100),
       R"({"at_seconds":60,"until_seconds":180,"speed":0.1})"},
      {"less, and long requests besides", 0.03,
       usual(100, kFirstMinute) + "," + usual(30, kThen) + "," +
           of_class("P1", 40, R"(,"service_factor":20)" + kThen)},
      {"less, and long requests whose clients leave at once", 0.3,
       usual(100, kFirstMinute) + "," + usual(30, kThen) + "," +
           R"({"class":"P2","timeout_ms":200,"rate":40,"service_factor":20)" + kThen + "}"}};
  for (const Course& course : courses) {
    for (const std::uint64_t seed : {1u, 2u}) {
      CAPTURE(course.what);
      CAPTURE(seed);
      const Recording found = play(course, "\"auto\"", seed);
      const Recording fixed = play(course, "64", seed);
      MESSAGE(course.what, ": goodput ", found.goodput, " (", fixed.goodput, "), P0 ",
              found.classes[0].success, " (", fixed.classes[0].success, "), P1 ",
              found.classes[1].success, " (", fixed.classes[1].success, "), P2 ",
              found.classes[2].success, " (", fixed.classes[2].success, ")");
      for (std::size_t c = 0; c < found.classes.size(); ++c)
        CHECK(found.classes[c].success >= fixed.classes[c].success - course.costs);
    }
  }
}

}  // namespace spillway::simulate
