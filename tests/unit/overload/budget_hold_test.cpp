#include "overload/budget_hold.hpp"

#include <doctest/doctest.h>

using namespace spillway;
using namespace spillway::overload;
using namespace std::chrono_literals;

namespace {

// An upstream that can do 400 requests a second, of which 600 are offered.
class Loop {
 public:
  void run(Duration time, const BudgetHold::Input& input, double offered = 600,
           double completed = 400) {
    OverloadSignals signals;
    signals.offered_rate = offered;
    signals.completed_rate = completed;
    for (const TimePoint end = now_ + time; now_ < end; now_ += 100ms) {
      refused_ += input.refused;
      hold_.step(signals, {refused_, input.is_normal, input.is_alarming}, now_);
    }
  }
  bool holds() const { return hold_.is_holding(); }

 private:
  BudgetHold hold_{config::Overload{}};
  std::uint64_t refused_ = 0;
  TimePoint now_{};
};

constexpr BudgetHold::Input kNormal{.refused = 0, .is_normal = true, .is_alarming = false};
constexpr BudgetHold::Input kBreach{.refused = 0, .is_normal = true, .is_alarming = true};
constexpr BudgetHold::Input kAlarming{.refused = 40, .is_normal = false, .is_alarming = true};
constexpr BudgetHold::Input kRefusing{.refused = 40, .is_normal = false, .is_alarming = false};
constexpr BudgetHold::Input kIdle{.refused = 0, .is_normal = false, .is_alarming = false};

}  // namespace

TEST_CASE("a state lasts while budgets refuse what would bring it back") {
  Loop loop;
  loop.run(200ms, kBreach);
  loop.run(3s, kAlarming);
  CHECK(loop.holds());
  loop.run(30s, kRefusing, 600, 220);
  CHECK(loop.holds());
}

TEST_CASE("it may end when less is offered than the upstream did, or no budget refuses") {
  Loop less;
  less.run(200ms, kBreach);
  less.run(3s, kAlarming);
  less.run(1s, kRefusing, 350, 220);
  CHECK_FALSE(less.holds());
  less.run(1s, kRefusing, 370, 220);
  CHECK(less.holds());
  Loop none;
  none.run(200ms, kBreach);
  none.run(3s, kAlarming);
  none.run(1100ms, kIdle);
  CHECK_FALSE(none.holds());
}

TEST_CASE("no budget holds a state that is not there") {
  Loop loop;
  loop.run(10s, {.refused = 40, .is_normal = true, .is_alarming = false});
  CHECK_FALSE(loop.holds());
}

TEST_CASE("after a minute the state may end, for the upstream may do more by now") {
  Loop loop;
  loop.run(200ms, kBreach);
  loop.run(3s, kAlarming);
  loop.run(59s, kRefusing, 600, 220);
  CHECK(loop.holds());
  loop.run(2s, kRefusing, 600, 220);
  CHECK_FALSE(loop.holds());

  SUBCASE("it comes back: after two the next time") {
    loop.run(1s, kNormal);
    loop.run(200ms, kBreach);
    loop.run(1s, kAlarming);
    loop.run(119s, kRefusing, 600, 220);
    CHECK(loop.holds());
    loop.run(2s, kRefusing, 600, 220);
    CHECK_FALSE(loop.holds());
  }
  SUBCASE("it stays away: after one again") {
    loop.run(2min, kNormal);
    loop.run(200ms, kBreach);
    loop.run(1s, kAlarming);
    loop.run(59s, kRefusing, 600, 220);
    CHECK(loop.holds());
    loop.run(2s, kRefusing, 600, 220);
    CHECK_FALSE(loop.holds());
  }
}

TEST_CASE("a new configuration goes on with what was seen, and counts its refusals anew") {
  BudgetHold former{config::Overload{}};
  OverloadSignals signals;
  signals.offered_rate = 600;
  signals.completed_rate = 400;
  former.step(signals, {0, true, true}, TimePoint{});
  former.step(signals, {1000, false, false}, TimePoint{} + 100ms);
  CHECK(former.is_holding());
  BudgetHold next{config::Overload{}};
  next.continue_from(former);
  CHECK(next.is_holding());
  next.step(signals, {5, false, false}, TimePoint{} + 200ms);
  CHECK(next.is_holding());
  next.step(signals, {5, false, false}, TimePoint{} + 2s);
  CHECK_FALSE(next.is_holding());
}
