// Many clients that ask for what fails, each from an address and at a path of its own, beside
// others that are served: no trouble of the server's. In closed loop with a circuit, on simulated
// time.
#include <doctest/doctest.h>

#include <cstdint>

#include "base/random.hpp"
#include "resilience/circuit_breaker.hpp"
#include "resilience/success_pace.hpp"
#include "resilience/well_sources.hpp"

namespace spillway::resilience {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr TimePoint kStart{seconds(1000)};

// 200 requests a second of 50 clients at ten paths, and bursts of ten that fail, all within a
// millisecond and each from a new source. `is_dead`: the server answers 500 to all.
class Site {
 public:
  explicit Site(std::uint64_t seed) : random_(seed) {}

  void run(Duration time) {
    for (const TimePoint end = now_ + time; now_ < end; now_ += milliseconds(1)) {
      if (bursts && now_.time_since_epoch() % milliseconds(250) == Duration{0})
        for (int n = 0; n < 10; ++n) ask(stranger(), false);
      if (random_.uniform() < 0.2) {
        ++asked;
        served += ask({100 + random_.next() % 50, 1 + random_.next() % 10}, !is_dead);
      }
    }
  }
  CircuitState state() const { return circuit_.state(); }
  TimePoint probe_at() const { return circuit_.probe_at(); }
  TimePoint now() const { return now_; }

  bool bursts = false, is_dead = false, knows_sources = true, are_of_one = false;
  int asked = 0, served = 0;

 private:
  FailureSource stranger() {
    if (are_of_one) return {7, 7};
    return {random_.next(), random_.next()};
  }

  // Whether it was served.
  bool ask(const FailureSource& source, bool well) {
    const FailureSource* known = knows_sources ? &source : nullptr;
    const CircuitBreaker::Call call = circuit_.allow(now_, known);
    circuit_.record(call, well ? CallResult::success : CallResult::failure, now_, random_, known);
    return call.allowed && well;
  }

  CircuitBreaker circuit_{
      CircuitBreakerLimits{.open_for = {.base = seconds(2), .cap = seconds(8)}}};
  TimePoint now_ = kStart;
  Random random_;
};

}  // namespace

TEST_CASE("bursts of failures of ever new sources open no circuit beside others that are served") {
  for (const std::uint64_t seed : {1, 2, 3}) {
    CAPTURE(seed);
    Site site(seed);
    site.run(seconds(5));
    site.bursts = true;
    site.run(minutes(5));
    CHECK(site.served > 0.99 * site.asked);

    Site blind(seed);  // no failure has a source, as if there were no connection
    blind.knows_sources = false;
    blind.run(seconds(5));
    blind.bursts = true;
    blind.run(minutes(5));
    CHECK(blind.served < 0.2 * blind.asked);
  }
}

TEST_CASE("one client whose requests get no response opens no circuit as long as it is known") {
  for (const bool knows_sources : {true, false}) {
    CAPTURE(knows_sources);
    Site site(1);
    site.knows_sources = knows_sources;
    site.are_of_one = true;
    site.run(seconds(5));
    site.bursts = true;
    site.run(minutes(5));
    if (knows_sources) CHECK(site.served == site.asked);
    if (!knows_sources) CHECK(site.served < 0.2 * site.asked);
  }
}

TEST_CASE("a server that answers nobody opens its circuit within a few mean gaps all the same") {
  for (const std::uint64_t seed : {1, 2, 3}) {
    for (const bool bursts : {false, true}) {
      CAPTURE(seed);
      CAPTURE(bursts);
      Site site(seed);
      site.bursts = bursts;
      site.run(seconds(5));
      REQUIRE(site.state() == CircuitState::closed);
      site.is_dead = true;
      site.run(milliseconds(400));  // the mean gap is 5 ms
      CHECK(site.state() == CircuitState::open);
    }
  }
}

TEST_CASE("sources that were answered well before go first when a circuit is half-open") {
  for (const std::uint64_t seed : {1, 2, 3}) {
    CAPTURE(seed);
    Site site(seed);
    site.run(seconds(5));
    site.is_dead = true;
    site.run(seconds(1));
    REQUIRE(site.state() == CircuitState::open);
    site.is_dead = false;
    site.bursts = true;
    site.run(site.probe_at() - site.now() + milliseconds(300));
    CHECK(site.state() == CircuitState::closed);
  }
}

