#include "proxy/worker/accept_resume.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <thread>

namespace spillway::proxy {

TEST_CASE("who waits for room is told once and nobody else is") {
  AcceptResume room;
  int told = 0;
  room.on_freed([&] { ++told; });
  room.freed();
  CHECK(told == 0);
  room.wait();
  room.freed();
  room.freed();
  CHECK(told == 1);
  CHECK_FALSE(room.stop_waiting());
  room.wait();
  CHECK(room.stop_waiting());
  room.freed();
  CHECK(told == 1);
}

// One connection at a time: whoever does not see that it ended would wait for ever.
TEST_CASE("a connection that ends while it is counted is seen by one of both") {
  constexpr int kConnections = 2'000;
  AcceptResume room;
  std::atomic<int> open{0};
  std::atomic<int> woken{0};
  room.on_freed([&] { woken.fetch_add(1); });
  std::thread worker([&] {
    for (int ended = 0; ended < kConnections;) {
      if (open.load() == 0) {
        std::this_thread::yield();
        continue;
      }
      open.fetch_sub(1);
      room.freed();
      ++ended;
    }
  });
  int by_itself = 0;
  for (int n = 0; n < kConnections; ++n) {
    const int before = woken.load();
    open.fetch_add(1);
    room.wait();
    if (open.load() == 0 && room.stop_waiting()) {
      ++by_itself;
    } else {
      while (woken.load() == before) std::this_thread::yield();
    }
  }
  worker.join();
  CHECK(by_itself + woken.load() == kConnections);
}

}  // namespace spillway::proxy
