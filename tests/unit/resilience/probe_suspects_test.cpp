#include "resilience/probe_suspects.hpp"

#include <doctest/doctest.h>

#include <cstdint>

#include "base/random.hpp"
#include "resilience/circuit_breaker.hpp"

namespace spillway::resilience {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr TimePoint kStart{seconds(1000)};
constexpr FailureSource kBad{1, 500};  // what fails whatever the server's state

// Opens after three failures in a row, for one second without jitter, closes after two successes.
CircuitBreakerLimits limits(std::uint32_t probes = 1) {
  return {.consecutive_failures = 3,
          .failure_rate = 0,
          .window = seconds(10),
          .probes = probes,
          .successes_to_close = 2,
          .open_for = {.base = seconds(1), .cap = seconds(8), .jitter = 0}};
}

// A circuit that was opened, at the moment from which it lets a probe through.
struct HalfOpen {
  CircuitBreaker circuit;
  TimePoint now = kStart;
  Random random{1};

  explicit HalfOpen(std::uint32_t probes = 1) : circuit(limits(probes)) {
    for (int i = 0; i < 3; ++i)
      circuit.record(circuit.allow(now), CallResult::failure, now, random);
    REQUIRE(state() == CircuitState::open);
    now += seconds(1);
  }

  CircuitState state() const { return circuit.state(); }
  // Whether it was allowed, as the circuit foretold.
  bool call(const FailureSource& source, bool well) {
    const bool foretold = circuit.allowed_from(&source) <= now;
    const CircuitBreaker::Call call = circuit.allow(now, &source);
    CHECK(call.allowed == foretold);
    circuit.record(call, well ? CallResult::success : CallResult::failure, now, random, &source);
    return call.allowed;
  }
  bool fail(const FailureSource& source) { return call(source, false); }
  bool succeed(const FailureSource& source) { return call(source, true); }
};

}  // namespace

TEST_CASE("a suspect is known by its client and by its path, each until it succeeds") {
  ProbeSuspects suspects;
  CHECK(suspects.empty());
  suspects.failed({1, 10});
  CHECK(suspects.has({1, 11}));
  CHECK(suspects.has({2, 10}));
  CHECK_FALSE(suspects.has({2, 11}));
  suspects.succeeded({2, 10});
  CHECK_FALSE(suspects.has({3, 10}));
  CHECK(suspects.has({1, 10}));
  suspects.succeeded({1, 11});
  CHECK_FALSE(suspects.has({1, 10}));
  suspects.failed({1, 10});
  CHECK(suspects.has({1, 12}));
}

TEST_CASE("what has failed stays dependent, whatever succeeded since") {
  ProbeSuspects suspects;
  suspects.failed({1, 10});
  suspects.succeeded({1, 10});
  CHECK_FALSE(suspects.is_independent({1, 11}));
  CHECK_FALSE(suspects.is_independent({2, 10}));
  CHECK(suspects.is_independent({2, 11}));
}

TEST_CASE("the last eight failures are remembered") {
  ProbeSuspects suspects;
  for (std::uint64_t i = 0; i < 9; ++i) suspects.failed({i, 100 + i});
  CHECK_FALSE(suspects.has({0, 100}));
  for (std::uint64_t i = 1; i < 9; ++i) CHECK(suspects.has({i, 200}));
  suspects.clear();
  CHECK(suspects.empty());
  CHECK_FALSE(suspects.has({8, 108}));
}

TEST_CASE("a half-open circuit opens at once when there is no connection") {
  HalfOpen line;
  const CircuitBreaker::Call call = line.circuit.allow(line.now, &kBad);
  line.circuit.record(call, CallResult::failure, line.now, line.random);
  CHECK(line.state() == CircuitState::open);
  CHECK(line.circuit.probe_at() == line.now + seconds(2));
}

TEST_CASE("it opens at the second failed response that shares neither client nor path") {
  HalfOpen line;
  CHECK(line.fail(kBad));
  CHECK(line.state() == CircuitState::half_open);
  CHECK(line.fail({2, 20}));
  CHECK(line.state() == CircuitState::open);
  CHECK(line.circuit.probe_at() == line.now + seconds(2));
}

