#include "resilience/circuit_breaker.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <vector>

namespace spillway::resilience {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr TimePoint kStart{seconds(1000)};

// Opens after three failures in a row, for one second without jitter, closes after two successes.
CircuitBreakerLimits limits() {
  return {.consecutive_failures = 3,
          .failure_rate = 0,
          .probes = 1,
          .successes_to_close = 2,
          .open_for = {.base = seconds(1), .cap = seconds(8), .jitter = 0}};
}

// A circuit and the time, one call after the other.
struct Line {
  CircuitBreaker circuit{limits()};
  TimePoint now = kStart;
  Random random{1};

  // Whether it was allowed, as the circuit foretold.
  bool call(CallResult result) {
    const bool foretold = circuit.allowed_from() <= now;
    const CircuitBreaker::Call call = circuit.allow(now);
    CHECK(call.allowed == foretold);
    if (call) circuit.record(call, result, now, random);
    return call.allowed;
  }
  bool fail() { return call(CallResult::failure); }
  bool succeed() { return call(CallResult::success); }
  void fail_times(int times) {
    for (int i = 0; i < times; ++i) CHECK(fail());
  }
};

}  // namespace

TEST_CASE("a circuit opens on failures in a row and refuses until its time is over") {
  Line line;
  line.fail_times(2);
  CHECK(line.succeed());
  line.fail_times(2);
  CHECK(line.circuit.state() == CircuitState::closed);
  line.fail_times(1);
  CHECK(line.circuit.state() == CircuitState::open);
  CHECK(line.circuit.probe_at() == kStart + seconds(1));
  line.now += milliseconds(999);
  CHECK_FALSE(line.succeed());
  CHECK(line.circuit.state() == CircuitState::open);
  line.now += milliseconds(1);
  CHECK(line.succeed());
  CHECK(line.circuit.state() == CircuitState::half_open);
  CHECK(line.succeed());
  CHECK(line.circuit.state() == CircuitState::closed);
}

TEST_CASE("a closed circuit forgets the failures from before it opened") {
  Line line;
  line.fail_times(3);
  line.now += seconds(1);
  CHECK(line.succeed());
  CHECK(line.succeed());
  line.fail_times(2);
  CHECK(line.circuit.state() == CircuitState::closed);
  line.fail_times(1);
  CHECK(line.circuit.state() == CircuitState::open);
}

TEST_CASE("a circuit opens on the failure rate of enough samples") {
  Line line;
  line.circuit = CircuitBreaker({.consecutive_failures = 0,
                                 .failure_rate = 0.5,
                                 .min_samples = 20,
                                 .window = seconds(10),
                                 .open_for = {}});
  SUBCASE("at the rate and the least number of samples") {
    for (int i = 0; i < 10; ++i) CHECK(line.fail());
    for (int i = 0; i < 9; ++i) CHECK(line.succeed());
    CHECK(line.circuit.state() == CircuitState::closed);
    CHECK(line.fail());
    CHECK(line.circuit.state() == CircuitState::open);
  }
  SUBCASE("not below the rate") {
    for (int i = 0; i < 300; ++i)
      CHECK(line.call(i % 5 < 3 ? CallResult::success : CallResult::failure));
    CHECK(line.circuit.state() == CircuitState::closed);
  }
  SUBCASE("not on failures that have left the window") {
    for (int i = 0; i < 15; ++i) CHECK(line.fail());
    line.now += seconds(11);
    for (int i = 0; i < 15; ++i) CHECK(line.succeed());
    for (int i = 0; i < 10; ++i) CHECK(line.fail());
    CHECK(line.circuit.state() == CircuitState::closed);
  }
  SUBCASE("not on calls that say nothing") {
    for (int i = 0; i < 100; ++i) CHECK(line.call(CallResult::ignored));
    for (int i = 0; i < 19; ++i) CHECK(line.fail());
    CHECK(line.circuit.state() == CircuitState::closed);
  }
}

