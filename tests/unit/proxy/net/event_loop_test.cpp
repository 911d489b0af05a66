#include "proxy/net/event_loop.hpp"

#include <doctest/doctest.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <functional>
#include <memory>
#include <thread>
#include <vector>

namespace spillway::proxy {
namespace {

// An eventfd that says when the loop has told it something.
class Bell final : public Watcher {
 public:
  explicit Bell(EventLoop& loop, std::function<void()> told)
      : descriptor_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)), told_(std::move(told)) {
    REQUIRE(loop.watch(descriptor_, EPOLLIN, *this));
  }
  ~Bell() { ::close(descriptor_); }
  void ring() { ::eventfd_write(descriptor_, 1); }

 private:
  void on_events(std::uint32_t) override { told_(); }

  int descriptor_;
  std::function<void()> told_;
};

}  // namespace

TEST_CASE("what is posted runs in its order and what it posts has its turn after it") {
  EventLoop loop;
  std::vector<int> ran;
  loop.post([&] {
    ran.push_back(1);
    loop.post([&] { ran.push_back(3); });
  });
  loop.post([&] { ran.push_back(2); });
  CHECK(ran.empty());
  loop.poll();
  CHECK(ran == std::vector{1, 2, 3});
}

TEST_CASE("what other threads post wakes a loop that waits and none of it is lost") {
  constexpr int kThreads = 4;
  constexpr int kEach = 2000;
  EventLoop loop;
  int ran = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] {
      for (int n = 0; n < kEach; ++n) {
        loop.post([&] {
          if (++ran == kThreads * kEach) loop.stop();
        });
      }
    });
  }
  loop.run();
  for (std::thread& thread : threads) thread.join();
  CHECK(ran == kThreads * kEach);
}

TEST_CASE("what is posted to the own thread by dispatch runs at once and else later") {
  EventLoop loop;
  bool ran = false;
  loop.dispatch([&] { ran = true; });
  CHECK_FALSE(ran);  // it is nobody's yet
  loop.poll();
  CHECK(std::exchange(ran, false));
  loop.post([&] {
    loop.dispatch([&] { ran = true; });
    CHECK(ran);
  });
  loop.poll();
}

TEST_CASE("what is posted to a loop that has ended is dropped with all that it holds") {
  const auto held = std::make_shared<int>(0);
  {
    EventLoop loop;
    loop.post([held] {});
    CHECK(held.use_count() == 2);
    loop.discard();
    CHECK(held.use_count() == 1);
    loop.post([held] {});
  }
  CHECK(held.use_count() == 1);
}

TEST_CASE("an edge is told once however long nobody does anything about it") {
  EventLoop loop;
  int told = 0;
  Bell bell(loop, [&] { ++told; });
  loop.poll();
  CHECK(told == 0);
  bell.ring();
  loop.poll();
  loop.poll();
  CHECK(told == 1);
  bell.ring();
  loop.poll();
  CHECK(told == 2);
}

TEST_CASE("who is forgotten is not told of what the loop has seen already") {
  for (const bool forgets : {true, false}) {
    CAPTURE(forgets);
    EventLoop loop;
    int told = 0;
    Bell* bells[2];
    const auto tell = [&](int other) {
      return [&, other] {
        ++told;
        if (forgets) loop.forget(*bells[other]);
      };
    };
    Bell first(loop, tell(1)), second(loop, tell(0));
    bells[0] = &first;
    bells[1] = &second;
    first.ring();
    second.ring();
    loop.poll();
    CHECK(told == (forgets ? 1 : 2));
    told = 0;
    loop.tell_soon(first);
    loop.tell_soon(second);
    loop.poll();
    CHECK(told == (forgets ? 1 : 2));
  }
}

TEST_CASE("the clock is asked once an event and anew for the next") {
  EventLoop loop;
  TimePoint first, next;
  loop.post([&] {
    first = loop.now();
    while (Clock::now() == first) {
    }
    CHECK(loop.now() == first);
  });
  loop.post([&] { next = loop.now(); });
  const TimePoint before = Clock::now();
  loop.poll();
  CHECK(first >= before);
  CHECK(next > first);
  CHECK(next <= Clock::now());
}

TEST_CASE("a timer runs once at its time and not when it was cancelled") {
  EventLoop loop;
  int ran = 0;
  const auto count = [](void* counter) { ++*static_cast<int*>(counter); };
  LoopTimer timer(loop, count, &ran);
  const TimePoint due = Clock::now() + Milliseconds{5};
  timer.set(due);
  while (ran == 0 && Clock::now() < due + Milliseconds{10'000}) loop.poll();
  CHECK(ran == 1);
  CHECK(Clock::now() >= due);

  timer.set(Clock::now());
  timer.cancel();
  loop.poll();
  CHECK(ran == 1);
  timer.set(TimePoint{});  // long ago
  while (ran == 1 && Clock::now() < due + Milliseconds{10'000}) loop.poll();
  CHECK(ran == 2);
}

}  // namespace spillway::proxy