TEST_CASE("others go before a client or a path that failed, and close the circuit") {
  HalfOpen line;
  CHECK_FALSE(line.circuit.judges_probes());
  CHECK(line.fail(kBad));
  CHECK(line.circuit.judges_probes());
  line.now += milliseconds(999);
  for (const FailureSource& suspect : {kBad, FailureSource{1, 20}, FailureSource{2, 500}}) {
    CHECK_FALSE(line.succeed(suspect));
    CHECK(line.circuit.allowed_from(&suspect) == line.now + milliseconds(1));
  }
  CHECK(line.succeed({2, 20}));
  CHECK(line.state() == CircuitState::half_open);
  CHECK(line.succeed({3, 20}));
  CHECK(line.state() == CircuitState::closed);
}

TEST_CASE("a suspect is let through again after the time for which the circuit was open") {
  HalfOpen line;
  CHECK(line.fail(kBad));
  line.now += seconds(1);
  SUBCASE("and if it fails alone it is the only traffic there is") {
    CHECK(line.fail({1, 20}));
    CHECK(line.state() == CircuitState::open);
    CHECK(line.circuit.probe_at() == line.now + seconds(2));
    line.now += seconds(2);
    CHECK(line.fail(kBad));
    CHECK(line.state() == CircuitState::half_open);  // the suspects before are forgotten
    line.now += milliseconds(1999);
    CHECK_FALSE(line.fail(kBad));
    line.now += milliseconds(1);
    CHECK(line.fail(kBad));
    CHECK(line.state() == CircuitState::open);
    CHECK(line.circuit.probe_at() == line.now + seconds(4));
  }
  SUBCASE("and if another has succeeded meanwhile it waits once more") {
    CHECK(line.succeed({2, 20}));
    CHECK(line.fail(kBad));
    CHECK(line.state() == CircuitState::half_open);
    CHECK_FALSE(line.fail(kBad));
    SUBCASE("until nobody else has") {
      line.now += seconds(1);
      CHECK(line.fail(kBad));
      CHECK(line.state() == CircuitState::open);
    }
    SUBCASE("and does not undo that success") {
      CHECK(line.succeed({2, 20}));
      CHECK(line.state() == CircuitState::closed);
    }
  }
  SUBCASE("and if it succeeds it is none any more") {
    CHECK(line.succeed(kBad));
    CHECK(line.state() == CircuitState::half_open);
    CHECK(line.succeed(kBad));
    CHECK(line.state() == CircuitState::closed);
  }
}

TEST_CASE("the first failure undoes the successes before it") {
  HalfOpen line;
  CHECK(line.succeed({2, 20}));
  CHECK(line.fail(kBad));
  CHECK(line.succeed({2, 20}));
  CHECK(line.state() == CircuitState::half_open);
}

TEST_CASE("probes of one client that run at the same time fail as one") {
  HalfOpen line(3);
  const FailureSource other{1, 501};
  const CircuitBreaker::Call first = line.circuit.allow(line.now, &kBad);
  const CircuitBreaker::Call second = line.circuit.allow(line.now, &other);
  REQUIRE(first);
  REQUIRE(second);
  line.circuit.record(first, CallResult::failure, line.now, line.random, &kBad);
  line.circuit.record(second, CallResult::failure, line.now, line.random, &other);
  CHECK(line.state() == CircuitState::half_open);
}

TEST_CASE("a client that succeeds on one path and fails on others opens no circuit again") {
  HalfOpen line;
  CHECK(line.fail({1, 500}));
  line.now += seconds(1);
  CHECK(line.succeed({1, 10}));
  CHECK(line.fail({1, 501}));
  CHECK(line.state() == CircuitState::half_open);
}

