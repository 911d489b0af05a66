#include "proxy/net/loop_timer.hpp"

#include <doctest/doctest.h>

#include <boost/asio/steady_timer.hpp>
#include <memory>
#include <optional>

namespace spillway::proxy {
namespace {

constexpr Milliseconds kPatience{10'000};

// Until the condition holds or ten seconds have passed.
template <class Condition>
void poll_until(EventLoop& loop, Condition condition) {
  const TimePoint end = Clock::now() + kPatience;
  while (!condition() && Clock::now() < end) loop.poll();
}

}  // namespace

TEST_CASE("a timer calls its function once at its time") {
  EventLoop loop;
  int ran = 0;
  LoopTimer timer(loop, [&] { ++ran; });
  const TimePoint due = Clock::now() + Milliseconds{5};
  timer.set(due);
  poll_until(loop, [&] { return ran > 0; });
  CHECK(Clock::now() >= due);
  loop.poll();
  CHECK(ran == 1);
}

TEST_CASE("a time long ago is due at once") {
  EventLoop loop;
  int ran = 0;
  LoopTimer timer(loop, [&] { ++ran; });
  timer.set(TimePoint{});
  poll_until(loop, [&] { return ran > 0; });
  CHECK(ran == 1);
}

TEST_CASE("a timer that is set again forgets the time before") {
  EventLoop loop;
  int ran = 0;
  LoopTimer timer(loop, [&] { ++ran; });
  timer.set(Clock::now());
  timer.set(Clock::now() + kPatience);
  bool later = false;
  LoopTimer other(loop, [&] { later = true; });
  other.set(Clock::now());
  poll_until(loop, [&] { return later; });
  CHECK(ran == 0);
}

TEST_CASE("the function may set its timer again") {
  EventLoop loop;
  int ran = 0;
  std::optional<LoopTimer> timer;
  timer.emplace(loop, [&] {
    if (++ran < 3) timer->set(Clock::now());
  });
  timer->set(Clock::now());
  poll_until(loop, [&] { return ran == 3; });
  CHECK(ran == 3);
}

// Both are due, so both handlers are queued when the first one runs. The control is a plain Asio
// timer: its handler runs all the same.
TEST_CASE("a timer that is cancelled or destroyed after it fired does not call its function") {
  EventLoop loop;
  int ran = 0;
  int plain_ran = 0;
  boost::asio::steady_timer plain(loop.io());
  LoopTimer cancelled(loop, [&] { ++ran; });
  auto destroyed = std::make_unique<LoopTimer>(loop, [&] { ++ran; });
  bool first_ran = false;
  LoopTimer first(loop, [&] {
    first_ran = true;
    plain.cancel();
    cancelled.cancel();
    destroyed.reset();
  });
  const TimePoint due = Clock::now();
  first.set(due - Milliseconds{3});  // Asio queues them in the order of their times
  plain.expires_at(due - Milliseconds{2});
  plain.async_wait([&](const boost::system::error_code& error) { plain_ran += !error; });
  cancelled.set(due - Milliseconds{1});
  destroyed->set(due);
  poll_until(loop, [&] { return first_ran; });
  loop.poll();
  CHECK(ran == 0);
  CHECK(plain_ran == 1);
}

}  // namespace spillway::proxy
