// How many jobs of a route may be pulled.
#include "jobs/route_capacity.hpp"

#include <doctest/doctest.h>

#include <utility>
#include <vector>

using namespace std::chrono_literals;

namespace spillway::jobs {
namespace {

constexpr TimePoint kNow = TimePoint{} + std::chrono::hours(1);

std::size_t room_of(RouteCapacity& route, const config::Defer& defer, TimePoint now = kNow) {
  return route.room(defer, {.in_hand = 100, .running = 100}, now);
}

void pull(RouteCapacity& route, std::size_t jobs) {
  route.ask(jobs);
  route.answered(jobs, jobs);
}

// How long it pauses from `now` on, in steps of 100 ms.
Duration pause_of(const RouteCapacity& route, TimePoint now) {
  TimePoint end = now;
  while (route.pauses(end)) end += 100ms;
  return end - now;
}

}  // namespace

TEST_CASE(
    "as many jobs are ahead as run, at least eight, and more only when half of them is used") {
  RouteCapacity route;
  const auto room = [&](std::size_t in_hand, std::size_t running) {
    return route.room({}, {.in_hand = in_hand, .running = running}, kNow);
  };
  CHECK(room(0, 0) == 8);
  CHECK(room(4, 0) == 4);
  CHECK(room(5, 0) == 0);
  CHECK(room(100, 100) == 100);
  CHECK(room(150, 100) == 50);
  CHECK(room(151, 100) == 0);
  CHECK_MESSAGE(room(0, 3) == 8, "an upstream of a former configuration runs them");
}

TEST_CASE("jobs that those of the route pass are not ahead of them") {
  struct Case {
    std::size_t in_hand, running, passed, room;
  };
  const Case cases[] = {
      {60, 0, 60, 8},     // an upstream without a slot for the lower ones
      {120, 60, 60, 60},  // as many as run, of all ranks
      {64, 0, 60, 4},    {65, 0, 60, 0}, {125, 65, 30, 35},
      {60, 0, 0, 0},     {5, 5, 3, 8},  // counted a little later than those that run
  };
  for (const auto& [in_hand, running, passed, expected] : cases) {
    CAPTURE(in_hand);
    CAPTURE(passed);
    RouteCapacity route;
    CHECK(route.room({}, {.in_hand = in_hand, .running = running, .passed = passed}, kNow) ==
          expected);
  }
}

TEST_CASE("an upstream has no more jobs than it leaves to others") {
  RouteCapacity route;
  const auto room = [&](std::size_t in_hand, std::size_t asked, std::size_t left) {
    return route.room({}, {.in_hand = in_hand, .running = in_hand, .asked = asked, .left = left},
                      kNow);
  };
  CHECK(room(400, 0, 624) == 224);
  CHECK(room(400, 100, 524) == 24);
  CHECK(room(512, 0, 512) == 0);
  CHECK(room(0, 0, 5) == 5);
  CHECK(room(0, 0, 0) == 0);
  CHECK_MESSAGE(room(8, 0, 1016) == 8, "negative control");
}

TEST_CASE("while live requests are refused only jobs that compete with them are pulled") {
  config::Defer in_background, competing;
  competing.traffic_class = ClassId{2};
  for (const State state : {State::elevated, State::overloaded, State::critical}) {
    RouteCapacity route;
    CHECK(route.room(in_background, {.state = state}, kNow) == 0);
    CHECK(route.room(competing, {.state = state}, kNow) == 8);
  }
}

TEST_CASE("concurrency bounds the jobs of the route that are in hand") {
  config::Defer defer;
  defer.concurrency = 3;
  RouteCapacity route;
  CHECK(room_of(route, defer) == 3);
  pull(route, 2);
  CHECK(room_of(route, defer) == 1);
  pull(route, 1);
  CHECK(room_of(route, defer) == 0);
  CHECK_MESSAGE(room_of(route, {}) == 100, "negative control");
  route.ended();
  CHECK(room_of(route, defer) == 1);
}

TEST_CASE("what the store is being asked for has no room twice, and what does not come has again") {
  config::Defer capped, rated;
  capped.concurrency = 5;
  rated.rate = 1000;
  RouteCapacity route;
  const auto rooms = [&] {
    const RouteCapacity::Upstream busy{.in_hand = 100, .running = 100};
    return std::vector{room_of(route, capped), route.room(rated, busy, kNow, {.soon = 50}),
                       room_of(route, {})};
  };
  CHECK(rooms() == std::vector<std::size_t>{5, 50, 100});
  route.ask(2);
  CHECK(rooms() == std::vector<std::size_t>{3, 48, 100});  // the last one has no cap
  route.ask(4);
  CHECK(rooms() == std::vector<std::size_t>{0, 44, 100});
  route.answered(4, 0);
  route.answered(2, 1);
  CHECK(rooms() == std::vector<std::size_t>{4, 49, 100});
  const auto with = [&](std::size_t asked) {
    return route.room({}, {.in_hand = 10, .running = 10, .asked = asked}, kNow);
  };
  CHECK(with(0) == 10);
  CHECK_MESSAGE(with(9) == 1, "of its upstream, by all routes");
  CHECK(with(20) == 0);
}

TEST_CASE("of a route with a rate no more jobs wait than may begin soon") {
  config::Defer defer;
  defer.rate = 20;
  RouteCapacity route;
  const auto room = [&](std::size_t soon, std::size_t running) {
    return route.room(defer, {.in_hand = 100, .running = 100}, kNow,
                      {.soon = soon, .running = running});
  };
  CHECK(room(3, 0) == 3);
  pull(route, 2);
  CHECK(room(3, 0) == 1);
  CHECK(room(2, 0) == 0);
  CHECK_MESSAGE(room(3, 1) == 2, "one has begun");
  CHECK_MESSAGE(room(3, 9) == 3, "counted a little later than those that run");
  route.ended();
  CHECK(room(3, 0) == 2);
  defer.rate.reset();
  CHECK_MESSAGE(room(0, 0) == 100, "negative control: it has none");
}

TEST_CASE(
    "a route pauses each time for twice as long and from the first success on shortly again") {
  RouteCapacity route;
  TimePoint now = kNow;
  for (const Duration expected : {1s, 2s, 4s, 8s, 16s, 30s, 30s}) {
    route.pause(now, now);
    route.pause(now + 10ms, now + 10ms);  // another job's: it pauses already
    CHECK(pause_of(route, now) == expected);
    CHECK(room_of(route, {}, now) == 0);
    CHECK(route.room_from(now) == now + expected);
    now += expected;
    CHECK(room_of(route, {}, now) == 100);
  }
  route.succeeded(now);
  route.pause(now, now);
  CHECK(pause_of(route, now) == 1s);
}

TEST_CASE(
    "a route whose jobs are refused rests each time for twice as long, a second at most, and does "
    "not pause") {
  RouteCapacity route;
  TimePoint now = kNow;
  for (const Duration expected : {100ms, 200ms, 400ms, 800ms, 1000ms, 1000ms}) {
    REQUIRE(room_of(route, {}, now) == 100);
    route.rest(now, NoSlot::refused);
    route.rest(now + 10ms, NoSlot::refused);  // another job's: it rests already
    CHECK(room_of(route, {}, now + expected - 1ms) == 0);
    CHECK(route.room_from(now) == now + expected);
    CHECK_FALSE(route.pauses(now));
    now += expected;
  }
  route.rest(now, NoSlot::refused);
  route.tried();
  CHECK_MESSAGE(room_of(route, {}, now + 100ms) == 100, "of a second");
  now += 1s;
  route.rest(now, NoSlot::refused);
  CHECK(room_of(route, {}, now + 99ms) == 0);
  route.tried();
  CHECK_MESSAGE(room_of(route, {}, now + 99ms) == 0, "others end while this one is refused");
  CHECK(room_of(route, {}, now + 100ms) == 100);
}

TEST_CASE("a route whose job waited in vain rests until another proxy has it, or a slot is free") {
  RouteCapacity route;
  route.rest(kNow, NoSlot::waited);
  CHECK(room_of(route, {}, kNow + 999ms) == 0);
  CHECK(room_of(route, {}, kNow + 1s) == 100);
  route.rest(kNow + 2s, NoSlot::waited);
  CHECK(room_of(route, {}, kNow + 2s) == 0);
  route.tried();
  CHECK(room_of(route, {}, kNow + 2s) == 100);
}

TEST_CASE("a route pauses as long as its upstream has asked for but not for longer than 30 s") {
  const std::pair<Duration, Duration> cases[] = {{0s, 1s}, {5s, 5s}, {30s, 30s}, {1h, 30s}};
  for (const auto& [asked, expected] : cases) {
    RouteCapacity route;
    route.pause(kNow, kNow + asked);
    CHECK(pause_of(route, kNow) == expected);
  }
}

TEST_CASE("jobs that are refused beside others that succeed hold up none of these") {
  constexpr Duration kAsked = 30s;
  RouteCapacity route;
  route.succeeded(kNow);
  TimePoint now = kNow;
  for (int n = 0; n < 20; ++n) {
    now += 100ms;
    route.refused(now, now + kAsked);
    CHECK(room_of(route, {}, now) == 100);
    route.succeeded(now + 50ms);
  }
  // Nor for long where some are refused one after another.
  const TimePoint before = now += 100ms;
  for (int n = 0; n < 6; ++n) {
    route.refused(now, now + kAsked);
    while (room_of(route, {}, now) == 0) now += 1ms;
  }
  CHECK(now > before);
  CHECK(now - before < 2s);
}

TEST_CASE("control: where none succeeds a refusal holds for the route, for 30 s of it at most") {
  const std::pair<Duration, Duration> cases[] = {{0s, 0s}, {5s, 5s}, {30s, 30s}, {1h, 30s}};
  for (const auto& [asked, expected] : cases) {
    for (const bool has_succeeded : {false, true}) {
      CAPTURE(has_succeeded);
      RouteCapacity route;
      TimePoint now = kNow;
      if (has_succeeded) {  // an hour ago, and not since one was refused
        route.succeeded(now);
        now += 1h;
        route.refused(now, now + asked);
        CHECK(pause_of(route, now) == 0s);
      }
      route.refused(now, now + asked);
      CHECK(pause_of(route, now) == expected);
      if (expected == 0s) continue;
      route.refused(now + 1s, now + 1s + asked);  // another job's: it pauses already
      CHECK(pause_of(route, now) == expected);
      CHECK(room_of(route, {}, now) == 0);
      CHECK(route.room_from(now) == now + expected);
    }
  }
}

TEST_CASE("a route that begins to be refused pauses for as long again as none has succeeded") {
  RouteCapacity route;
  route.succeeded(kNow);
  TimePoint now = kNow + 1s;
  route.refused(now, now + 1h);
  CHECK(pause_of(route, now) == 0s);
  for (const Duration expected : {1s, 2s, 4s, 8s, 16s, 30s, 30s}) {
    route.refused(now, now + 1h);
    CHECK(pause_of(route, now) == expected);
    now += expected;
  }
}

TEST_CASE("a class stands for its rank and no class for the lowest") {
  config::Defer defer;
  CHECK(rank_of(defer) == kLowestRank);
  defer.traffic_class = ClassId{1};
  CHECK(rank_of(defer) == 1);
}

}  // namespace spillway::jobs