TEST_CASE("a circuit without limits never opens") {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  for (const double rate : {0.0, kNan}) {
    Line line;
    line.circuit =
        CircuitBreaker({.consecutive_failures = 0, .failure_rate = rate, .open_for = {}});
    line.fail_times(1000);
    CHECK(line.circuit.state() == CircuitState::closed);
  }
}

TEST_CASE("it stays open longer each time it opens again and starts anew once it closed") {
  Line line;
  line.fail_times(3);
  for (const int expected : {1, 2, 4, 8, 8, 8}) {
    CHECK(line.circuit.probe_at() - line.now == seconds(expected));
    line.now = line.circuit.probe_at();
    line.fail_times(1);
  }
  line.now = line.circuit.probe_at();
  CHECK(line.succeed());
  CHECK(line.fail());  // after one of two successes
  CHECK(line.circuit.probe_at() - line.now == seconds(8));
  line.now = line.circuit.probe_at();
  CHECK(line.succeed());
  CHECK(line.circuit.state() == CircuitState::half_open);  // the success before no longer counts
  CHECK(line.succeed());
  CHECK(line.circuit.state() == CircuitState::closed);
  line.fail_times(3);
  CHECK(line.circuit.probe_at() - line.now == seconds(1));
}

TEST_CASE("no more probes run at a time than allowed") {
  Line line;
  CircuitBreakerLimits two = limits();
  two.probes = 2;
  two.successes_to_close = 3;
  line.circuit = CircuitBreaker(two);
  line.fail_times(3);
  line.now += hours(1);
  const CircuitBreaker::Call first = line.circuit.allow(line.now);
  const CircuitBreaker::Call second = line.circuit.allow(line.now);
  REQUIRE(first);
  REQUIRE(second);
  CHECK_FALSE(line.circuit.allow(line.now));
  line.circuit.record(first, CallResult::success, line.now, line.random);
  const CircuitBreaker::Call third = line.circuit.allow(line.now);
  CHECK(third);
  CHECK_FALSE(line.circuit.allow(line.now));
  SUBCASE("an ignored probe makes room for another and counts for nothing") {
    line.circuit.record(second, CallResult::ignored, line.now, line.random);
    line.circuit.record(third, CallResult::ignored, line.now, line.random);
    CHECK(line.succeed());
    CHECK(line.circuit.state() == CircuitState::half_open);
    CHECK(line.succeed());
    CHECK(line.circuit.state() == CircuitState::closed);
  }
  SUBCASE("a probe that is answered makes room for another before its result is known") {
    CircuitBreaker::Call answered = second;
    line.circuit.answered(answered);
    line.circuit.answered(answered);  // once only
    const CircuitBreaker::Call fourth = line.circuit.allow(line.now);
    CHECK(fourth);
    CHECK_FALSE(line.circuit.allow(line.now));
    line.circuit.record(third, CallResult::success, line.now, line.random);
    CHECK(line.circuit.state() == CircuitState::half_open);
    line.circuit.record(answered, CallResult::success, line.now, line.random);
    CHECK(line.circuit.state() == CircuitState::closed);
  }
  SUBCASE("an answered probe that fails after all opens again") {
    CircuitBreaker::Call answered = second;
    line.circuit.answered(answered);
    line.circuit.record(answered, CallResult::failure, line.now, line.random);
    CHECK(line.circuit.state() == CircuitState::open);
  }
  SUBCASE("the failure of one opens again and the others no longer count") {
    line.circuit.record(second, CallResult::failure, line.now, line.random);
    CHECK(line.circuit.state() == CircuitState::open);
    line.now = line.circuit.probe_at();
    CHECK(line.circuit.allow(line.now));
    line.circuit.record(third, CallResult::failure, line.now, line.random);
    CHECK(line.circuit.state() == CircuitState::half_open);
    CHECK(line.circuit.allow(line.now));
    CHECK_FALSE(line.circuit.allow(line.now));
  }
  SUBCASE("a probe that ends after the circuit closed no longer counts") {
    line.circuit.record(second, CallResult::success, line.now, line.random);
    const CircuitBreaker::Call fourth = line.circuit.allow(line.now);
    line.circuit.record(fourth, CallResult::success, line.now, line.random);
    REQUIRE(line.circuit.state() == CircuitState::closed);
    line.circuit.record(third, CallResult::failure, line.now, line.random);
    line.fail_times(2);
    CHECK(line.circuit.state() == CircuitState::closed);
  }
}

