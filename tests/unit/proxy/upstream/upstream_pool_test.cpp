#include "proxy/upstream/upstream_pool.hpp"

#include <doctest/doctest.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <functional>
#include <thread>
#include <utility>
#include <vector>

#include "config/config.hpp"

namespace spillway::proxy {
namespace {

config::Config one_upstream() {
  config::Config config;
  config.upstreams.emplace_back();
  config.classes.emplace_back();
  config.routes.emplace_back();
  return config;
}

// An event of the loop's own, before those of connections that become ready after it.
class Bell final : public Watcher {
 public:
  explicit Bell(EventLoop& loop) : loop_(loop), descriptor_(::eventfd(0, EFD_NONBLOCK)) {
    REQUIRE(loop_.watch(descriptor_, EPOLLIN, *this));
  }
  ~Bell() {
    loop_.unwatch(descriptor_);
    ::close(descriptor_);
  }
  void ring() { REQUIRE(::eventfd_write(descriptor_, 1) == 0); }
  std::function<void()> on_ring = [] {};

 private:
  void on_events(std::uint32_t) override { on_ring(); }

  EventLoop& loop_;
  int descriptor_;
};

// An event that the loop has put off.
class Later final : public Watcher {
 public:
  Later(EventLoop& loop, std::function<void()> what) : loop_(loop), what_(std::move(what)) {}
  ~Later() { loop_.forget(*this); }
  void soon() { loop_.defer(*this); }

 private:
  void on_events(std::uint32_t) override { what_(); }

  EventLoop& loop_;
  std::function<void()> what_;
};

// A pool over two servers, and the far ends of its connections.
struct PoolUnderTest {
  PoolUnderTest(std::uint32_t most_open, std::uint32_t most_idle)
      : budget(most_open, most_idle), pool(loop, budget, in_flight, metrics) {}
  ~PoolUnderTest() {
    // An open one keeps itself for longer than the pool lives.
    for (const UpstreamPtr& connection : opened) connection->retire();
    for (const int descriptor : far_ends) ::close(descriptor);
  }

  UpstreamPtr open(std::size_t server) {
    REQUIRE(budget.try_open());
    int pair[2];
    REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair) == 0);
    far_ends.push_back(pair[1]);
    return opened.emplace_back(new UpstreamConnection(loop, pool, server, pair[0], true));
  }
  // Lets the connections be told of what has come.
  void settle() { loop.poll(); }
  // The loop looks at all connections.
  void look() {
    bell.ring();
    loop.poll();
  }

  const config::Config config = one_upstream();
  observe::WorkerMetrics metrics{config};
  EventLoop loop;
  Bell bell{loop};
  ConnectionBudget budget;
  resilience::InFlightCounts in_flight{2};
  UpstreamPool pool;
  std::vector<int> far_ends;
  std::vector<UpstreamPtr> opened;
};

constexpr TimePoint at(int milliseconds) { return TimePoint{} + Milliseconds{milliseconds}; }
constexpr Duration kAnyAge = Duration::max();

}  // namespace

TEST_CASE("the connection used last is taken first") {
  PoolUnderTest under(8, 8);
  const UpstreamPtr older = under.open(0), newer = under.open(0);
  CHECK(!older->reused());
  under.pool.give_back(older, at(1));
  under.pool.give_back(newer, at(2));
  under.look();
  CHECK(under.budget.idle() == 2);
  CHECK(under.pool.take(0, kAnyAge, at(3)) == newer);
  CHECK(newer->reused());
  CHECK(under.pool.take(0, kAnyAge, at(3)) == older);
  CHECK(under.pool.take(0, kAnyAge, at(3)) == nullptr);
  CHECK(under.budget.idle() == 0);
  CHECK(under.budget.open() == 2);
}

TEST_CASE("a connection that the loop has not looked at since goes behind one that it has") {
  PoolUnderTest under(8, 8);
  const UpstreamPtr older = under.open(0), newer = under.open(0);
  under.pool.give_back(older, at(1));
  under.look();
  under.pool.give_back(newer, at(2));
  SUBCASE("in general") {
    CHECK(under.pool.take(0, kAnyAge, at(3)) == older);
    CHECK(under.pool.take(0, kAnyAge, at(3)) == newer);
  }
  SUBCASE("but not behind one idle for too long") {
    CHECK(under.pool.take(0, Milliseconds{2}, at(3)) == newer);
    CHECK(under.pool.take(0, Milliseconds{2}, at(3)) == nullptr);
  }
}

