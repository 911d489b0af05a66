#include "cache/store/single_flight.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

namespace spillway::cache {
namespace {

using Role = SingleFlight::Role;

// What land() or hand_over() returned, as their places in `followers`.
std::vector<std::size_t> places(const Follower* first, const std::vector<Follower>& followers) {
  std::vector<std::size_t> result;
  for (; first != nullptr; first = first->next) {
    result.push_back(static_cast<std::size_t>(first - followers.data()));
  }
  return result;
}

using Places = std::vector<std::size_t>;

}  // namespace

TEST_CASE("of a thousand that want the same one leads") {
  SingleFlight flights;
  std::vector<Follower> followers(1000);
  std::size_t leaders = 0;
  for (Follower& follower : followers) leaders += flights.join(7, follower) == Role::leader;
  CHECK(leaders == 1);
  const Places landed = places(flights.land(7, Landing::stored), followers);
  REQUIRE(landed.size() == 999);
  for (std::size_t i = 0; i < landed.size(); ++i) {
    CHECK(landed[i] == i + 1);
    CHECK(followers[i + 1].landing == Landing::stored);
  }
  CHECK(followers[0].landing == Landing::none);
  CHECK(flights.join(7, followers[0]) == Role::leader);
}

TEST_CASE("flights to other answers are not waited for") {
  SingleFlight flights;
  std::vector<Follower> followers(2000);
  for (std::size_t i = 0; i < followers.size(); ++i) {
    REQUIRE(flights.join(i * 0x9e3779b97f4a7c15u, followers[i]) == Role::leader);
  }
  for (std::size_t i = 0; i < followers.size(); ++i) {
    REQUIRE(flights.land(i * 0x9e3779b97f4a7c15u, Landing::nothing) == nullptr);
  }
}

TEST_CASE("followers are told when nothing was stored") {
  SingleFlight flights;
  std::vector<Follower> followers(3);
  for (Follower& follower : followers) flights.join(7, follower);
  CHECK(places(flights.land(7, Landing::nothing), followers) == Places{1, 2});
  CHECK(followers[1].landing == Landing::nothing);
  CHECK(followers[2].landing == Landing::nothing);
  CHECK(flights.land(7, Landing::nothing) == nullptr);
}

TEST_CASE("the follower that waited longest takes over") {
  SingleFlight flights;
  std::vector<Follower> followers(4);
  for (Follower& follower : followers) flights.join(7, follower);
  CHECK(places(flights.hand_over(7), followers) == Places{1});
  CHECK(followers[1].landing == Landing::leads);
  CHECK(places(flights.hand_over(7), followers) == Places{2});
  CHECK(flights.join(7, followers[0]) == Role::follower);
  CHECK(places(flights.land(7, Landing::stored), followers) == Places{3, 0});
  CHECK(followers[2].landing == Landing::leads);
}

TEST_CASE("a flight that is handed over without followers has ended") {
  SingleFlight flights;
  std::vector<Follower> followers(2);
  flights.join(7, followers[0]);
  CHECK(flights.hand_over(7) == nullptr);
  CHECK(flights.join(7, followers[1]) == Role::leader);
}

TEST_CASE("a follower leaves before it is landed or not at all") {
  SingleFlight flights;
  std::vector<Follower> followers(6);
  for (Follower& follower : followers) flights.join(7, follower);
  CHECK(flights.leave(followers[0]) == Withdrawal::too_late);   // it leads
  CHECK(flights.leave(followers[1]) == Withdrawal::withdrawn);  // the first
  CHECK(flights.leave(followers[1]) == Withdrawal::too_late);
  CHECK(flights.leave(followers[3]) == Withdrawal::withdrawn);  // in the middle
  CHECK(flights.leave(followers[5]) == Withdrawal::withdrawn);  // the last
  CHECK(flights.join(7, followers[1]) == Role::follower);
  CHECK(places(flights.land(7, Landing::stored), followers) == Places{2, 4, 1});
  CHECK(flights.leave(followers[2]) == Withdrawal::too_late);
  CHECK(followers[3].landing == Landing::none);

  Follower never_joined;
  CHECK(flights.leave(never_joined) == Withdrawal::too_late);
}

TEST_CASE(
    "a follower that all others left is landed alone and one that leaves last leaves a flight") {
  SingleFlight flights;
  std::vector<Follower> followers(2);
  flights.join(7, followers[0]);
  flights.join(7, followers[1]);
  CHECK(flights.leave(followers[1]) == Withdrawal::withdrawn);
  CHECK(flights.join(7, followers[1]) == Role::follower);
  CHECK(places(flights.land(7, Landing::stored), followers) == Places{1});
}

TEST_CASE("try_lead leads only where there is no flight") {
  SingleFlight flights;
  std::vector<Follower> followers(2);
  CHECK(flights.try_lead(7));
  CHECK_FALSE(flights.try_lead(7));
  CHECK(flights.join(7, followers[0]) == Role::follower);
  CHECK(places(flights.land(7, Landing::stored), followers) == Places{0});
  CHECK(flights.try_lead(7));
}

TEST_CASE("flights take memory for as many as there are at once") {
  SingleFlight flights;
  std::vector<Follower> followers(100);
  const std::size_t empty = flights.bytes();
  for (int round = 0; round < 3; ++round) {
    for (std::size_t i = 0; i < followers.size(); ++i) flights.join(i, followers[i]);
    CHECK(flights.bytes() > empty);
    CHECK(flights.bytes() < empty + 100 * 200);
    for (std::size_t i = 0; i < followers.size(); ++i) flights.land(i, Landing::stored);
  }
}

TEST_CASE("in each flight of several threads one leads and everybody gets down") {
  SingleFlight flights;
  constexpr int kThreads = 4;
  constexpr int kRounds = 2000;
  // What is delivered to a thread.
  struct Waiting : Follower {
    std::atomic<bool> delivered{false};
  };
  std::atomic<int> flying{0};  // leaders of the one flight
  std::atomic<int> led{0};
  std::atomic<int> followed{0};
  std::atomic<bool> two_led{false};
  const auto deliver = [](Follower* first) {
    while (first != nullptr) {
      Follower* const next = first->next;
      static_cast<Waiting*>(first)->delivered.store(true, std::memory_order_release);
      first = next;
    }
  };
  const auto lead = [&](int round) {
    if (flying.fetch_add(1) != 0) two_led = true;
    ++led;
    std::this_thread::yield();
    flying.fetch_sub(1);
    deliver(round % 3 == 0 ? flights.hand_over(7)
                           : flights.land(7, round % 3 == 1 ? Landing::stored : Landing::nothing));
  };
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&, thread] {
      Waiting me;
      for (int round = thread; round < kRounds + thread; ++round) {
        me.delivered = false;
        if (flights.join(7, me) == Role::leader) {
          lead(round);
          continue;
        }
        if (round % 5 == 0 && flights.leave(me) == Withdrawal::withdrawn) continue;
        while (!me.delivered.load(std::memory_order_acquire)) std::this_thread::yield();
        if (me.landing == Landing::leads) {
          lead(round);
        } else {
          ++followed;
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK_FALSE(two_led);
  CHECK(led + followed <= kThreads * kRounds);
  CHECK(led > 0);
  CHECK(flights.try_lead(7));
}

}  // namespace spillway::cache
