#include "overload/admission/retry_booking.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <thread>
#include <vector>

using namespace spillway;
using namespace spillway::overload;
using namespace std::chrono_literals;

namespace {

constexpr ClassId kP0{0}, kP1{1}, kP2{2};
constexpr TimePoint kNow = TimePoint{} + 1h;

// Of an upstream that can do 100 a second: ten returns a second.
struct Measured {
  RetryBooking booking{3};
  Random random{1};

  Measured() { booking.measure(100, kNow); }
  Milliseconds book(ClassId id, Milliseconds least = 1s, TimePoint now = kNow) {
    return booking.book(id, least, now, random);
  }
};

}  // namespace

TEST_CASE("successive refusals are handed successive turns") {
  Measured site;
  for (int n = 0; n < 20; ++n) CHECK(site.book(kP1) == 1s + n * 100ms);
  // The turns that passed unused are lost.
  CHECK(site.book(kP1, 1s, kNow + 10s) == 1s);
  CHECK(site.book(kP1, 0ms, kNow + 10s) == 0ms);
}

TEST_CASE("refusals that come no faster than the turns are told no more than the least") {
  Measured site;
  for (int n = 0; n < 50; ++n) CHECK(site.book(kP2, 5s, kNow + n * 100ms) == 5s);
}

TEST_CASE("as long as no capacity is known nothing is booked") {
  RetryBooking booking(3);
  Random random(1);
  for (int n = 0; n < 3; ++n) {
    CHECK(booking.book(kP2, 2s, kNow, random) == 2s);
    booking.measure(std::nullopt, kNow + n * 100ms);
  }
}

TEST_CASE("what does not fit into 30 s is told 60 to 120 s and takes no turn") {
  Measured site;
  for (int n = 0; n <= 300; ++n) site.book(kP1);
  CHECK(site.booking.ahead(kP1, kNow) == 30'100ms);
  Milliseconds least = 1h, most = 0ms;
  for (int n = 0; n < 1000; ++n) {
    const Milliseconds told = site.book(kP1);
    least = std::min(least, told);
    most = std::max(most, told);
  }
  CHECK(least >= 60s);
  CHECK(least < 61s);
  CHECK(most < 120s);
  CHECK(most > 119s);
  CHECK(site.booking.ahead(kP1, kNow) == 30'100ms);
  CHECK(site.book(kP1, 200s) == 200s);
}

TEST_CASE("a class stands behind the higher ones and never behind the lower ones") {
  Measured site;
  for (int n = 0; n < 100; ++n) site.book(kP2);
  CHECK(site.booking.ahead(kP2, kNow) == 10s);
  CHECK(site.book(kP0) == 1s);
  CHECK(site.book(kP1) == 1100ms);
  CHECK(site.book(kP2) == 11'200ms);
  CHECK(site.book(kP0) == 1100ms);
}

TEST_CASE("a stall is measured by what was finished before it and a long failure is not") {
  Measured site;
  for (int tick = 1; tick <= 40; ++tick) site.booking.measure(0, kNow + tick * 100ms);
  site.book(kP1, 1s, kNow + 4s);
  const Milliseconds after_stall = site.book(kP1, 1s, kNow + 4s) - 1s;
  CHECK(after_stall >= 145ms);  // the memory has faded by a third
  CHECK(after_stall <= 152ms);
  for (int tick = 41; tick <= 2000; ++tick) site.booking.measure(0, kNow + tick * 100ms);
  const TimePoint later = kNow + 200s;
  CHECK(site.book(kP1, 1s, later) == 1s);
  CHECK(site.book(kP1, 1s, later) == 31s);
  CHECK(site.book(kP1, 1s, later) >= 60s);
  // The upstream is back: no line is longer than the turns that were booked.
  site.booking.measure(100, later + 100ms);
  CHECK(site.book(kP1, 1s, later + 61s) == 1s);
  CHECK(site.book(kP1, 1s, later + 61s) == 1100ms);
}

TEST_CASE("a new configuration keeps the bookings") {
  Measured site;
  for (int n = 0; n < 10; ++n) site.book(kP1);
  RetryBooking next(2);
  next.continue_from(site.booking);
  CHECK(next.book(kP1, 1s, kNow, site.random) == 2s);
}

TEST_CASE("workers that refuse at the same time hand out each turn once") {
  Measured site;
  constexpr int kThreads = 4, kEach = 60;
  std::vector<std::vector<Milliseconds>> told(kThreads);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      Random random(static_cast<std::uint64_t>(t));
      for (int n = 0; n < kEach; ++n)
        told[std::size_t(t)].push_back(site.booking.book(kP1, 1ms, kNow, random));
    });
  }
  for (std::thread& each : threads) each.join();
  std::vector<Milliseconds> all;
  for (const auto& each : told) all.insert(all.end(), each.begin(), each.end());
  std::sort(all.begin(), all.end());
  for (std::size_t n = 0; n < all.size(); ++n) CHECK(all[n] == 1ms + int(n) * 100ms);
}

TEST_CASE("the capacity shown is what was finished without an error and at least one at a time") {
  OverloadSignals signals;
  CHECK(shown_capacity(signals, 0.02) == std::nullopt);
  signals.completed_rate = 2;
  CHECK(shown_capacity(signals, std::nullopt) == std::nullopt);
  CHECK(shown_capacity(signals, 0.02) == 50);
  signals.completed_rate = 400;
  CHECK(shown_capacity(signals, 0.02) == 400);
  signals.total_error_rate = 0.75;
  CHECK(shown_capacity(signals, 0.02) == 100);
}
