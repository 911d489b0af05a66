#include "bench/overload/result.hpp"

#include <doctest/doctest.h>

#include "bench/overload/calibration.hpp"
#include "tools/bench_overload/made_up.hpp"

using namespace spillway;
using namespace spillway::bench;
using namespace spillway::bench::test;

namespace {

// What each of ten tenants got of what it asked for; the last one asks for much more than the rest.
Result shared(int quiet_get, int noisy_gets) {
  Result result = result_of("noisy-tenant");
  for (std::uint8_t tenant = 1; tenant <= kNoisyTenant; ++tenant) {
    const load::Arrival arrival{.at = kFrom, .kind = 1, .phase = kMeasured, .tenant = tenant};
    const bool noisy = tenant == kNoisyTenant;
    const int gets = noisy ? noisy_gets : quiet_get;
    happen(result.tally, arrival, ok(), Milliseconds(20), gets);
    happen(result.tally, arrival, denied("TENANT_SHARE"), Milliseconds(1),
           (noisy ? 1000 : 50) - gets);
  }
  return result;
}

}  // namespace

TEST_CASE("tenants that get what they ask for and one that gets the rest are even") {
  CHECK(*jain(shared(50, 350)) == doctest::Approx(1));
}

TEST_CASE("a tenant that takes what others ask for is uneven") {
  CHECK(*jain(shared(20, 620)) < 0.85);
  CHECK(*jain(shared(0, 800)) < 0.11);  // one of ten has it all
  CHECK(*jain(shared(20, 620)) < *jain(shared(40, 440)));
}

TEST_CASE("without tenants there is no fairness to measure") {
  CHECK_FALSE(jain(result_of()).has_value());
}

TEST_CASE("goodput is what was answered by what the backend could have done") {
  Result result = result_of();
  happen(result.tally, {.at = kFrom, .kind = 0, .phase = kMeasured}, ok(), Milliseconds(20), 400);
  happen(result.tally, {.at = kFrom, .kind = 2, .phase = kMeasured}, gave_up(), Milliseconds(1000),
         400);
  CHECK(goodput_ratio(result, result.all()) == doctest::Approx(0.5));
  CHECK(goodput_ratio(result, result.tally.kind(2)) == 0);
  result.cell.phases[1].length = std::chrono::seconds(2);
  CHECK(goodput_ratio(result, result.all()) == doctest::Approx(0.25));
}

TEST_CASE("a late load and a late backend say nothing of the contender") {
  Result result = result_of();
  happen(result.tally, {.at = kFrom, .kind = 0, .phase = kMeasured}, ok(), Milliseconds(20), 400);
  CHECK(invalid(result) == "");
  result.backend_late_p99 = Milliseconds(6);
  CHECK(invalid(result).find("backend") != std::string::npos);
  CHECK(invalid(result, true) == "");
  result.backend_late_p99 = {};
  const load::Arrival arrival{.phase = kMeasured};
  for (int i = 0; i < 10; ++i) result.tally.sent({arrival, 1, {}}, Milliseconds(6));
  CHECK(invalid(result).find("load was sent late") != std::string::npos);
}

TEST_CASE(
    "a contender that only breaks connections has no figures but one that lets all wait has") {
  Result broken = result_of();
  const load::Ending refused{.fate = load::Fate::failed, .cause = "connect: refused"};
  happen(broken.tally, {.at = kFrom, .phase = kMeasured}, refused, Milliseconds(1), 400);
  CHECK(invalid(broken) == "nothing was answered, 400 x connect: refused");
  Result waiting = result_of();
  happen(waiting.tally, {.at = kFrom, .phase = kMeasured}, gave_up(), Milliseconds(1000), 400);
  CHECK(invalid(waiting) == "");
}

TEST_CASE("a machine that cannot keep up with a light load is told so") {
  Result result = result_of();
  happen(result.tally, {.at = kFrom, .kind = 0, .phase = kMeasured}, ok(), Milliseconds(20), 1000);
  result.stretch = 1.004;
  CHECK(judge(result).good);
  CHECK(judge(result).text.find("797 with slots") != std::string::npos);
  result.stretch = 1.1;
  CHECK_FALSE(judge(result).good);
  result.stretch = 1;
  happen(result.tally, {.at = kFrom, .kind = 0, .phase = kMeasured}, gave_up(), Milliseconds(1000),
         10);
  CHECK_FALSE(judge(result).good);
  result.failure = "it ended";
  CHECK_FALSE(judge(result).good);
}
