#include "resilience/slot_pause.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <vector>

namespace spillway::resilience {
namespace {

using namespace std::chrono_literals;

constexpr TimePoint kStart{1h};
constexpr Duration kLook = 10ms;
constexpr std::uint64_t kRate = 256 * 1024;
constexpr SlotTerms kScarce{kRate, 250ms, 70ms};

// For how long it keeps its slot if it pauses from now on; an hour if for ever.
Duration keeps(SlotPause& client, const SlotTerms& terms, TimePoint from = kStart) {
  for (TimePoint now = from; now < from + 1h; now += kLook) {
    client.look(now - from, Duration{0}, terms, now);
    if (client.is_too_long(terms)) return now - from;
  }
  return 1h;
}

// All of them pause, each from the end of its work on, at an upstream with so many slots. How long
// a request waits that came when all had come, and goes behind them.
Duration wait_behind(std::size_t clients, std::size_t slots, Duration work, Duration longest_wait) {
  std::vector<TimePoint> free(slots, kStart);
  for (std::size_t n = 0; n < clients; ++n) {
    TimePoint& slot = *std::min_element(free.begin(), free.end());
    SlotPause pause;
    TimePoint now = slot + work;
    for (;; now += kLook) {
      const auto waiting = static_cast<std::uint32_t>(clients - n);
      const SlotTerms terms = slot_terms(16'384, longest_wait,
                                         {.slots = static_cast<std::uint32_t>(slots),
                                          .awaiting_client = static_cast<std::uint32_t>(slots),
                                          .waiting = waiting,
                                          .waited = now - kStart});
      pause.look(now - slot - work, now - kStart, terms, now);
      if (pause.is_too_long(terms)) break;
    }
    slot = now;
  }
  return *std::min_element(free.begin(), free.end()) - kStart;
}

}  // namespace

TEST_CASE("a client pauses if its window is closed, or if it answers nothing for long") {
  struct Case {
    const char* name;
    Taking taking;
    Duration paused;
  };
  const Case cases[] = {
      {"it has taken all", {.left = 0, .is_in_flight = false, .still = 10s}, 0s},
      {"its window is closed", {.left = 1, .is_in_flight = false, .still = 3ms}, 3ms},
      {"bytes are on their way", {.left = 1, .round_trip = 30ms, .still = 60ms}, 0s},
      {"its acknowledgement may be delayed", {.left = 1, .round_trip = 1ms, .still = 42ms}, 0s},
      {"none comes", {.left = 1, .round_trip = 1ms, .still = 50ms}, 8ms},
      {"its window is full",
       {.left = 1, .is_window_full = true, .round_trip = 1ms, .still = 10ms},
       8ms},
      {"it is full, and far away",
       {.left = 1, .is_window_full = true, .round_trip = 90ms, .still = 180ms},
       0s},
      {"no one is as far away", {.left = 1, .round_trip = 10s, .still = 700ms}, 60ms},
      {"nothing is known", {}, 0s},
  };
  for (const Case& each : cases) {
    CAPTURE(each.name);
    CHECK(paused_for(each.taking) == each.paused);
  }
}

TEST_CASE("a client that has taken little pauses for no longer than it is given") {
  SlotPause client;
  CHECK(keeps(client, kScarce) == 70ms);
  SlotPause greedy;  // its kernel has taken what it sends
  greedy.took(kTakenByKernel, kScarce);
  CHECK(keeps(greedy, kScarce) == 70ms);
  SlotPause any;
  CHECK(keeps(any, {kRate, 2s}) == 1h);
}

TEST_CASE("what a client takes earns it pauses, up to the most credit") {
  SlotPause client;
  client.took(kTakenByKernel, kScarce);
  client.took(kRate / 10, kScarce);
  CHECK(keeps(client, kScarce) == 170ms);
  SlotPause quick;
  for (int n = 0; n < 100; ++n) quick.took(kRate, kScarce);
  CHECK(keeps(quick, kScarce) >= 310ms);
  CHECK(keeps(quick, kScarce) <= 320ms);
  SlotPause rich;  // of harder terms it has no more than those allow
  rich.took(~std::uint64_t{0} / 2, {16'384, 2s});
  CHECK(keeps(rich, kScarce) <= 320ms);
}

TEST_CASE("a client that takes its response at the rate of its slot pauses as often as it likes") {
  SlotPause client;
  TimePoint now = kStart;
  for (int n = 0; n < 10'000; ++n) {  // reads every 100 ms, and its window is closed meanwhile
    for (int look = 1; look <= 10; ++look)
      client.look(look * kLook, Duration{0}, kScarce, now += kLook);
    REQUIRE_FALSE((n > 20 && client.is_too_long(kScarce)));
    client.took(kRate / 9, kScarce);
  }
}

TEST_CASE("one that takes a byte at a time has not ended its pause") {
  SlotPause client;
  TimePoint now = kStart;
  while (!client.is_too_long(kScarce)) {
    client.look(kLook / 2, Duration{0}, kScarce, now += kLook);
    client.took(1, kScarce);
  }
  CHECK(now - kStart <= 160ms);
}

TEST_CASE("a pause counts only while others wait") {
  SlotPause client;
  client.look(1h, 20ms, kScarce, kStart);
  CHECK_FALSE(client.is_too_long(kScarce));
  client.look(1h, 40ms, kScarce, kStart + 40ms);
  CHECK_FALSE(client.is_too_long(kScarce));
  client.end_round();
  client.look(2h, 9ms, kScarce, kStart + 1h);
  CHECK_FALSE(client.is_too_long(kScarce));
  client.look(2h, 10ms, kScarce, kStart + 1h + 1ms);
  CHECK(client.is_too_long(kScarce));
  client.end_round();
  CHECK_FALSE(client.is_too_long(kScarce));
}

TEST_CASE("time that has counted does not count again in the next round") {
  SlotPause client;
  client.look(1h, 60ms, kScarce, kStart);
  client.end_round();
  client.look(1h, 60ms, kScarce, kStart + 5ms);  // the same waiter, seen again
  CHECK_FALSE(client.is_too_long(kScarce));
  client.look(1h, 65ms, kScarce, kStart + 10ms);
  CHECK(client.is_too_long(kScarce));
}

TEST_CASE("where any pause is allowed none of it is held against the client later") {
  constexpr SlotTerms kPlenty{kRate, 2s};
  SlotPause client;
  TimePoint now = kStart;
  for (int n = 0; n < 100; ++n) client.look(1h, 1s, kPlenty, now += kLook);
  CHECK_FALSE(client.is_too_long(kPlenty));
  CHECK(keeps(client, kScarce, now) == 70ms);
}

TEST_CASE("clients that pause one after the other do not keep others waiting for the longer") {
  constexpr Duration kWork = 20ms;
  constexpr std::size_t kSlots = 16;
  const Duration few = wait_behind(16, kSlots, kWork, 500ms);
  CHECK(few <= 120ms);
  const Duration many = wait_behind(100, kSlots, kWork, 500ms);
  CHECK(many <= few + 6 * (kWork + 2 * kLook));
  CHECK(many < 400ms);
}

}  // namespace spillway::resilience
