#include "proxy/net/event_loop.hpp"

#include <doctest/doctest.h>

#include <array>
#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "proxy/net/loop_timer.hpp"
#include "unit/proxy/net/bell.hpp"

namespace spillway::proxy {
namespace {

// Runs the loop until stop(). False if that takes ten seconds: the loop sleeps although it has
// something to do.
bool run_to_stop(EventLoop& loop) {
  bool in_time = true;
  LoopTimer deadline(loop, [&] {
    in_time = false;
    loop.stop();
  });
  deadline.set(Clock::now() + Milliseconds{10'000});
  loop.run();
  return in_time;
}

// Work that posts itself until its function says no.
class Chain final : public Posted {
 public:
  Chain(EventLoop& loop, std::function<bool()> go_on) : loop_(loop), go_on_(std::move(go_on)) {}
  void run() override {
    if (go_on_()) loop_.post(*this);
  }

 private:
  EventLoop& loop_;
  std::function<bool()> go_on_;
};

}  // namespace

TEST_CASE("posted work runs in the order of posting and what it posts runs after it") {
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

TEST_CASE("work that many threads post wakes a waiting loop and all of it runs") {
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
  CHECK(run_to_stop(loop));
  for (std::thread& thread : threads) thread.join();
  CHECK(ran == kThreads * kEach);
}

// One thread at a time, so that most posts find the loop asleep.
TEST_CASE("each post from another thread wakes the loop whatever the loop posts itself") {
  constexpr int kPosts = 2000;
  EventLoop loop;
  std::atomic<int> ran{0};
  int own = 0;
  std::thread other([&] {
    for (int n = 0; n < kPosts; ++n) {
      loop.post([&] {
        loop.post([&] { ++own; });
        ran.fetch_add(1);
      });
      while (ran.load() <= n) std::this_thread::yield();
    }
    loop.stop();
  });
  CHECK(run_to_stop(loop));
  ran.store(kPosts);  // releases the thread if the loop slept
  other.join();
  loop.poll();
  CHECK(own == kPosts);
}

TEST_CASE("dispatch runs at once within the loop and else posts") {
  EventLoop loop;
  bool ran = false;
  loop.dispatch([&] { ran = true; });
  CHECK_FALSE(ran);
  loop.poll();
  CHECK(std::exchange(ran, false));
  loop.post([&] {
    loop.dispatch([&] { ran = true; });
    CHECK(ran);
  });
  loop.poll();
}

TEST_CASE("work posted to a loop that has ended is dropped with all that it holds") {
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

TEST_CASE("a loop that waits is stopped by another thread") {
  EventLoop loop;
  std::atomic<bool> runs{false};
  std::thread other([&] {
    while (!runs.load()) std::this_thread::yield();
    loop.stop();
  });
  loop.post([&] { runs.store(true); });
  CHECK(run_to_stop(loop));
  other.join();
}

TEST_CASE("a loop that was stopped before it runs returns at once and can still be polled") {
  EventLoop loop;
  bool ran = false;
  loop.stop();
  loop.post([&] { ran = true; });
  loop.run();
  CHECK_FALSE(ran);
  loop.poll();
  CHECK(ran);
}

TEST_CASE("an edge is reported once although nothing is read") {
  EventLoop loop;
  int heard = 0;
  Bell bell(loop, [&] { ++heard; });
  loop.poll();
  CHECK(heard == 0);
  bell.ring();
  loop.poll();
  loop.poll();
  CHECK(heard == 1);
  bell.ring();
  loop.poll();
  CHECK(heard == 2);
}

TEST_CASE("a watcher forgotten within a turn gets neither the events nor the deferral due in it") {
  for (const bool forgets : {true, false}) {
    CAPTURE(forgets);
    EventLoop loop;
    int heard = 0;
    std::array<Bell*, 2> bells{};
    const auto hear = [&](std::size_t other) {
      return [&, other] {
        ++heard;
        if (forgets) loop.forget(*bells[other]);
      };
    };
    Bell first(loop, hear(1)), second(loop, hear(0));
    bells = {&first, &second};
    first.ring();
    second.ring();
    loop.poll();
    CHECK(heard == (forgets ? 1 : 2));
    heard = 0;
    loop.defer(first);
    loop.defer(second);
    loop.poll();
    CHECK(heard == (forgets ? 1 : 2));
  }
}

TEST_CASE("a watcher deferred by anything in a turn is called before the loop waits again") {
  EventLoop loop;
  Bell deferred([&] { loop.stop(); });
  SUBCASE("by a watcher") {
    Bell bell(loop, [&] { loop.defer(deferred); });
    bell.ring();
    CHECK(run_to_stop(loop));
  }
  SUBCASE("by posted work") {
    loop.post([&] { loop.defer(deferred); });
    CHECK(run_to_stop(loop));
  }
  SUBCASE("by a deferred watcher") {
    Bell first([&] { loop.defer(deferred); });
    loop.defer(first);
    CHECK(run_to_stop(loop));
  }
  SUBCASE("by a timer") {
    LoopTimer timer(loop, [&] { loop.defer(deferred); });
    timer.set(Clock::now());
    CHECK(run_to_stop(loop));
  }
}

// The control runs its links inline: it shows that the count sees starving.
TEST_CASE("work that posts itself again and again does not starve sockets") {
  constexpr int kMost = 10'000;
  for (const bool inline_control : {false, true}) {
    CAPTURE(inline_control);
    EventLoop loop;
    int links = 0;
    std::optional<int> links_before_bell;
    Bell bell(loop, [&] { links_before_bell = links; });
    Chain chain(loop, [&] { return !links_before_bell && ++links < kMost; });
    loop.post([&] {
      bell.ring();
      if (!inline_control) return loop.post(chain);
      while (!links_before_bell && ++links < kMost) loop.dispatch([] {});
    });
    loop.poll();
    REQUIRE(links_before_bell);
    CHECK((*links_before_bell < 10) == !inline_control);
  }
}

TEST_CASE("a watcher that defers itself again and again does not starve sockets") {
  constexpr int kMost = 10'000;
  EventLoop loop;
  int deferrals = 0;
  std::optional<int> deferrals_before_bell;
  Bell bell(loop, [&] { deferrals_before_bell = deferrals; });
  std::function<void()> again;
  Bell busy([&] { again(); });
  again = [&] {
    if (!deferrals_before_bell && ++deferrals < kMost) loop.defer(busy);
  };
  bell.ring();
  loop.defer(busy);
  loop.poll();
  REQUIRE(deferrals_before_bell);
  CHECK(*deferrals_before_bell < 10);
}

TEST_CASE(
    "sockets with events without end do not starve posted work, deferred watchers and timers") {
  constexpr int kMost = 10'000;
  EventLoop loop;
  int rings = 0;
  int done = 0;
  std::array<Bell*, 2> bells{};
  const auto ring = [&](std::size_t other) {
    return [&, other] {
      if (done < 3 && ++rings < kMost) bells[other]->ring();
    };
  };
  Bell first(loop, ring(1)), second(loop, ring(0));
  bells = {&first, &second};
  Bell deferred([&] { ++done; });
  LoopTimer timer(loop, [&] { ++done; });
  loop.post([&] { first.ring(); });
  loop.poll();
  CHECK(rings == kMost);  // the control: without anything to do they ring to the end
  rings = 0;
  loop.post([&] {
    first.ring();
    loop.post([&] { ++done; });
    loop.defer(deferred);
    timer.set(Clock::now());
  });
  loop.poll();
  CHECK(done == 3);
  CHECK(rings < kMost);
}

TEST_CASE("the clock is read once per event and again for the next") {
  EventLoop loop;
  TimePoint first, next, timed;
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

  LoopTimer timer(loop, [&] { timed = loop.now(); });
  timer.set(next);
  while (Clock::now() == next) {
  }
  loop.poll();
  CHECK(timed > next);
}

}  // namespace spillway::proxy
