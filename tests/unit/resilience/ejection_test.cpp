#include "resilience/ejection.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

namespace spillway::resilience {
namespace {

using std::chrono::seconds;
using Change = Ejections::Change;

constexpr TimePoint kStart{seconds(1000)};

EjectionLimits limits(std::size_t most) {
  return {.consecutive_failures = 3, .base = seconds(10), .max = seconds(60), .max_ejected = most};
}

// Four servers and the time, one result after the other.
struct Line {
  explicit Line(EjectionLimits with = limits(2)) : ejections(with, 4) {}

  Change fail(std::size_t server) { return ejections.record(server, true, now); }
  Change succeed(std::size_t server) { return ejections.record(server, false, now); }
  // Fails until it is ejected; how long it then is.
  Duration eject(std::size_t server, int failures) {
    for (int n = 1; n < failures; ++n) CHECK(fail(server) == Change::none);
    CHECK(fail(server) == Change::ejected);
    return ejections.left(server, now);
  }

  Ejections ejections;
  TimePoint now = kStart;
};

}  // namespace

TEST_CASE("failures in a row eject a server until its time is over") {
  Line line;
  CHECK(line.fail(1) == Change::none);
  CHECK(line.fail(1) == Change::none);
  CHECK(line.succeed(1) == Change::none);
  CHECK(line.eject(1, 3) == seconds(10));
  CHECK(line.ejections.ejected(line.now) == ServerSet(0b10));
  CHECK(line.ejections.next_return(line.now) == kStart + seconds(10));
  line.now = kStart + seconds(10) - Duration(1);
  CHECK(line.ejections.is_ejected(1, line.now));
  line.now = kStart + seconds(10);
  CHECK_FALSE(line.ejections.is_ejected(1, line.now));
  CHECK(line.ejections.ejected(line.now).empty());
  CHECK(line.ejections.next_return(line.now) == kNever);
  CHECK(line.ejections.left(1, line.now) == Duration{0});
}

TEST_CASE(
    "a server that returns is on trial until it succeeds, as is one that too many are ejected "
    "for") {
  Line line;
  line.eject(0, 3);
  line.eject(1, 3);
  CHECK(line.ejections.on_trial(line.now).empty());
  for (int n = 0; n < 3; ++n) CHECK(line.fail(2) == Change::none);
  for (std::uint32_t n = 0; n < Ejections::kSuccessesOfSpared; ++n) {
    CHECK(line.ejections.on_trial(line.now) == ServerSet(0b0100));
    CHECK(line.ejections.is_troubled(2));
    line.succeed(2);
  }
  CHECK(line.ejections.on_trial(line.now).empty());
  CHECK_FALSE(line.ejections.is_troubled(2));
  line.now += seconds(10);
  CHECK(line.ejections.on_trial(line.now) == ServerSet(0b0011));
  CHECK(line.succeed(0) == Change::back);
  CHECK(line.fail(1) == Change::ejected);
  CHECK(line.ejections.on_trial(line.now).empty());
}

TEST_CASE(
    "a server that is not ejected only since too many are, and fails in turns, stays on trial") {
  Line line;
  line.eject(0, 3);
  line.eject(1, 3);
  for (int n = 0; n < 3; ++n) line.fail(2);
  for (int turn = 0; turn < 20; ++turn) {
    for (std::uint32_t n = 1; n < Ejections::kSuccessesOfSpared; ++n) line.succeed(2);
    line.fail(2);
    CHECK(line.ejections.on_trial(line.now) == ServerSet(0b0100));
  }
}

TEST_CASE("failures of one server are not held against another") {
  Line line;
  for (int n = 0; n < 2; ++n) {
    for (std::size_t server = 0; server < 4; ++server) CHECK(line.fail(server) == Change::none);
  }
  CHECK(line.ejections.ejected(line.now).empty());
  CHECK(line.fail(2) == Change::ejected);
  CHECK(line.ejections.ejected(line.now) == ServerSet(0b100));
}

TEST_CASE("the first failure after an ejection ejects again for twice as long up to a bound") {
  Line line;
  Duration time = line.eject(0, 3);
  for (const auto expected : {seconds(20), seconds(40), seconds(60), seconds(60)}) {
    line.now += time;
    time = line.eject(0, 1);
    CHECK(time == expected);
  }
}

TEST_CASE("the first success after an ejection ends the probation") {
  Line line;
  line.now += line.eject(0, 3);
  CHECK(line.ejections.is_troubled(0));
  CHECK(line.succeed(0) == Change::back);
  CHECK_FALSE(line.ejections.is_troubled(0));
  CHECK(line.succeed(0) == Change::none);
  // It takes as many failures as before, but the time is not forgotten at once.
  CHECK(line.eject(0, 3) == seconds(20));
}

TEST_CASE("a doubling is forgotten for each base time that a server is not ejected") {
  const auto next_after = [](Duration pause) {
    Line line;
    Duration time = line.eject(0, 3);
    for (int n = 0; n < 30; ++n) {
      line.now += time;
      time = line.eject(0, 1);
    }
    CHECK(time == seconds(60));
    line.now += time;
    CHECK(line.succeed(0) == Change::back);
    line.now += pause;
    return line.eject(0, 3);
  };
  CHECK(next_after(seconds(9)) == seconds(60));
  CHECK(next_after(seconds(10)) == seconds(40));
  CHECK(next_after(seconds(20)) == seconds(20));
  CHECK(next_after(seconds(30)) == seconds(10));
  CHECK(next_after(std::chrono::hours(10'000)) == seconds(10));
}

TEST_CASE("results that come while a server is ejected change nothing") {
  Line line;
  line.eject(0, 3);
  for (int n = 0; n < 10; ++n) CHECK(line.fail(0) == Change::none);
  CHECK(line.succeed(0) == Change::none);
  CHECK(line.ejections.left(0, line.now) == seconds(10));
  line.now += seconds(10);
  CHECK(line.succeed(0) == Change::back);
}

TEST_CASE("no more servers than the share are ejected at a time") {
  Line line(limits(2));
  line.eject(0, 3);
  line.now += seconds(5);
  line.eject(1, 3);
  for (int n = 0; n < 10; ++n) CHECK(line.fail(2) == Change::none);
  CHECK(line.ejections.ejected(line.now).size() == 2);
  // Once there is room its next failure is one too many.
  line.now += seconds(5);
  CHECK(line.fail(2) == Change::ejected);
  CHECK(line.ejections.ejected(line.now) == ServerSet(0b110));

  Line none(limits(0));
  for (int n = 0; n < 10; ++n) CHECK(none.fail(2) == Change::none);
}

TEST_CASE("an ejection can be ended early and leaves the server on probation") {
  Line line;
  line.eject(0, 3);
  line.ejections.readmit(0, line.now);
  CHECK_FALSE(line.ejections.is_ejected(0, line.now));
  CHECK(line.eject(0, 1) == seconds(20));
  line.ejections.readmit(1, line.now);
  CHECK(line.fail(1) == Change::none);
}

TEST_CASE("ejection can be turned off") {
  EjectionLimits off = limits(2);
  off.consecutive_failures = 0;
  Line line(off);
  for (int n = 0; n < 1000; ++n) CHECK(line.fail(0) == Change::none);
}

TEST_CASE("failed responses to one client eject no server, those to several do") {
  const FailureSource one{1, 1};
  Line line;
  for (int n = 0; n < 500; ++n) {  // it fails at every server
    for (std::size_t server = 0; server < 4; ++server)
      CHECK(line.ejections.record(server, true, line.now, one) == Change::none);
  }
  CHECK(line.ejections.suspects() != 0);
  // Beside them other clients on other paths do.
  CHECK(line.ejections.record(2, true, line.now, FailureSource{2, 2}) == Change::none);
  CHECK(line.ejections.record(2, true, line.now, FailureSource{3, 3}) == Change::ejected);
  // And what is the server's own, one by one.
  CHECK(line.fail(1) == Change::none);
  CHECK(line.fail(1) == Change::ejected);
}

TEST_CASE("several clients that ask for what fails at every server eject none") {
  const auto by_turns = [](std::uint64_t servers) {
    Line line;
    int ejected = 0;
    for (std::uint64_t n = 0; n < 1000; ++n) {
      const FailureSource source{n, 1000 + n};
      ejected += line.ejections.record(n % servers, true, line.now, source) == Change::ejected;
    }
    return ejected;
  };
  CHECK(by_turns(4) == 0);
  // Where two servers are well the others are outliers, also if both fail.
  CHECK(by_turns(1) == 1);
  CHECK(by_turns(2) == 2);
  // A row twice as long is one, too.
  Line line;
  for (std::uint64_t n = 0; n < 8; ++n)
    CHECK(line.ejections.record(n % 4, true, line.now, FailureSource{n, n}) == Change::none);
  CHECK(line.ejections.record(0, true, line.now, FailureSource{8, 8}) == Change::none);
  CHECK(line.ejections.record(0, true, line.now, FailureSource{9, 9}) == Change::none);
  CHECK(line.ejections.record(0, true, line.now, FailureSource{10, 10}) == Change::ejected);
}

TEST_CASE("a server that fails on the only path there is is ejected, since others do not") {
  for (const bool others_succeed : {true, false}) {
    CAPTURE(others_succeed);
    Line line;
    int failures = 0;
    for (std::uint64_t client = 1; client < 100; ++client) {
      ++failures;
      if (line.ejections.record(0, true, line.now, FailureSource{client, 7}) == Change::ejected)
        break;
      line.ejections.record(1, !others_succeed, line.now, FailureSource{100 + client, 7});
    }
    CHECK(failures == (others_succeed ? 3 : 21));
  }
}

TEST_CASE("a server that fails for a single client alone is ejected, since others do not") {
  const FailureSource one{1, 1};
  Line line;
  const auto turn = [&] {
    for (std::size_t server = 1; server < 4; ++server) {
      CHECK(line.ejections.record(server, false, line.now, one) == Change::none);
    }
    return line.ejections.record(0, true, line.now, one);
  };
  CHECK(turn() == Change::none);
  CHECK(turn() == Change::none);
  CHECK(turn() == Change::ejected);
  CHECK(line.ejections.suspects() == 0);
  // Never the same path twice: one of ten counts, as the others do not fail.
  Line apart;
  int failures = 1;
  while (apart.ejections.record(0, true, apart.now, FailureSource{1, std::uint64_t(failures)}) ==
         Change::none)
    ++failures;
  CHECK(failures == 21);
}

TEST_CASE("on probation the second failed response that counts ejects again") {
  Line line;
  line.now += line.eject(0, 3);
  for (int n = 0; n < 5; ++n)
    CHECK(line.ejections.record(0, true, line.now, FailureSource{1, 1}) == Change::none);
  CHECK(line.ejections.record(0, true, line.now, FailureSource{2, 2}) == Change::ejected);
}

TEST_CASE("ejections go on after a change of the configuration as far as it allows") {
  Line line(limits(4));
  line.eject(0, 3);
  line.eject(1, 3);
  line.eject(2, 3);
  Ejections next(limits(2), 4);
  for (const std::size_t server : {0, 1, 2, 3}) {
    next.adopt(3 - server, line.ejections, server, line.now);
  }
  CHECK(next.ejected(line.now) == ServerSet(0b1100));
  CHECK(next.left(3, line.now) == seconds(10));
  // There was no room for the third: it is on probation.
  CHECK_FALSE(next.is_ejected(1, line.now));
  CHECK(next.is_troubled(1));
}

TEST_CASE("the share of servers is rounded down and nonsense is no share or all") {
  CHECK(max_ejected(0.5, 1) == 0);
  CHECK(max_ejected(0.5, 2) == 1);
  CHECK(max_ejected(0.5, 3) == 1);
  CHECK(max_ejected(0.29, 100) == 29);
  CHECK(max_ejected(0.1, 30) == 3);
  CHECK(max_ejected(1, 64) == 64);
  CHECK(max_ejected(0, 64) == 0);
  CHECK(max_ejected(-1, 64) == 0);
  CHECK(max_ejected(7, 64) == 64);
  CHECK(max_ejected(std::numeric_limits<double>::quiet_NaN(), 64) == 0);
}

}  // namespace spillway::resilience