TEST_CASE("a late result from before the opening neither closes nor opens a circuit") {
  for (const CallResult late : {CallResult::success, CallResult::failure, CallResult::ignored}) {
    Line line;
    std::vector<CircuitBreaker::Call> slow;
    for (int i = 0; i < 10; ++i) slow.push_back(line.circuit.allow(line.now));
    line.fail_times(3);
    const TimePoint probe_at = line.circuit.probe_at();
    line.circuit.record(slow[0], late, line.now, line.random);
    line.circuit.record(slow[1], late, line.now, line.random);
    CHECK(line.circuit.state() == CircuitState::open);
    CHECK(line.circuit.probe_at() == probe_at);

    line.now = probe_at;
    const CircuitBreaker::Call probe = line.circuit.allow(line.now);
    REQUIRE(probe);
    for (int i = 2; i < 6; ++i) line.circuit.record(slow[i], late, line.now, line.random);
    CHECK(line.circuit.state() == CircuitState::half_open);
    CHECK_FALSE(line.circuit.allow(line.now));

    line.circuit.record(probe, CallResult::success, line.now, line.random);
    CHECK(line.succeed());
    REQUIRE(line.circuit.state() == CircuitState::closed);
    for (int i = 6; i < 10; ++i) line.circuit.record(slow[i], late, line.now, line.random);
    line.fail_times(2);
    CHECK(line.circuit.state() == CircuitState::closed);
  }
}

TEST_CASE("a call that was not allowed is not recorded") {
  Line line;
  for (int i = 0; i < 3; ++i) line.circuit.record({}, CallResult::failure, line.now, line.random);
  CHECK(line.circuit.state() == CircuitState::closed);
  line.fail_times(3);
  const CircuitBreaker::Call refused = line.circuit.allow(line.now);
  REQUIRE_FALSE(refused);
  line.now += seconds(1);
  CHECK(line.succeed());
  line.circuit.record(refused, CallResult::failure, line.now, line.random);
  CHECK(line.circuit.state() == CircuitState::half_open);
  CHECK(line.succeed());
  CHECK(line.circuit.state() == CircuitState::closed);
}

TEST_CASE("a dead backend is spared nearly all calls by a circuit and none without") {
  const auto calls_in_a_minute = [](CircuitBreakerLimits chosen) {
    Line line;
    line.circuit = CircuitBreaker(chosen);
    int calls = 0;
    for (int i = 0; i < 60'000; ++i) {
      line.now = kStart + milliseconds(i);
      calls += line.fail();
    }
    return calls;
  };
  CircuitBreakerLimits never = limits();
  never.consecutive_failures = 0;
  CHECK(calls_in_a_minute(never) == 60'000);
  CHECK(calls_in_a_minute(limits()) == 3 + 9);  // after 1 + 2 + 4 + 8 + ... seconds
}

TEST_CASE("zero probes and zero successes count as one and an endless open time never ends") {
  Line line;
  line.circuit = CircuitBreaker({.consecutive_failures = 1,
                                 .probes = 0,
                                 .successes_to_close = 0,
                                 .open_for = {.base = seconds(1), .jitter = 0}});
  line.fail_times(1);
  line.now += seconds(1);
  CHECK(line.succeed());
  CHECK(line.circuit.state() == CircuitState::closed);

  CircuitBreakerLimits forever = limits();
  forever.open_for = {.base = Duration::max(), .cap = Duration::max(), .jitter = 1};
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Line other;
    other.circuit = CircuitBreaker(forever);
    other.random = Random(seed);
    other.fail_times(3);
    CHECK(other.circuit.probe_at() > other.now);
  }
}

}  // namespace spillway::resilience
