#include "proxy/net/readiness_set.hpp"

#include <unistd.h>

#include <doctest/doctest.h>

#include <algorithm>
#include <deque>
#include <optional>
#include <vector>

#include "unit/proxy/net/bell.hpp"

namespace spillway::proxy {
namespace {

// A set with its io_context. turn() waits and delivers once, if there is anything.
struct Watched {
  boost::asio::io_context io{1};
  ReadinessSet set{io.get_executor()};
  bool is_waiting = false;

  int turn(std::size_t besides = 0) {
    int delivered = 0;
    if (!std::exchange(is_waiting, true)) {
      set.async_wait(
          [this](const boost::system::error_code& error) { is_waiting = error.failed(); });
    }
    io.poll();
    io.restart();
    if (is_waiting) return 0;
    set.deliver_events(
        besides,
        [this] {
          ++clock_reads;
          return now;
        },
        [&](Watcher& watcher, std::uint32_t events) {
          ++delivered;
          watcher.on_events(events);
        });
    return delivered;
  }

  TimePoint now = TimePoint{} + std::chrono::hours(1);
  int clock_reads = 0;
};

// More events than a turn takes, and no coroutine waits for any of them.
void ring_others(Watched& watched, std::deque<Bell>& bells, std::size_t& heard) {
  for (std::size_t n = 0; n < 4 * ReadinessSet::kOthers; ++n) {
    bells.emplace_back([&heard] { ++heard; }).ring();
    REQUIRE(watched.set.add(bells.back().descriptor(), EPOLLIN, bells.back()));
  }
}

}  // namespace

TEST_CASE("a condition that holds when a descriptor is added is reported and then each edge") {
  Watched watched;
  int heard = 0;
  Bell bell([&] { ++heard; });
  bell.ring();
  REQUIRE(watched.set.add(bell.descriptor(), EPOLLIN, bell));
  CHECK(watched.turn() == 1);
  CHECK(watched.turn() == 0);
  bell.ring();
  bell.ring();
  CHECK(watched.turn() == 1);
  CHECK(watched.turn() == 0);
  CHECK(heard == 2);
}

TEST_CASE("change replaces the interest set and reports again what holds already") {
  Watched watched;
  int heard = 0;
  Bell bell([&] { ++heard; });
  bell.ring();
  REQUIRE(watched.set.add(bell.descriptor(), 0, bell));
  CHECK(watched.turn() == 0);
  for (int change = 1; change <= 2; ++change) {
    watched.set.change(bell.descriptor(), EPOLLIN, bell);
    CHECK(watched.turn() == 1);
    CHECK(watched.turn() == 0);
    CHECK(heard == change);
  }
  watched.set.change(bell.descriptor(), 0, bell);
  bell.ring();
  CHECK(watched.turn() == 0);
}

TEST_CASE("events beyond those of one turn are delivered by the next wait at once, oldest first") {
  constexpr std::size_t kMore = 10;
  Watched watched;
  std::vector<std::size_t> heard;
  std::deque<Bell> bells;
  for (std::size_t n = 0; n < ReadinessSet::kOthers + kMore; ++n) {
    bells.emplace_back([&heard, n] { heard.push_back(n); }).ring();
    REQUIRE(watched.set.add(bells.back().descriptor(), EPOLLIN, bells.back()));
  }
  CHECK(watched.turn() == ReadinessSet::kOthers);
  CHECK(watched.turn() == kMore);
  CHECK(heard.size() == ReadinessSet::kOthers + kMore);
  CHECK(std::ranges::is_sorted(heard));
  CHECK(watched.turn() == 0);
}

TEST_CASE("one look tells of all descriptors although its events are those of several turns") {
  Watched watched;
  std::deque<Bell> bells;
  for (std::size_t n = 0; n < 2 * ReadinessSet::kOthers; ++n) {
    bells.emplace_back([] {}).ring();
    REQUIRE(watched.set.add(bells.back().descriptor(), EPOLLIN, bells.back()));
  }
  Bell silent([] {});
  REQUIRE(watched.set.add(silent.descriptor(), EPOLLIN, silent));
  REQUIRE(watched.turn() == ReadinessSet::kOthers);
  CHECK(watched.set.looks() == 1);
  CHECK(watched.set.is_quiet(silent));
  CHECK(watched.set.is_quiet(bells.front()));
  CHECK_FALSE(watched.set.is_quiet(bells.back()));
  REQUIRE(watched.turn() == ReadinessSet::kOthers);
  CHECK(watched.set.is_quiet(bells.back()));
}

TEST_CASE("no descriptor is quiet after a look that found as many as it takes") {
  for (const std::size_t more : {0, 1}) {
    Watched watched;
    std::deque<Bell> bells;
    for (std::size_t n = 0; n < ReadinessSet::kLook - 1 + more; ++n) {
      bells.emplace_back([] {}).ring();
      REQUIRE(watched.set.add(bells.back().descriptor(), EPOLLIN, bells.back()));
    }
    Bell silent([] {});
    REQUIRE(watched.set.add(silent.descriptor(), EPOLLIN, silent));
    REQUIRE(watched.turn() == ReadinessSet::kOthers);
    CHECK(watched.set.is_quiet(silent) == (more == 0));
    REQUIRE(watched.turn() == ReadinessSet::kOthers);
    CHECK(watched.set.is_quiet(silent));
  }
}

// The control: where nothing is awaited they wait for their turn behind those that came before.
TEST_CASE("an awaited event waits for no more than a turn's part of those found before it") {
  for (const bool is_awaited : {true, false}) {
    CAPTURE(is_awaited);
    Watched watched;
    std::size_t heard_before = 0, heard = 0;
    std::deque<Bell> bells;
    ring_others(watched, bells, heard);
    REQUIRE(watched.turn() == ReadinessSet::kOthers);
    Bell awaited([&] { heard_before = heard; });
    awaited.awaited = is_awaited;
    awaited.ring();
    REQUIRE(watched.set.add(awaited.descriptor(), EPOLLIN, awaited));
    while (watched.turn() > 0) {
    }
    CHECK(heard_before == (is_awaited ? 2 : 4) * ReadinessSet::kOthers);
    CHECK(heard == bells.size());
  }
}

TEST_CASE("much work that has begun leaves the others a quarter of a turn") {
  constexpr std::size_t kAwaited = 4 * ReadinessSet::kOthers;
  Watched watched;
  std::deque<Bell> bells;
  std::size_t heard_others = 0;
  for (std::size_t n = 0; n < kAwaited; ++n) {
    for (const bool is_awaited : {true, false}) {
      bells.emplace_back([&, is_awaited] { heard_others += !is_awaited; }).ring();
      bells.back().awaited = is_awaited;
      REQUIRE(watched.set.add(bells.back().descriptor(), EPOLLIN, bells.back()));
    }
  }
  static_assert(2 * kAwaited <= ReadinessSet::kLook);
  CHECK(watched.turn() == kAwaited + kAwaited / 3);
  CHECK(heard_others == kAwaited / 3);
  // What ran without an event counts likewise.
  CHECK(watched.turn(2 * kAwaited) == 2 * kAwaited / 3);
  CHECK(heard_others == kAwaited / 3 + 2 * kAwaited / 3);
}

TEST_CASE("the wait of the oldest event that is not delivered is told") {
  Watched watched;
  std::deque<Bell> bells;
  const auto ring = [&](std::size_t times) {
    for (; times > 0; --times) {
      bells.emplace_back([] {}).ring();
      REQUIRE(watched.set.add(bells.back().descriptor(), EPOLLIN, bells.back()));
    }
  };
  const auto wait = [&] { return watched.set.oldest_wait(watched.now); };
  const auto turn = [&](Milliseconds passed) {
    watched.now += passed;
    return watched.turn();
  };
  ring(ReadinessSet::kOthers);
  REQUIRE(turn(Milliseconds(0)) == ReadinessSet::kOthers);
  CHECK(wait() == Duration{0});
  CHECK(watched.clock_reads == 0);  // all were to be delivered

  ring(2 * ReadinessSet::kOthers + 1);
  REQUIRE(turn(Milliseconds(5)) == ReadinessSet::kOthers);
  watched.now += Milliseconds(20);
  CHECK(wait() == Milliseconds(20));
  ring(1);  // younger than all of these
  REQUIRE(turn(Milliseconds(10)) == ReadinessSet::kOthers);
  CHECK(wait() == Milliseconds(30));
  CHECK(watched.clock_reads == 2);  // once a turn
  SUBCASE("the next one is as old as the turn that found it") {
    bells[3 * ReadinessSet::kOthers].awaited = false;
    watched.set.forget(bells[3 * ReadinessSet::kOthers]);
    CHECK(wait() == Duration{0});
    watched.now += Milliseconds(7);
    CHECK(wait() == Milliseconds(7));
  }
  SUBCASE("what has begun since waits no more") {
    bells[3 * ReadinessSet::kOthers].awaited = true;
    bells[3 * ReadinessSet::kOthers].ring();
    REQUIRE(turn(Milliseconds(1)) == 2);
    CHECK(wait() == Duration{0});
  }
}

// Its coroutine waited for something else when it was found.
TEST_CASE("an event that was found before it is awaited does not wait behind the others then") {
  for (const bool hurries : {true, false}) {
    CAPTURE(hurries);
    Watched watched;
    std::size_t heard_before = 0, heard = 0;
    std::deque<Bell> bells;
    ring_others(watched, bells, heard);
    Bell awaited([&] { heard_before = heard; });
    awaited.ring();
    REQUIRE(watched.set.add(awaited.descriptor(), EPOLLIN, awaited));
    REQUIRE(watched.turn() == ReadinessSet::kOthers);
    awaited.awaited = true;
    if (hurries) watched.set.hurry(awaited);
    while (watched.turn() > 0) {
    }
    CHECK(heard_before == (hurries ? 2 : 4) * ReadinessSet::kOthers);
  }
  Watched nothing;
  Bell silent([] {});
  REQUIRE(nothing.set.add(silent.descriptor(), EPOLLIN, silent));
  nothing.set.hurry(silent);
  CHECK(nothing.turn() == 0);
}

TEST_CASE("what becomes ready again before its event is delivered has one event") {
  Watched watched;
  std::deque<Bell> bells;
  for (std::size_t n = 0; n < ReadinessSet::kOthers; ++n) {
    bells.emplace_back([] {}).ring();
    REQUIRE(watched.set.add(bells.back().descriptor(), EPOLLIN, bells.back()));
  }
  int heard = 0;
  Bell last([&] { ++heard; });
  last.ring();
  REQUIRE(watched.set.add(last.descriptor(), EPOLLIN, last));
  REQUIRE(watched.turn() == ReadinessSet::kOthers);
  last.ring();
  CHECK(watched.turn() == 1);
  CHECK(watched.turn() == 0);
  CHECK(heard == 1);
}

TEST_CASE("a watcher that ends before its event is delivered gets none") {
  Watched watched;
  std::deque<Bell> bells;
  for (std::size_t n = 0; n < 2 * ReadinessSet::kOthers; ++n) {
    bells.emplace_back([] {}).ring();
    REQUIRE(watched.set.add(bells.back().descriptor(), EPOLLIN, bells.back()));
  }
  REQUIRE(watched.turn() == ReadinessSet::kOthers);
  bells.pop_back();
  CHECK(watched.turn() == ReadinessSet::kOthers - 1);
}

TEST_CASE("a watcher forgotten during delivery gets no event of that batch but those after it") {
  Watched watched;
  int heard = 0;
  Bell* bells[2] = {};
  const auto hear = [&](int other) {
    return [&, other] {
      ++heard;
      watched.set.forget(*bells[other]);
    };
  };
  Bell first(hear(1)), second(hear(0));
  bells[0] = &first;
  bells[1] = &second;
  for (Bell* bell : bells) {
    bell->ring();
    REQUIRE(watched.set.add(bell->descriptor(), EPOLLIN, *bell));
  }
  CHECK(watched.turn() == 1);
  for (Bell* bell : bells) bell->ring();
  CHECK(watched.turn() == 1);
  CHECK(heard == 2);
}

TEST_CASE("a closed descriptor is watched no more") {
  Watched watched;
  std::optional<Bell> bell(std::in_place, [] {});
  REQUIRE(watched.set.add(bell->descriptor(), EPOLLIN, *bell));
  bell->ring();
  bell.reset();
  CHECK(watched.turn() == 0);
}

TEST_CASE("a removed descriptor is watched no more although a copy of it is still open") {
  for (const bool removes : {false, true}) {
    Watched watched;
    int heard = 0;
    Bell bell([&] { ++heard; });
    REQUIRE(watched.set.add(bell.descriptor(), EPOLLIN, bell));
    const int copy = ::dup(bell.descriptor());
    REQUIRE(copy >= 0);
    if (removes) watched.set.remove(bell.descriptor());
    bell.ring();
    CHECK(watched.turn() == (removes ? 0 : 1));
    CHECK(heard == (removes ? 0 : 1));
    ::close(copy);
  }
}

TEST_CASE("what cannot be watched is refused") {
  Watched watched;
  Bell bell([] {});
  CHECK_FALSE(watched.set.add(-1, EPOLLIN, bell));
  REQUIRE(watched.set.add(bell.descriptor(), EPOLLIN, bell));
  CHECK_FALSE(watched.set.add(bell.descriptor(), EPOLLIN, bell));
}

}  // namespace spillway::proxy
