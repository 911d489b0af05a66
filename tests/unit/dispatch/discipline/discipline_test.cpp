// Each discipline's guarantees, on backlogged queues. Weighted fair queueing has its own file.
#include "dispatch/discipline/discipline.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "unit/dispatch/lines.hpp"

using namespace spillway;
using namespace spillway::dispatch;
using namespace std::chrono_literals;
using Kind = config::Discipline;

namespace {

constexpr ClassId kP0{0}, kP1{1}, kP2{2};

struct Served {
  std::array<double, 3> count{}, cost{};
};

// Of `turns` while all three classes, whose requests cost so much, stay backlogged.
Served serve_backlogged(Discipline& d, int turns, const std::array<double, 3>& costs = {1, 1, 1}) {
  Lines lines;
  for (const ClassId id : {kP0, kP1, kP2}) lines.fill(id, 5, costs[index(id)]);
  Served served;
  for (int i = 0; i < turns; ++i) {
    const std::size_t id = index(lines.serve_and_refill(d));
    served.count[id] += 1;
    served.cost[id] += costs[id];
  }
  return served;
}

std::string order(Discipline& d, Lines& lines, int turns) {
  std::string order;
  for (int i = 0; i < turns; ++i)
    order += static_cast<char>('0' + index(lines.serve(d).traffic_class));
  return order;
}

}  // namespace

TEST_CASE("strict priority serves the highest class that waits and only it") {
  const auto pq = discipline(Kind::pq, {1, 1, 100});
  Lines lines;
  lines.fill(kP2, 2);
  lines.fill(kP0, 2);
  lines.fill(kP1, 2);
  CHECK(order(*pq, lines, 6) == "001122");
  CHECK_FALSE(pq->shares_by_weight());
}

TEST_CASE("round robin serves one each whatever the weights and skips the empty") {
  const auto rr = discipline(Kind::rr, {8, 3, 1});
  Lines lines;
  lines.fill(kP0, 4);
  lines.fill(kP1, 1);
  lines.fill(kP2, 3);
  CHECK(order(*rr, lines, 8) == "01202020");
  const Served served = serve_backlogged(*rr, 9999);
  for (const double count : served.count) CHECK(count == 3333);
}

TEST_CASE("weighted round robin is within two percent of the weights over ten thousand turns") {
  const auto wrr = discipline(Kind::wrr, {8, 3, 1});
  const Served served = serve_backlogged(*wrr, 10000);
  const double weights[] = {8, 3, 1};
  for (std::size_t i = 0; i < 3; ++i)
    CHECK(served.count[i] == doctest::Approx(10000 * weights[i] / 12).epsilon(0.02));
}

TEST_CASE("weighted round robin spreads turns and gives no bursts of eight") {
  // As long as a class of weight 8 in 12 must have turns in a row when they are spread.
  const auto longest_run = [](Discipline& d) {
    Lines lines;
    for (const ClassId id : {kP0, kP1, kP2}) lines.fill(id, 5);
    int run = 0, longest = 0;
    for (int i = 0; i < 1200; ++i) {
      run = lines.serve_and_refill(d) == kP0 ? run + 1 : 0;
      longest = std::max(longest, run);
    }
    return longest;
  };
  CHECK(longest_run(*discipline(Kind::wrr, {8, 3, 1})) <= 4);
  CHECK(longest_run(*discipline(Kind::pq, {8, 3, 1})) == 1200);
  Lines lines;
  lines.fill(kP0, 6);
  lines.fill(kP1, 2);
  CHECK(order(*discipline(Kind::wrr, {3, 1}), lines, 8) == "00100010");
}

TEST_CASE("a class of weighted round robin that was idle saves nothing up") {
  const auto wrr = discipline(Kind::wrr, {1, 1});
  Lines lines;
  lines.fill(kP1, 1100);
  order(*wrr, lines, 1000);
  lines.fill(kP0, 100);
  const std::string mixed = order(*wrr, lines, 100);
  CHECK(std::count(mixed.begin(), mixed.end(), '0') == 50);
}