TEST_CASE("stray bytes are found although the loop has not looked since the last response") {
  for (const bool is_stray : {true, false}) {
    CAPTURE(is_stray);
    PoolUnderTest under(8, 8);
    under.pool.give_back(under.open(0), at(1));
    if (is_stray) REQUIRE(::write(under.far_ends[0], "x", 1) == 1);
    CHECK((under.pool.take(0, kAnyAge, at(2)) == nullptr) == is_stray);
  }
}

TEST_CASE("stray bytes are found although another event of the same look comes first") {
  for (const bool is_stray : {true, false}) {
    CAPTURE(is_stray);
    PoolUnderTest under(8, 8);
    under.pool.give_back(under.open(0), at(1));
    under.look();
    UpstreamPtr taken;
    under.bell.on_ring = [&] { taken = under.pool.take(0, kAnyAge, at(2)); };
    under.bell.ring();
    if (is_stray) REQUIRE(::write(under.far_ends[0], "x", 1) == 1);
    under.settle();
    CHECK((taken == nullptr) == is_stray);
  }
}

TEST_CASE("stray bytes are found although their edge came before the last response was read") {
  for (const bool is_stray : {true, false}) {
    CAPTURE(is_stray);
    PoolUnderTest under(8, 8);
    const UpstreamPtr connection = under.open(0);
    REQUIRE(::write(under.far_ends[0], "response+", is_stray ? 9 : 8) > 0);
    under.settle();
    char response[8];
    REQUIRE(connection->receive(response).bytes == sizeof response);  // exactly full
    if (!is_stray) REQUIRE(connection->receive(response).status == IoResult::Status::would_block);
    // Within a turn, so that the next look comes before the connection looks for itself.
    UpstreamPtr taken;
    Later give_back(under.loop, [&] { under.pool.give_back(connection, at(1)); });
    under.bell.on_ring = [&] { taken = under.pool.take(0, kAnyAge, at(2)); };
    give_back.soon();
    under.bell.ring();
    under.settle();
    CHECK((taken == nullptr) == is_stray);
  }
}

TEST_CASE("a connection belongs to its server") {
  PoolUnderTest under(8, 8);
  const UpstreamPtr connection = under.open(1);
  under.pool.give_back(connection, at(1));
  CHECK(under.pool.take(0, kAnyAge, at(1)) == nullptr);
  CHECK(under.pool.take(1, kAnyAge, at(1)) == connection);
}

TEST_CASE("a connection is in flight at its server whenever it is not idle") {
  PoolUnderTest under(8, 1);
  UpstreamPtr first = under.open(1), second = under.open(1);
  CHECK(under.in_flight[0] == 0);
  CHECK(under.in_flight[1] == 2);
  under.pool.give_back(std::move(first), at(0));
  CHECK(under.in_flight[1] == 1);
  under.pool.give_back(std::move(second), at(0));  // one too many: closed
  CHECK(under.in_flight[1] == 0);
  const UpstreamPtr taken = under.pool.take(1, kAnyAge, at(1));
  CHECK(under.in_flight[1] == 1);
  under.pool.give_back(taken, at(2));
  CHECK(under.pool.close_one());
  CHECK(under.in_flight[1] == 0);
}

TEST_CASE("the idle connections of one server can be closed without the others'") {
  PoolUnderTest under(8, 8);
  under.pool.give_back(under.open(0), at(0));
  under.pool.give_back(under.open(1), at(0));
  under.pool.give_back(under.open(1), at(1));
  under.pool.close_idle_to(1);
  CHECK(under.budget.open() == 1);
  CHECK(under.pool.take(1, kAnyAge, at(2)) == nullptr);
  CHECK(under.pool.take(0, kAnyAge, at(2)) != nullptr);
}

TEST_CASE("a caller that asks for a fresh connection does not get one idle for longer") {
  PoolUnderTest under(8, 8);
  under.pool.give_back(under.open(0), at(0));
  CHECK(under.pool.take(0, Milliseconds{1000}, at(1000)) == nullptr);
  CHECK(under.pool.take(0, Milliseconds{1000}, at(999)) != nullptr);
}

