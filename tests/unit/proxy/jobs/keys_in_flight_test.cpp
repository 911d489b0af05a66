// Which requests exclude each other by their Idempotency-Key.
#include "proxy/jobs/keys_in_flight.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

namespace spillway::proxy {
namespace {

// The second one is in the shard of the first.
constexpr jobs::Digest kOne{7, 1};
constexpr jobs::Digest kNeighbour{7, 2};

}  // namespace

TEST_CASE("a key that is answered live is one request's alone, until it lets it go") {
  KeysInFlight keys;
  KeyInFlight first, second;
  REQUIRE(first.take(keys, kOne, KeyUse::live));
  CHECK_FALSE(second.take(keys, kOne, KeyUse::live));
  CHECK_FALSE(second.is_held());
  CHECK_FALSE(second.take(keys, kOne, KeyUse::written_down));
  CHECK(second.take(keys, kNeighbour, KeyUse::live));
  second.release();
  first.release();
  CHECK(second.take(keys, kOne, KeyUse::live));
}

TEST_CASE("requests on their way to the store share a key, which none is answered live with") {
  KeysInFlight keys;
  KeyInFlight first, second, live;
  CHECK(first.take(keys, kOne, KeyUse::written_down));
  CHECK(second.take(keys, kOne, KeyUse::written_down));
  CHECK_FALSE(live.take(keys, kOne, KeyUse::live));
  first.release();
  CHECK_FALSE(live.take(keys, kOne, KeyUse::live));
  second.release();
  CHECK(live.take(keys, kOne, KeyUse::live));
}

TEST_CASE("who is destroyed lets go, who is moved hands on") {
  KeysInFlight keys;
  KeyInFlight other;
  {
    KeyInFlight first;
    REQUIRE(first.take(keys, kOne, KeyUse::live));
    const KeyInFlight moved(std::move(first));
    CHECK(moved.is_held());
    CHECK_FALSE(first.is_held());  // NOLINT(bugprone-use-after-move)
    first.release();
    CHECK_FALSE(other.take(keys, kOne, KeyUse::live));
  }
  CHECK(other.take(keys, kOne, KeyUse::live));
  KeyInFlight none;
  const KeyInFlight moved(std::move(none));
  CHECK_FALSE(moved.is_held());
}

TEST_CASE("of workers that want one key at a time one has it") {
  KeysInFlight keys;
  std::atomic<int> holders{0}, taken{0};
  std::atomic<bool> was_alone{true};
  std::vector<std::thread> workers;
  for (int n = 0; n < 4; ++n) {
    workers.emplace_back([&] {
      for (int round = 0; round < 2000; ++round) {
        KeyInFlight key;
        if (!key.take(keys, kOne, KeyUse::live)) continue;
        ++taken;
        const KeyInFlight moved(std::move(key));
        if (holders++ != 0) was_alone = false;
        --holders;
      }
    });
  }
  for (std::thread& worker : workers) worker.join();
  CHECK(was_alone);
  CHECK(taken > 0);
}

}  // namespace spillway::proxy
