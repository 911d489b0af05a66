#include "proxy/net/capped_counter.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace spillway::proxy {

TEST_CASE("a counter at its cap counts no further until it is decremented") {
  CappedCounter counter;
  CHECK_FALSE(counter.try_increment(0));
  CHECK(counter.try_increment(2));
  CHECK(counter.try_increment(2));
  CHECK_FALSE(counter.try_increment(2));
  CHECK(counter.count() == 2);
  counter.decrement();
  CHECK(counter.try_increment(2));
}

TEST_CASE("a lower cap takes nothing back and admits nothing until the count is below it") {
  CappedCounter counter;
  for (int n = 0; n < 3; ++n) REQUIRE(counter.try_increment(3));
  CHECK_FALSE(counter.try_increment(1));
  CHECK(counter.count() == 3);
  for (int n = 0; n < 3; ++n) counter.decrement();
  CHECK(counter.try_increment(1));
}

TEST_CASE("threads that count at once never pass the cap together") {
  constexpr int kThreads = 4;
  constexpr int kEach = 20'000;
  constexpr std::uint32_t kCap = 3;
  CappedCounter counter;
  std::atomic<int> over{0};
  std::atomic<int> holders{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] {
      for (int n = 0; n < kEach; ++n) {
        if (!counter.try_increment(kCap)) continue;
        if (holders.fetch_add(1) >= static_cast<int>(kCap)) over.fetch_add(1);
        holders.fetch_sub(1);
        counter.decrement();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(over.load() == 0);
  CHECK(counter.count() == 0);
}

}  // namespace spillway::proxy
