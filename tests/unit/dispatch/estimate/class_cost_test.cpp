// What a client can do to the cost by which a route has its class.
#include "dispatch/estimate/class_cost.hpp"

#include <doctest/doctest.h>

using namespace spillway;
using namespace spillway::dispatch;
using namespace std::chrono_literals;

namespace {

constexpr RouteId kExport{1};

// A route below which some things are dear and others cheap.
struct Export {
  void ask(Duration held, int times, Duration apart) {
    for (int i = 0; i < times; ++i) {
      now += apart;
      cost.record(kExport, held, now);
    }
  }
  double value() const { return cost.of(kExport).value(); }

  TimePoint now = TimePoint(1h);
  ClassCost cost{2, 1000};
};

}  // namespace

TEST_CASE("a cost is known after twenty requests, as their mean, of each route by itself") {
  Export it;
  it.ask(10ms, 10, 1ms);
  it.ask(50ms, 9, 1ms);
  CHECK_FALSE(it.cost.of(kExport));
  it.ask(50ms, 1, 1ms);
  CHECK(it.value() == doctest::Approx(30));
  CHECK_FALSE(it.cost.of(RouteId{0}));
}

TEST_CASE("quick requests by thousands make no dear route cheap") {
  Export it;
  it.ask(900ms, 64, 1s);
  it.ask(1ms, 10000, 1ms);  // ten seconds
  CHECK(it.value() > 860);
  // A dear one each five seconds is enough, and without one it is cheap in the end.
  for (int i = 0; i < 200; ++i) {
    it.ask(1ms, 500, 10ms);
    it.ask(900ms, 1, 0s);
  }
  CHECK(it.value() > 400);
}

TEST_CASE("a stall of the upstream makes a route dear, and minutes later it is what it was") {
  Export it;
  it.ask(10ms, 64, 1s);
  it.ask(1s, 64, 1ms);
  CHECK(it.value() > 600);
  CHECK(it.value() < 700);
  it.ask(10ms, 300, 1s);
  CHECK(it.value() < 270);
  it.ask(10ms, 1500, 1s);
  CHECK(it.value() < 20);
}

TEST_CASE("a route that has become quick is so after minutes") {
  Export it;
  it.ask(900ms, 64, 1s);
  it.ask(1ms, 300, 1s);
  CHECK(it.value() == doctest::Approx(900 / 2.718).epsilon(0.05));
  it.ask(1ms, 1500, 1s);
  CHECK(it.value() < 10);
}

TEST_CASE("a rare request that is cheap weighs no more than a dear one") {
  Export it;
  it.ask(640ms, 64, 1s);
  it.now += 24h;
  it.ask(0ms, 1, 0s);
  CHECK(it.value() == doctest::Approx(630));
  it.ask(1270ms, 1, 0s);  // more than the lowest class counts as that
  CHECK(it.value() == doctest::Approx(630 + 370.0 / 64));
}

TEST_CASE("a negative time counts as none") {
  Export it;
  it.ask(-5ms, 30, 1ms);
  CHECK(it.value() == 0);
}
