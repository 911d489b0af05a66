#include "comparison.hpp"

#include <doctest/doctest.h>

#include <array>

using namespace spillway;
using namespace spillway::demo;

TEST_CASE("a comparison shows one phase with degraded shares and the sum of the classes") {
  const std::array<Phase, 2> phases{
      {{"calm", std::chrono::seconds(1), 10}, {"spike", std::chrono::seconds(1), 1000}}};
  Tally denying(2);
  Tally degrading(2);
  const Arrival calm{Duration::zero(), 1, 0};
  const Arrival search{Duration::zero(), 1, 1};
  const Arrival exporting{Duration::zero(), 2, 1};
  denying.ended(search, {Fate::denied, "QUEUE_FULL"}, Milliseconds(1));
  denying.ended(exporting, {Fate::denied, "QUEUE_FULL"}, Milliseconds(1));
  degrading.ended(calm, {Fate::failed, "timeout"}, Milliseconds(1000));
  degrading.ended(search, {Fate::ok, "", std::nullopt, "stale_ok"}, Milliseconds(2));
  degrading.ended(search, {Fate::ok, ""}, Milliseconds(40));
  degrading.ended(search, {Fate::ok, ""}, Milliseconds(40));
  degrading.ended(exporting, {Fate::denied, "QUEUE_FULL"}, Milliseconds(1));
  const std::array<Run, 2> runs{{{"denying", denying}, {"degrading", degrading}}};
  CHECK(comparison(runs, phases, 1, Paint{}) ==
        "              | denying                    | degrading                  \n"
        "class   req/s |    ok%  degr.%   p50   p99 |    ok%  degr.%   p50   p99 \n"
        "P0        100 |   0.00    0.00     -     - |   0.00    0.00     -     - \n"
        "P1        300 |   0.00    0.00     -     - | 100.00   33.33    40    40 \n"
        "P2        600 |   0.00    0.00     -     - |   0.00    0.00     -     - \n"
        "all      1000 |   0.00    0.00     -     - |  75.00   25.00    40    40 \n");
}
