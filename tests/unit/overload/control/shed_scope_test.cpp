#include "overload/control/shed_scope.hpp"

#include <doctest/doctest.h>

#include <vector>

#include "config/defaults.hpp"

using namespace spillway;
using namespace spillway::overload;
using namespace std::chrono_literals;

namespace {

constexpr ClassId kP0{0}, kP1{1}, kP2{2};

class Scope {
 public:
  explicit Scope(bool regulate = true) : scope_(config(), upstream(regulate)) {}

  // Lets `time` pass in ticks of 100 ms. `turns`: requests of each class that get a slot in a tick;
  // `waits`: predicted for each class, in seconds.
  const ShedLevels& run(std::optional<double> load, std::vector<std::uint64_t> turns,
                        std::vector<double> waits, Duration time, bool is_normal = true,
                        bool budget_refused = false) {
    started_.resize(turns.size());
    for (const TimePoint end = now_ + time; now_ < end; now_ += 100ms) {
      for (std::size_t i = 0; i < turns.size(); ++i) started_[i] += turns[i];
      scope_.step(load, {started_, waits, is_normal, budget_refused, limit}, now_);
    }
    return scope_.levels();
  }
  const ShedScope& operator*() const { return scope_; }

  std::uint32_t limit = 64;

 private:
  static config::Config config() {
    config::Config config;
    config.classes = config::default_classes();
    config.classes[0].min_share = 0;
    config.classes[1].min_share = config.classes[2].min_share = 0.05;
    return config;
  }
  static config::Upstream upstream(bool regulate) {
    config::Upstream upstream;
    upstream.overload.regulate = regulate;
    return upstream;
  }

  TimePoint now_ = TimePoint{} + 1h;
  ShedScope scope_;
  std::vector<std::uint64_t> started_;
};

}  // namespace

TEST_CASE("no class is in scope while less is offered than the upstream can do") {
  Scope scope;
  CHECK(scope.run(0.95, {10, 30, 60}, {0, 0, 0.05}, 3s).in_scope == 0);
}

TEST_CASE("the lowest class is refused first, and those above it not") {
  Scope scope;
  const ShedLevels& levels = scope.run(1.5, {20, 50, 30}, {0, 0.01, 0.05}, 3s);
  CHECK((*scope).holds());
  CHECK(levels.includes(kP2));
  CHECK_FALSE(levels.includes(kP1));
  CHECK_FALSE(levels.includes(kP0));
  CHECK(levels.cut_of(kP2) == 0);
}

TEST_CASE("a class is refused once the one below it has no more than its guaranteed share") {
  Scope scope;
  const ShedLevels& levels = scope.run(4, {40, 55, 5}, {0, 0.2, 0.2}, 3s);
  CHECK(levels.includes(kP2));
  CHECK(levels.includes(kP1));
  CHECK_FALSE(levels.includes(kP0));
}

TEST_CASE("a class may not wait while one above it waits too long, until it has its share") {
  Scope scope;
  CHECK(scope.run(2, {20, 50, 30}, {0, 0.1, 0.05}, 1s).cut_of(kP2) ==
        doctest::Approx(0.5).epsilon(0.2));
  CHECK(scope.run(2, {20, 50, 30}, {0, 0.1, 0.05}, 2s).cut_of(kP2) == 1);
  CHECK(scope.run(2, {20, 75, 5}, {0, 0.1, 0.05}, 5s).cut_of(kP2) < 0.1);
  // And no longer once the higher one's wait is short.
  scope.run(2, {20, 50, 30}, {0, 0.1, 0.05}, 3s);
  CHECK(scope.run(2, {20, 50, 30}, {0, 0.01, 0.05}, 3s).cut_of(kP2) == 0);
}

TEST_CASE("while nothing is finished the lowest class is refused, and the state lasts") {
  Scope scope;
  const ShedLevels& levels = scope.run(std::nullopt, {0, 0, 0}, {1, 1, 1}, 1s);
  CHECK(levels.includes(kP2));
  CHECK_FALSE(levels.includes(kP1));
  CHECK((*scope).holds());
}

