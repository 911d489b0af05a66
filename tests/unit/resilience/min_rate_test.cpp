#include "resilience/min_rate.hpp"

#include <doctest/doctest.h>

#include <chrono>

namespace spillway::resilience {
namespace {

using namespace std::chrono_literals;

constexpr TimePoint kStart{1h};
constexpr std::uint64_t kRate = 240;
constexpr Duration kGrace = 5s;
constexpr Duration kMaxCredit = 60s;

// The time after which a peer that moves `bytes` every `step` and always has its turn is too slow;
// an hour if never.
Duration lasts(std::uint64_t bytes, Duration step, std::uint64_t rate = kRate) {
  MinRate peer(rate, kGrace, kMaxCredit);
  peer.begin_turn(kStart);
  for (TimePoint now = kStart; now < kStart + 1h;) {
    if (peer.deadline() <= now + step) return peer.deadline() - kStart;
    now += step;
    peer.moved(bytes, now);
  }
  return 1h;
}

TEST_CASE("a peer that moves nothing lasts for its grace") {
  CHECK(lasts(0, 100ms) == kGrace);
  CHECK(lasts(0, 1h) == kGrace);
}

TEST_CASE("a peer slower than the rate lasts for its grace and the time its bytes earn") {
  // 239/240 of each second are bought, so of its 5 s the last but one are used up in 240 times 4 s.
  CHECK(lasts(kRate - 1, 1s) >= 15min);
  CHECK(lasts(kRate - 1, 1s) < 20min);
  CHECK(lasts(kRate / 2, 1s) >= 9s);
  CHECK(lasts(kRate / 2, 1s) <= 11s);
  CHECK(lasts(1, 1s) < 6s);  // a byte a second would please an idle timeout for ever
}

TEST_CASE("a peer at the rate lasts for ever whatever the size of its pieces") {
  CHECK(lasts(kRate, 1s) == 1h);
  CHECK(lasts(kRate / 10, 100ms) == 1h);
  CHECK(lasts(4 * kRate, 4s) == 1h);
  CHECK(lasts(6 * kRate, 6s) < kGrace + 1s);  // but a first pause longer than the grace is too long
}

TEST_CASE("by new terms a peer has the same part of the most, however often they are set") {
  MinRate peer(kRate, kGrace, kMaxCredit);
  peer.moved(kRate * 100, kStart);
  peer.begin_turn(kStart);
  CHECK(peer.deadline() == kStart + kMaxCredit);
  const TimePoint later = kStart + 20s;  // two thirds are left
  for (int times = 0; times < 3; ++times) peer.change(10 * kRate, 3s, later);
  CHECK(peer.deadline() == later + 2s);
  peer.moved(10 * kRate / 2, later);  // buys half a second
  CHECK(peer.deadline() == later + 2500ms);
  peer.change(kRate, kMaxCredit, later);
  CHECK(peer.deadline() == later + 50s);
  peer.moved(kRate, later);
  CHECK(peer.deadline() == later + 51s);
}

TEST_CASE("terms that change back and forth cost a peer nothing") {
  MinRate peer(kRate, kGrace, kMaxCredit);
  peer.begin_turn(kStart);
  for (int times = 0; times < 1000; ++times) {
    peer.change(10 * kRate, 3s, kStart);
    peer.change(kRate, kMaxCredit, kStart);
  }
  CHECK(abs(peer.deadline() - (kStart + kGrace)) < 1ms);
}

TEST_CASE("a rate of zero asks for nothing") {
  CHECK(lasts(0, 1s, 0) == 1h);
  MinRate none;
  none.begin_turn(kStart);
  none.moved(100, kStart + 1h);
  CHECK(none.deadline() == kNever);
}

TEST_CASE("credit for moving faster is capped") {
  MinRate peer(kRate, kGrace, kMaxCredit);
  peer.begin_turn(kStart);
  peer.moved(10 * kRate, kStart);
  CHECK(peer.deadline() == kStart + kGrace + 10s);
  peer.moved(1'000'000'000, kStart);
  CHECK(peer.deadline() == kStart + kMaxCredit);
  peer.moved(~std::uint64_t{0}, kStart + 1s);
  CHECK(peer.deadline() == kStart + 1s + kMaxCredit);
  MinRate strict(kRate, kGrace, 0s);
  strict.begin_turn(kStart);
  strict.moved(1'000'000'000, kStart);
  CHECK(strict.deadline() == kStart + kGrace);
}

TEST_CASE("time that is not its turn costs nothing") {
  MinRate peer(kRate, kGrace, kMaxCredit);
  CHECK(peer.deadline() == kNever);
  peer.begin_turn(kStart);
  peer.end_turn(kStart + 2s);
  CHECK(peer.deadline() == kNever);
  peer.begin_turn(kStart + 1h);
  CHECK(peer.deadline() == kStart + 1h + 3s);
  peer.begin_turn(kStart + 1h + 1s);  // it goes on
  CHECK(peer.deadline() == kStart + 1h + 3s);
}

TEST_CASE("a clock that steps back gives nothing and takes nothing") {
  MinRate peer(kRate, kGrace, kMaxCredit);
  peer.begin_turn(kStart);
  peer.moved(kRate, kStart - 1min);
  CHECK(peer.deadline() == kStart + 6s);
  peer.end_turn(kStart - 1min);
  peer.begin_turn(kStart);
  CHECK(peer.deadline() == kStart + 6s);
}

TEST_CASE("a late check leaves no debt") {
  MinRate peer(kRate, kGrace, kMaxCredit);
  peer.begin_turn(kStart);
  peer.moved(kRate, kStart + kGrace + 1s);
  CHECK(peer.deadline() == kStart + kGrace + 2s);
}

}  // namespace
}  // namespace spillway::resilience
