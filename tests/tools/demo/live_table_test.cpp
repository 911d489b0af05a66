#include "live_table.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>

#include "summary.hpp"

using namespace spillway;
using namespace spillway::demo;
using namespace spillway::load;

namespace {

CountsByKind some_counts() {
  CountsByKind counts;
  counts[0] = {.offered = 40, .ok = 40, .latencies = std::vector<Duration>(40, Milliseconds(21))};
  counts[1] = {.offered = 120, .ok = 60, .degraded = 36, .denied = 60, .latencies = {}};
  counts[1].latencies.assign(60, Milliseconds(30));
  counts[2] = {.offered = 240, .denied = 230, .failed = 10, .latencies = {}};
  return counts;
}

std::size_t columns(const std::string& line) {
  return static_cast<std::size_t>(std::count(line.begin(), line.end(), '|'));
}

}  // namespace

TEST_CASE("a row says per class what was offered and what became of it") {
  const ProxyView proxy{"OVERLOADED", "TAIL_LATENCY", 16, 25};
  const auto line =
      row(std::chrono::seconds(5), "spike", some_counts(), std::chrono::seconds(1), proxy, Paint{});
  CHECK(line ==
        "  5s spike    |    40 100    0    0    0     21/21 |   120  50   30   50    0     30/30 "
        "|   240   0    0   96   10         - | OVERLOADED  16   25 TAIL_LATENCY");
}

TEST_CASE("the rows line up with the heading") {
  const auto text = heading(Paint{});
  const auto titles = text.substr(0, text.find('\n'));
  const auto below = text.substr(text.find('\n') + 1);
  const auto line = row(std::chrono::seconds(100), "recovery", some_counts(),
                        std::chrono::seconds(1), std::nullopt, Paint{});
  REQUIRE(columns(titles) == 4);
  for (std::size_t at = titles.find('|'); at != std::string::npos; at = titles.find('|', at + 1)) {
    CHECK(below.at(at) == '|');
    CHECK(line.at(at) == '|');
  }
}

TEST_CASE("an offered rate is per second whatever the span") {
  CountsByKind counts;
  counts[0].offered = 10;
  const auto line = row(Milliseconds(200), "calm", counts, Milliseconds(200), std::nullopt, {});
  CHECK(line.find("|    50 ") != std::string::npos);
}

TEST_CASE("plain output has no escape codes and a terminal gets colours") {
  const auto plain = row(std::chrono::seconds(1), "spike", some_counts(), std::chrono::seconds(1),
                         std::nullopt, Paint{false});
  const auto coloured = row(std::chrono::seconds(1), "spike", some_counts(),
                            std::chrono::seconds(1), std::nullopt, Paint{true});
  CHECK(plain.find('\x1b') == std::string::npos);
  CHECK(coloured.find("\x1b[32m") != std::string::npos);
}

TEST_CASE("the summary shows the runs side by side with reasons and Retry-After") {
  const std::array<Phase, 1> phases{{{"spike", std::chrono::seconds(1), 100}}};
  Tally without(1);
  Tally with(1);
  const Arrival important{Duration::zero(), 0, 0};
  const Arrival export_request{Duration::zero(), 2, 0};
  without.ended(important, {Fate::failed, "timeout", std::nullopt}, std::chrono::seconds(1));
  with.ended(important, {Fate::ok, "", std::nullopt}, Milliseconds(22));
  with.ended(important, {Fate::ok, "", std::nullopt, "stale_ok"}, Milliseconds(22));
  with.ended(export_request, {Fate::denied, "QUEUE_WAIT_RISK", 6}, Milliseconds(1));
  with.ended(export_request, {Fate::deferred, "", 5}, Milliseconds(1));
  with.set_backlog({.deferred = 7, .done = 7, .empty_after = Milliseconds(1500)});
  const std::array<Run, 2> runs{{{"without Spillway", without}, {"with Spillway", with}}};
  const auto text = summary(runs, phases, Paint{});
  CAPTURE(text);
  CHECK(text.find("spike     P0           10 |    0.00       0       0       0       1     -     - "
                  "|  100.00       1       0       0       0    22    22") != std::string::npos);
  CHECK(text.find("P0 failed: 1 x timeout") != std::string::npos);
  CHECK(text.find("P0 degraded: 1 x stale_ok") != std::string::npos);
  CHECK(text.find("P2 denied: 1 x QUEUE_WAIT_RISK; Retry-After 5-6 s") != std::string::npos);
  CHECK(text.find("P2           60 |    0.00       0       0       0       0     -     - "
                  "|    0.00       0       1       1       0     -     -") != std::string::npos);
  CHECK(text.find("deferred: 7 written down, 7 of them done; nothing was left 1.5 s after") !=
        std::string::npos);
}