TEST_CASE("a stranger is a probe where nobody was served before, and when the others do not come") {
  CircuitBreaker circuit{CircuitBreakerLimits{
      .failure_rate = 0, .open_for = {.base = seconds(1), .cap = seconds(1), .jitter = 0}}};
  Random random(1);
  const FailureSource known{1, 10}, stranger{2, 20}, at_known_path{3, 10};
  TimePoint now = kStart;
  const auto die = [&] {
    for (int n = 0; n < 5; ++n)
      circuit.record(circuit.allow(now), CallResult::failure, now, random);
    REQUIRE(circuit.state() == CircuitState::open);
  };
  die();
  CHECK_FALSE(circuit.judges_probes());
  CHECK(circuit.allowed_from(&stranger) == now + seconds(1));
  now += seconds(1);
  for (int n = 0; n < 3; ++n)
    circuit.record(circuit.allow(now, &known), CallResult::success, now, random, &known);
  REQUIRE(circuit.state() == CircuitState::closed);
  circuit.record(circuit.allow(now, &known), CallResult::success, now, random, &known);
  die();
  CHECK(circuit.judges_probes());
  CHECK(circuit.allowed_from(&known) == now + seconds(1));
  CHECK(circuit.allowed_from(&at_known_path) == now + seconds(1));
  CHECK(circuit.allowed_from(&stranger) == now + seconds(2));
  CHECK(circuit.allowed_from() == now + seconds(1));
  now += seconds(1);
  CHECK_FALSE(circuit.allow(now, &stranger));
  CHECK(circuit.state() == CircuitState::open);
  const CircuitBreaker::Call probe = circuit.allow(now, &known);
  REQUIRE(probe);
  circuit.record(probe, CallResult::ignored, now, random, &known);
  CHECK_FALSE(circuit.allow(now, &stranger));
  now += seconds(1);
  CHECK(circuit.allow(now, &stranger));
}

TEST_CASE("silence is eight mean gaps without a success, and 200 ms at least") {
  SuccessPace pace(seconds(10));
  TimePoint now = kStart;
  CHECK(pace.is_silent(now));
  for (int n = 0; n < 100; ++n) pace.add(now += milliseconds(100));
  CHECK_FALSE(pace.is_silent(now + milliseconds(799)));
  CHECK(pace.is_silent(now + milliseconds(801)));
  pace.resume(now += minutes(10));
  CHECK_FALSE(pace.is_silent(now + milliseconds(799)));
  CHECK(pace.is_silent(now + milliseconds(801)));
  pace.add(now += minutes(10));  // counts as ten seconds
  CHECK_FALSE(pace.is_silent(now + seconds(3)));
  CHECK(pace.is_silent(now + seconds(4)));
  SuccessPace fast(seconds(10));
  for (int n = 0; n < 100; ++n) fast.add(now += milliseconds(1));
  CHECK_FALSE(fast.is_silent(now + milliseconds(199)));
  CHECK(fast.is_silent(now + milliseconds(201)));
  SuccessPace slow(seconds(10));
  for (int n = 0; n < 10; ++n) slow.add(now += seconds(5));
  CHECK_FALSE(slow.is_silent(now + milliseconds(9999)));
  CHECK(slow.is_silent(now + seconds(10)));
}

TEST_CASE("well sources are known by client or path for one to two minutes") {
  WellSources well;
  CHECK(well.empty());
  CHECK_FALSE(well.has({1, 10}));
  well.add({1, 10}, kStart);
  CHECK_FALSE(well.empty());
  CHECK(well.has({1, 11}));
  CHECK(well.has({2, 10}));
  CHECK_FALSE(well.has({2, 11}));
  well.add({3, 30}, kStart + seconds(60));
  CHECK(well.has({1, 10}));
  well.add({4, 40}, kStart + seconds(120));
  CHECK_FALSE(well.has({1, 10}));
  CHECK(well.has({3, 30}));
  well.add({5, 50}, kStart + minutes(10));
  CHECK_FALSE(well.has({3, 30}));
  CHECK_FALSE(well.has({4, 40}));
}

TEST_CASE("of a thousand clients and paths few strangers pass for known") {
  WellSources well;
  Random random(1);
  // Numbered clients, as the hashes of paths are none.
  for (std::uint64_t n = 0; n < 1000; ++n) well.add({n, random.next()}, kStart);
  int known = 0;
  for (std::uint64_t n = 0; n < 10'000; ++n) known += well.has({1'000'000 + n, random.next()});
  CHECK(known < 500);
}

}  // namespace spillway::resilience
