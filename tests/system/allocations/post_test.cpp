// Posting stored work to an event loop allocates nothing, on whichever thread.
#include <doctest/doctest.h>

#include <array>
#include <atomic>
#include <thread>
#include <vector>

#include "proxy/net/event_loop.hpp"
#include "system/allocations/counter.hpp"

namespace spillway::allocations {
namespace {

constexpr int kThreads = 3;
constexpr int kEach = 10'000;

struct Work final : proxy::Posted {
  std::atomic<int> ran{0};
  void run() override { ran.fetch_add(1); }
};

// Posts again and again, each time once the work has run.
std::uint64_t allocations_of_posting(proxy::EventLoop& loop, Work& work) {
  const std::uint64_t before = by_this_thread();
  for (int n = 0; n < kEach; ++n) {
    loop.post(work);
    while (work.ran.load() <= n) std::this_thread::yield();
  }
  return by_this_thread() - before;
}

}  // namespace

TEST_CASE("work posted by several threads runs each time and allocates nothing") {
  proxy::EventLoop loop;
  std::array<Work, kThreads> works;
  std::array<std::uint64_t, kThreads> posting{};
  std::uint64_t running = 0;
  std::atomic<int> ended{0};
  std::thread runner([&] {
    const std::uint64_t before = by_this_thread();
    loop.run();
    running = by_this_thread() - before;
  });
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      posting[t] = allocations_of_posting(loop, works[t]);
      if (ended.fetch_add(1) == kThreads - 1) loop.stop();
    });
  }
  for (std::thread& thread : threads) thread.join();
  runner.join();
  for (int t = 0; t < kThreads; ++t) {
    CHECK(works[t].ran.load() == kEach);
    CHECK(posting[t] == 0);
  }
  // Asio's: the first handlers of the thread; it keeps their memory.
  CHECK(running <= 8);

  // The control: a function is stored on the heap.
  const std::uint64_t before = by_this_thread();
  loop.post([] {});
  CHECK(by_this_thread() == before + 1);
}

}  // namespace spillway::allocations
