#include "resilience/slot_terms.hpp"

#include <doctest/doctest.h>

#include <chrono>

#include "resilience/min_rate.hpp"

namespace spillway::resilience {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t kRate = 16'384;
constexpr SlotTerms kPlenty{kRate, kSlotCredit};

}  // namespace

TEST_CASE("the scarcer slots are, the more a client must move for one, and the sooner") {
  struct Case {
    const char* name;
    SlotLoad load;
    Duration longest_wait;
    SlotTerms terms;
  };
  const Case cases[] = {
      {"no request waits", {64, 64, 0}, 500ms, kPlenty},
      {"no slots are known", {0, 0, 1}, 500ms, kPlenty},
      {"few are with slow clients", {64, 16, 1}, 500ms, {kRate + 1920, 1'986'328us}},
      {"a quarter of few", {8, 1, 1}, 500ms, kPlenty},
      {"a quarter, and as many wait", {8, 1, 8}, 500ms, kPlenty},
      {"half of them", {1000, 500, 1}, 500ms, {kRate * 17 / 2, 1125ms}},
      {"three quarters", {64, 48, 1}, 500ms, {kRate * 16, 250ms}},
      {"all of them", {16, 16, 1}, 500ms, {kRate * 16, 250ms}},
      {"more than there are", {16, 99, 99}, 500ms, {kRate * 16, 250ms}},
      {"few, and crowds wait", {64, 16, 128}, 500ms, {kRate * 16, 250ms}},
      {"the only one", {1, 1, 1}, 500ms, {kRate * 16, 250ms}},
      {"others have time", {16, 16, 1}, 10s, {kRate * 16, 1s}},
      {"others have none", {16, 16, 1}, 0s, {kRate * 16, 200ms}},
  };
  for (const Case& each : cases) {
    CAPTURE(each.name);
    const SlotTerms terms = slot_terms(kRate, each.longest_wait, each.load);
    // Within one in a hundred.
    CHECK(static_cast<double>(terms.rate) ==
          doctest::Approx(static_cast<double>(each.terms.rate)).epsilon(0.01));
    CHECK(to_seconds(terms.max_credit) ==
          doctest::Approx(to_seconds(each.terms.max_credit)).epsilon(0.01));
  }
}

TEST_CASE("scarcity only grows with the slots that wait for clients and with those who wait") {
  for (std::uint32_t held = 0; held <= 64; ++held) {
    for (std::uint32_t waiting = 0; waiting <= 256; waiting += 8) {
      const double here = scarcity({64, held, waiting});
      CHECK(here >= 0);
      CHECK(here <= 1);
      CHECK(here <= scarcity({64, held + 1, waiting}));
      CHECK(here <= scarcity({64, held, waiting + 1}));
    }
  }
}

TEST_CASE("where no rate is asked for, none is when slots are scarce") {
  CHECK(slot_terms(0, 500ms, {16, 16, 16}).rate == 0);
}

TEST_CASE("a client that is cut off and comes back holds a slot for less than others may wait") {
  constexpr Duration kTwoSweeps = 100ms;
  constexpr TimePoint kStart{1h};
  for (const Duration wait : {200ms, 500ms, 2000ms, 30'000ms}) {
    MinRate client(kRate, kSlotGrace, kSlotCredit);
    client.begin_turn(kStart);
    const SlotTerms terms = slot_terms(kRate, wait, {16, 16, 1});
    client.change(terms.rate, terms.max_credit, kStart);
    CHECK(client.deadline() - kStart >= 100ms);  // a round trip
    CHECK(client.deadline() - kStart + kTwoSweeps <= wait);
  }
}

TEST_CASE("a client that has taken nothing while slots were not scarce is cut off soon") {
  constexpr TimePoint kStart{1h};
  MinRate client(kRate, kSlotGrace, kSlotCredit);
  client.begin_turn(kStart);
  const SlotTerms terms = slot_terms(kRate, 500ms, {16, 16, 1});
  client.change(terms.rate, terms.max_credit, kStart + 400ms);
  CHECK(client.deadline() == kStart + 475ms);
}

TEST_CASE("the longer others have waited the less time is left for pauses, to all together") {
  struct Case {
    const char* name;
    SlotLoad load;
    Duration longest_wait;
    Duration pause;
  };
  const Duration any = SlotTerms::kAnyPause;
  const Case cases[] = {
      {"no request waits", {.slots = 16, .awaiting_client = 16}, 500ms, any},
      {"only lower classes wait",
       {.slots = 16, .awaiting_client = 16, .waiting = 1, .only_lower_wait = true},
       500ms,
       any},
      {"few slots wait for clients",
       {.slots = 16, .awaiting_client = 2, .waiting = 4, .waited = 1s},
       500ms,
       any},
      {"one has just come", {.slots = 16, .awaiting_client = 16, .waiting = 1}, 400ms, 60ms},
      {"it has waited",
       {.slots = 16, .awaiting_client = 16, .waiting = 1, .waited = 30ms},
       400ms,
       30ms},
      {"for as long as there was",
       {.slots = 16, .awaiting_client = 16, .waiting = 1, .waited = 50ms},
       400ms,
       10ms},
      {"for much longer",
       {.slots = 16, .awaiting_client = 16, .waiting = 1, .waited = 10s},
       400ms,
       10ms},
      {"others have time", {.slots = 16, .awaiting_client = 16, .waiting = 1}, 1min, 260ms},
      {"others have none", {.slots = 16, .awaiting_client = 16, .waiting = 1}, 0s, 10ms},
      {"half of the slots wait for clients",
       {.slots = 1000, .awaiting_client = 500, .waiting = 1, .waited = 1s},
       400ms,
       1005ms},
  };
  for (const Case& each : cases) {
    CAPTURE(each.name);
    const Duration pause = max_pause(each.longest_wait, each.load);
    CHECK(to_seconds(pause) == doctest::Approx(to_seconds(each.pause)).epsilon(0.01));
    CHECK(slot_terms(kRate, each.longest_wait, each.load).max_pause == pause);
  }
}

TEST_CASE("for lower classes no more is asked for than a slot is worth while there are plenty") {
  for (std::uint32_t held = 0; held <= 64; ++held) {
    const SlotLoad load{64, held, 128, true};
    CHECK(may_ask(load) == (held > 16));
    CHECK(slot_terms(kRate, 500ms, load) == kPlenty);
    CHECK(may_ask({64, held, 128}));
  }
  CHECK_FALSE(may_ask({0, 0, 1, true}));
}

}  // namespace spillway::resilience