TEST_CASE("no more connections are kept idle than configured") {
  PoolUnderTest under(8, 1);
  const UpstreamPtr kept = under.open(0), closed = under.open(0);
  under.pool.give_back(kept, at(1));
  under.pool.give_back(closed, at(2));
  CHECK(under.budget.idle() == 1);
  CHECK(under.budget.open() == 1);
  CHECK(!closed->open());
  CHECK(kept->open());
}

TEST_CASE("an idle connection that the upstream closes leaves the pool at once") {
  PoolUnderTest under(8, 8);
  under.pool.give_back(under.open(0), at(1));
  SUBCASE("by closing") { ::shutdown(under.far_ends[0], SHUT_WR); }
  SUBCASE("by bytes that answer no request") { REQUIRE(::write(under.far_ends[0], "x", 1) == 1); }
  under.settle();
  CHECK(under.budget.idle() == 0);
  CHECK(under.budget.open() == 0);
  CHECK(under.metrics.gauges->upstream_connections.value() == 0);
  CHECK(under.pool.take(0, kAnyAge, at(2)) == nullptr);
}

TEST_CASE("connections that a lower limit does not need are closed as they become idle") {
  PoolUnderTest under(8, 8);
  std::vector<UpstreamPtr> busy;
  for (int n = 0; n < 6; ++n) busy.push_back(under.open(0));
  under.budget.follow(6, at(0));
  under.pool.give_back(std::exchange(busy[5], nullptr), at(1));
  CHECK(under.budget.idle() == 1);
  under.budget.follow(3, at(20'000));
  for (std::size_t n = 2; n < 5; ++n)
    under.pool.give_back(std::exchange(busy[n], nullptr), at(20'001));
  CHECK(under.budget.open() == 3);  // two are busy
  CHECK(under.budget.idle() == 1);
  // Before another one is opened that one goes, since as many as are needed are open.
  under.pool.make_room();
  CHECK(under.budget.idle() == 0);
  CHECK(under.budget.open() == 2);
  under.pool.make_room();
  CHECK(under.budget.open() == 2);
}

TEST_CASE("a limit that swings keeps the connections of its most for ten seconds") {
  ConnectionBudget budget(100, 100);
  budget.follow(20, at(20'000));
  for (int n = 0; n < 15; ++n) REQUIRE(budget.try_open());
  for (int turn = 0; turn < 90; ++turn)
    budget.follow(turn % 2 == 0 ? 10 : 20, at(20'100 + turn * 100));
  CHECK_FALSE(budget.is_over());
  budget.follow(10, at(40'000));
  CHECK(budget.is_over());
  budget.follow(16, at(40'100));  // up at once
  CHECK_FALSE(budget.is_over());
}

TEST_CASE("a full budget is relieved by closing the connection idle longest") {
  PoolUnderTest under(2, 8);
  const UpstreamPtr older = under.open(1), newer = under.open(0);
  CHECK(!under.budget.try_open());
  CHECK(!under.pool.close_one());  // both are busy
  under.pool.give_back(older, at(1));
  under.pool.give_back(newer, at(2));
  CHECK(under.pool.close_one());
  CHECK(!older->open());
  CHECK(newer->open());
  CHECK(under.budget.try_open());
}

TEST_CASE("connections idle for too long are closed and the others stay") {
  PoolUnderTest under(8, 8);
  under.pool.give_back(under.open(0), at(1));
  under.pool.give_back(under.open(1), at(2));
  under.pool.give_back(under.open(0), at(3));
  under.pool.close_idle_since(at(3));
  CHECK(under.budget.open() == 1);
  CHECK(under.pool.take(0, kAnyAge, at(4)) != nullptr);
}

TEST_CASE("a retired connection gives its place back once") {
  PoolUnderTest under(1, 1);
  {
    const UpstreamPtr connection = under.open(0);
    connection->retire();
    CHECK(under.budget.open() == 0);
    connection->retire();
    CHECK(under.budget.open() == 0);
  }
  CHECK(under.budget.open() == 0);
}

TEST_CASE("threads that open and close at random never have more open than the budget") {
  ConnectionBudget budget(3, 2);
  std::atomic<int> open{0};
  std::atomic<bool> exceeded{false};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int n = 0; n < 20'000; ++n) {
        if (!budget.try_open()) continue;
        if (open.fetch_add(1) >= 3) exceeded = true;
        open.fetch_sub(1);
        budget.closed();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(!exceeded);
  CHECK(budget.open() == 0);
}

}  // namespace spillway::proxy