TEST_CASE("deficit round robin shares cost by weight where counting turns does not") {
  // P0's requests cost ten times P2's.
  const std::array<double, 3> costs{50, 20, 5};
  const auto part = [&](Kind kind, std::size_t i) {
    const auto d = discipline(kind, {2, 1, 1});
    const Served served = serve_backlogged(*d, 20000, costs);
    return served.cost[i] / (served.cost[0] + served.cost[1] + served.cost[2]);
  };
  CHECK(part(Kind::drr, 0) == doctest::Approx(0.5).epsilon(0.02));
  CHECK(part(Kind::drr, 1) == doctest::Approx(0.25).epsilon(0.02));
  CHECK(part(Kind::drr, 2) == doctest::Approx(0.25).epsilon(0.02));
  // Equal in count: P2's quarter of the turns is a twenty-fifth of the upstream's time.
  CHECK(part(Kind::wfq, 2) == doctest::Approx(0.04).epsilon(0.02));
}

TEST_CASE("deficit round robin with equal costs shares turns by weight without bursts") {
  const auto drr = discipline(Kind::drr, {8, 3, 1});
  const Served served = serve_backlogged(*drr, 12000);
  CHECK(served.count[0] == doctest::Approx(8000).epsilon(0.02));
  CHECK(served.count[2] == doctest::Approx(1000).epsilon(0.02));
  Lines lines;
  lines.fill(kP0, 9);
  lines.fill(kP1, 3);
  CHECK(order(*discipline(Kind::drr, {3, 1}), lines, 8) == "00010001");
}

TEST_CASE("one dear request passes after as much cheap work as its cost and then waits again") {
  const auto drr = discipline(Kind::drr, {1, 1});
  Lines lines;
  lines.fill(kP0, 1000, 1);
  lines.fill(kP1, 3, 300);
  const std::string turns = order(*drr, lines, 903);
  CHECK(turns.find('1') == 300);
  CHECK(turns.find('1', 301) == 601);
  CHECK(turns.find('1', 602) == 902);
}

TEST_CASE("what deficit round robin drops unserved earns its class nothing") {
  const auto drr = discipline(Kind::drr, {1, 1});
  Lines lines;
  lines.fill(kP0, 100, 1);
  lines.join(kP1, 1000).expires_at = lines.now;  // its time is over: the scheduler takes it out
  lines.fill(kP1, 100, 1);
  REQUIRE(drr->pick(lines.queues.backlogged(), lines.queues, lines.now) == kP1);
  lines.queues.remove(*lines.queues.next(kP1));
  const std::string mixed = order(*drr, lines, 100);
  CHECK(std::count(mixed.begin(), mixed.end(), '1') == 50);
}

TEST_CASE("earliest deadline first goes by the deadlines of the oldest") {
  const auto edf = discipline(Kind::edf, {8, 3, 1});
  Lines lines;
  const TimePoint now = lines.now;
  lines.join(kP0, 1, now + 50ms);
  lines.join(kP0, 1, now + 90ms);
  lines.join(kP1, 1, kNever);
  lines.join(kP2, 1, now + 40ms);
  lines.join(kP2, 1, now + 60ms);
  lines.join(kP2, 1, now + 90ms);
  CHECK(order(*edf, lines, 6) == "202021");  // on equal deadlines the higher class
  CHECK_FALSE(edf->shares_by_weight());
}

TEST_CASE("weights move what has weights") {
  for (const Kind kind : {Kind::wrr, Kind::drr, Kind::wfq}) {
    CAPTURE(index(kind));
    const auto d = discipline(kind, {8, 3, 1});
    CHECK(d->shares_by_weight());
    d->set_weight(kP0, 16 * 8);
    CHECK(d->weight(kP0) == 128);
    CHECK(serve_backlogged(*d, 13200).count[0] == doctest::Approx(12800).epsilon(0.02));
  }
}