TEST_CASE("the load at which refusing ends is a little below the one at which it begins") {
  Scope scope;
  const auto lowest_at = [&](double load) {
    return scope.run(load, {10, 30, 60}, {0, 0, 0}, 1s).includes(kP2);
  };
  CHECK_FALSE(lowest_at(0.98));
  CHECK(lowest_at(1));
  CHECK(lowest_at(0.98));
  CHECK_FALSE(lowest_at(0.96));
  // A state lasts until there is some distance.
  CHECK((*scope).holds());
  lowest_at(0.89);
  CHECK_FALSE((*scope).holds());
}

TEST_CASE("budgets are in force while more is offered for some seconds") {
  Scope scope;
  const auto in_force = [&](std::optional<double> load, Duration time) {
    return scope.run(load, {10, 30, 60}, {0, 0, 0}, time).budgets;
  };
  CHECK_FALSE(in_force(0.95, 20s));
  CHECK_FALSE(in_force(1.1, 1s));  // by chance
  CHECK(in_force(1.1, 4s));
  CHECK(in_force(0.98, 20s));
  CHECK_FALSE(in_force(0.9, 100ms));  // refusing is over at once
  // A step is seen within some two seconds.
  CHECK_FALSE(in_force(0.5, 20s));
  CHECK(in_force(2, 2500ms));
  CHECK(in_force(std::nullopt, 100ms));
  CHECK_FALSE(in_force(0.9, 100ms));
  CHECK(in_force(std::nullopt, 100ms));
}

TEST_CASE("with regulate off every class is in scope") {
  Scope scope(false);
  const ShedLevels& levels = scope.run(0.5, {10, 30, 60}, {0, 1, 1}, 3s);
  CHECK(levels == ShedLevels{});
  CHECK_FALSE((*scope).holds());
}

// At 0.9 of the load the mean of two seconds reaches 0.95 by chance, again and again.
TEST_CASE("a state that comes back within a minute lasts for one, or until far less is offered") {
  const auto holds_at = [](Scope& scope, double load, bool is_normal, Duration time = 2s,
                           bool budget_refused = false) {
    scope.run(load, {10, 30, 40}, {0, 0, 0}, time, is_normal, budget_refused);
    return (*scope).holds();
  };
  Scope scope;
  holds_at(scope, 0.5, true);
  CHECK(holds_at(scope, 0.96, false));
  CHECK_FALSE(holds_at(scope, 0.85, false));
  holds_at(scope, 0.85, true, 50s);
  CHECK(holds_at(scope, 0.85, false, 50s));
  CHECK_FALSE(holds_at(scope, 0.45, false));
  CHECK_FALSE(holds_at(scope, 0.85, false, 10s));
  holds_at(scope, 0.85, true, 10s);
  CHECK(holds_at(scope, 0.85, false));
  // What a budget refuses may have room.
  CHECK_FALSE(holds_at(scope, 0.85, false, 1s, true));
  CHECK_FALSE(holds_at(scope, 0.85, false));
  holds_at(scope, 0.85, true, 61s);
  CHECK_FALSE(holds_at(scope, 0.85, false));
}

// As with "auto" at a start, when the first limit is too low.
TEST_CASE("a state that ends since the limit has grown does not make the next one a return") {
  const auto holds_after_limit = [](std::uint32_t grown) {
    Scope scope;
    const auto pass = [&](bool is_normal, Duration time) {
      scope.run(0.85, {10, 30, 40}, {0, 0, 0}, time, is_normal);
    };
    pass(true, 1s);
    pass(false, 2s);
    scope.limit = grown;
    pass(false, 2s);
    pass(true, 10s);
    pass(false, 2s);
    const bool holds = (*scope).holds();
    // It has not grown since then.
    pass(true, 10s);
    pass(false, 2s);
    CHECK((*scope).holds());
    return holds;
  };
  CHECK_FALSE(holds_after_limit(256));
  CHECK(holds_after_limit(72));
  CHECK(holds_after_limit(32));
}