TEST_CASE("for a window after it closed a circuit does not count what was suspect to the end") {
  HalfOpen line;
  CHECK(line.fail(kBad));
  CHECK(line.succeed({2, 20}));
  CHECK(line.succeed({2, 20}));
  REQUIRE(line.state() == CircuitState::closed);
  SUBCASE("but after that") {
    line.now += milliseconds(9'999);
    for (int i = 0; i < 10; ++i) CHECK(line.fail(kBad));
    CHECK(line.state() == CircuitState::closed);
    line.now += milliseconds(1);
    for (int i = 0; i < 3; ++i) CHECK(line.fail(kBad));
    CHECK(line.state() == CircuitState::open);
  }
  SUBCASE("but others'") {
    CHECK(line.fail({2, 20}));
    CHECK(line.fail({3, 30}));
    CHECK(line.fail({4, 40}));
    CHECK(line.state() == CircuitState::open);
  }
  SUBCASE("but where there is no response") {
    for (int i = 0; i < 3; ++i)
      line.circuit.record(line.circuit.allow(line.now), CallResult::failure, line.now, line.random);
    CHECK(line.state() == CircuitState::open);
  }
  SUBCASE("but of a suspect that succeeded since") {
    CHECK(line.succeed(kBad));
    for (int i = 0; i < 3; ++i) CHECK(line.fail(kBad));
    CHECK(line.state() == CircuitState::open);
  }
}

namespace {

// A server for whom a client asks `bad` times as often as all others together; it gets a 500 for
// each request, while the server itself is dead for the first 20 seconds of two minutes.
struct Outcome {
  double others_served = 0;  // share of their requests after that
  int calls_while_dead = 0;
};

enum class Dead { refuses_connections, answers_500 };

Outcome two_minutes(int bad, bool knows_sources, Dead dead) {
  CircuitBreaker circuit{
      CircuitBreakerLimits{.open_for = {.base = seconds(1), .cap = seconds(30)}}};
  Random random(5);
  Outcome outcome;
  int asked = 0, served = 0;
  for (int i = 0; i < 24'000; ++i) {
    const TimePoint now = kStart + i * milliseconds(5);
    const bool is_dead = now < kStart + seconds(20);
    const bool is_bad = random.next() % std::uint64_t(bad + 1) != 0;
    const FailureSource source =
        is_bad ? kBad : FailureSource{100 + random.next() % 50, 1 + random.next() % 10};
    const FailureSource* known = knows_sources ? &source : nullptr;
    const CircuitBreaker::Call call = circuit.allow(now, known);
    const bool is_served = call.allowed && !is_dead && !is_bad;
    if (is_dead && dead == Dead::refuses_connections) known = nullptr;
    circuit.record(call, is_served ? CallResult::success : CallResult::failure, now, random, known);
    if (is_dead) outcome.calls_while_dead += call.allowed;
    if (is_dead || is_bad) continue;
    ++asked;
    served += is_served;
  }
  outcome.others_served = double(served) / asked;
  return outcome;
}

}  // namespace

TEST_CASE("a client that asks only for what fails does not keep a circuit open for others") {
  for (const Dead dead : {Dead::refuses_connections, Dead::answers_500}) {
    for (const int bad : {1, 3, 9, 30}) {
      CAPTURE(bad);
      const Outcome judged = two_minutes(bad, true, dead);
      CHECK(judged.others_served >
            0.8);  // the circuit may be open for 16 s of the 100 when it heals
      CHECK(two_minutes(bad, false, dead).others_served < 0.5);
    }
  }
}

TEST_CASE("a dead server is asked no more often than before") {
  const int judged = two_minutes(9, true, Dead::refuses_connections).calls_while_dead;
  CHECK(judged == two_minutes(9, false, Dead::refuses_connections).calls_while_dead);
  CHECK(judged <= 5 + 5);  // after 1 + 2 + 4 + 8 seconds
  // Responses of 500 to several clients need two, one of a suspect again after a while.
  CHECK(two_minutes(9, true, Dead::answers_500).calls_while_dead <= 2 * judged);
}

}  // namespace spillway::resilience
