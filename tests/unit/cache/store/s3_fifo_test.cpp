// The order of eviction, seen from outside: hits of a store that is too small for a trace of
// requests, beside LRU and FIFO with room for as many responses; and of the queues alone.
#include "cache/store/s3_fifo.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <list>
#include <random>
#include <string>
#include <unordered_map>
#include <vector>

#include "cache/store/cache_shard.hpp"
#include "unit/cache/rules/asking.hpp"

namespace spillway::cache {
namespace {

using Key = std::uint32_t;

// The control: a queue of keys from which the oldest leaves, or the one used longest ago.
class Queue {
 public:
  enum class By : std::uint8_t { age, use };
  Queue(By by, std::size_t size) : by_(by), size_(size) {}

  bool request(Key key) {
    const auto at = places_.find(key);
    if (at != places_.end()) {
      if (by_ == By::use) keys_.splice(keys_.begin(), keys_, at->second);
      return true;
    }
    keys_.push_front(key);
    places_[key] = keys_.begin();
    if (keys_.size() > size_) {
      places_.erase(keys_.back());
      keys_.pop_back();
    }
    return false;
  }
  bool has(Key key) const { return places_.contains(key); }

 private:
  By by_;
  std::size_t size_;
  std::list<Key> keys_;
  std::unordered_map<Key, std::list<Key>::iterator> places_;
};

// A store of one shard that is asked for keys, and stores what it misses.
class Store {
 public:
  bool request(Key key, TimePoint now = kStart) {
    request_.path = "/" + std::to_string(key);
    if (has(key)) return true;
    store(cache, request_, response, now);
    return false;
  }
  bool has(Key key) {
    request_.path = "/" + std::to_string(key);
    return static_cast<bool>(look(cache, request_).response);
  }
  // How many of them there is room for.
  std::size_t size() {
    for (Key key = 0; key < 10000; ++key) request(1000000 + key);
    return cache.counts().entries;
  }

  ResponseCache cache{{.max_bytes = 1 << 20, .max_entry_bytes = 1 << 17}, kSipKey};
  Response response{std::string(500, 'x')};

 private:
  Request request_{"/"};
};

std::vector<Key> zipf_trace(std::size_t requests, std::size_t keys, double exponent) {
  std::vector<double> weights(keys);
  for (std::size_t rank = 0; rank < keys; ++rank) {
    weights[rank] = 1 / std::pow(static_cast<double>(rank + 1), exponent);
  }
  std::mt19937_64 random(42);
  std::discrete_distribution<Key> pick(weights.begin(), weights.end());
  std::vector<Key> trace(requests);
  for (Key& key : trace) key = pick(random);
  return trace;
}

template <class Cache>
double hit_ratio(Cache& cache, const std::vector<Key>& trace) {
  std::size_t hits = 0;
  for (const Key key : trace) hits += cache.request(key);
  return static_cast<double>(hits) / static_cast<double>(trace.size());
}

// How much of a working set of half the room is left after it was used four times and then many
// others once.
template <class Cache>
double left_after_scan(Cache& cache, std::size_t room) {
  const Key working_set = static_cast<Key>(room / 2);
  for (int round = 0; round < 4; ++round) {
    for (Key key = 0; key < working_set; ++key) cache.request(key);
  }
  for (Key key = 0; key < 10 * room; ++key) cache.request(1000 * 1000 + key);
  std::size_t left = 0;
  for (Key key = 0; key < working_set; ++key) left += cache.has(key);
  return static_cast<double>(left) / working_set;
}

}  // namespace

TEST_CASE("a scan does not evict responses that are requested again and again") {
  const std::size_t room = Store().size();
  REQUIRE(room > 500);
  Store store;
  CHECK(left_after_scan(store, room) > 0.95);
  // The control: the same requests without scan resistance.
  Queue lru(Queue::By::use, room);
  CHECK(left_after_scan(lru, room) == 0);
  Queue fifo(Queue::By::age, room);
  CHECK(left_after_scan(fifo, room) == 0);
}

TEST_CASE("skewed traffic has no fewer hits than with LRU") {
  const std::size_t room = Store().size();
  for (const double exponent : {0.7, 0.9, 1.1}) {
    CAPTURE(exponent);
    const std::vector<Key> trace = zipf_trace(150000, 20000, exponent);
    Store store;
    Queue lru(Queue::By::use, room);
    Queue fifo(Queue::By::age, room);
    const double ratio = hit_ratio(store, trace);
    const double of_lru = hit_ratio(lru, trace);
    const double of_fifo = hit_ratio(fifo, trace);
    MESSAGE("room for ", room, " of 20000, exponent ", exponent, ": ", ratio, ", LRU ", of_lru,
            ", FIFO ", of_fifo);
    CHECK(ratio >= of_lru);
    CHECK(of_lru > of_fifo);
  }
}

TEST_CASE("a response that comes back soon after it left stays longer than a new one") {
  const std::size_t room = Store().size();
  Store store;
  const auto scan = [&](Key from, std::size_t count) {
    for (Key key = 0; key < count; ++key) store.request(from + key);
  };
  scan(1000, room);
  store.request(1);
  scan(100000, room);
  CHECK_FALSE(store.has(1));
  store.request(1);  // back
  store.request(2);  // new
  scan(200000, room);
  CHECK(store.has(1));
  CHECK_FALSE(store.has(2));
}

TEST_CASE("an expired or invalidated response leaves in its turn however often it was requested") {
  const std::size_t room = Store().size();
  Store store;
  store.response.validity = {.lifetime = seconds(10), .stale_for = seconds(5)};
  SUBCASE("past all staleness") {}
  SUBCASE("invalidated") { store.response.validity.lifetime = std::chrono::hours(1); }
  for (int round = 0; round < 4; ++round) store.request(1);
  const bool invalidated = store.response.validity.lifetime > seconds(10);
  if (invalidated) store.cache.invalidate("shop.example", "/1", kStart + seconds(1));
  for (Key key = 0; key < room; ++key) store.request(1000 + key, kStart + seconds(15));
  CHECK_FALSE(store.has(1));
  // The control: while it is of use it stays.
  for (int round = 0; round < 4; ++round) store.request(2, kStart + seconds(16));
  for (Key key = 0; key < room; ++key) store.request(100000 + key, kStart + seconds(16));
  CHECK(store.has(2));
}

TEST_CASE("a renewed response keeps its rank") {
  const std::size_t room = Store().size();
  Store cache;
  for (int round = 0; round < 4; ++round) cache.request(1);
  const auto scan = [&](Key from, std::size_t count) {
    for (Key key = 0; key < count; ++key) cache.request(from + key);
  };
  scan(1000, room);
  store(cache.cache, Request("/1"), cache.response, kStart + seconds(1));
  scan(100000, room / 2);
  CHECK(cache.has(1));
}

namespace {

// Queues of responses without an index, all with room for `kRoom` of them.
struct Queues {
  static constexpr std::size_t kRoom = 100;

  StoredPtr add(std::uint64_t hash, int hits = 0) {
    const http::FieldList fields;
    const Validity validity{.lifetime = seconds(60)};
    FillingPtr response = shard.allocate({.key = {"", hash, hash},
                                          .status = 200,
                                          .fields = fields,
                                          .validity = validity,
                                          .requested_at = kStart,
                                          .arrived_at = kStart},
                                         0, kStart);
    REQUIRE(response);
    queues.insert(*response);
    for (int i = 0; i < hits; ++i) S3Fifo::hit(*response);
    responses.push_back(response);
    return response;
  }
  // The hash of the next one to leave; how many were examined.
  std::pair<std::uint64_t, std::size_t> evict(std::size_t chances = 1000) {
    for (std::size_t examined = 1; examined <= 1000; ++examined) {
      StoredResponse* const evicted = queues.examine(kStart, invalidated, chances);
      if (evicted != nullptr) return {evicted->key().hash, examined};
    }
    return {0, 0};
  }
  ~Queues() {
    queues.clear([](StoredResponse*) {});
  }

  CacheShard shard{1 << 20};
  std::vector<FillingPtr> responses;
  InvalidationTimes invalidated{64};
  std::size_t bytes =
      StoredResponse::head_bytes({.key = {}, .fields = http::FieldList{}, .validity = Validity{}});
  S3Fifo queues{kRoom * bytes};
};

}  // namespace

TEST_CASE("responses leave in the order they came unless they were requested twice") {
  Queues queues;
  for (std::uint64_t hash = 1; hash <= 14; ++hash) queues.add(hash, hash == 2 ? 2 : hash == 3);
  CHECK(queues.evict().first == 1);
  CHECK(queues.evict().first == 3);
  CHECK(queues.evict().first == 4);
  // The small queue is down to its tenth: the main queue's turn.
  CHECK(queues.evict().first == 2);
  CHECK(queues.evict().first == 5);
}

TEST_CASE("a response that comes back soon enters the main queue") {
  Queues queues;
  queues.add(1);
  CHECK(queues.evict().first == 1);
  queues.add(2);
  queues.add(1);
  CHECK(queues.evict().first == 1);  // the small queue is within its tenth
  CHECK(queues.evict().first == 2);
}

TEST_CASE("a response of the main queue is spared once for each of at most three requests") {
  Queues queues;
  queues.add(1);
  queues.evict();
  queues.add(1, 7);
  queues.add(2);
  SUBCASE("while there are chances") {
    CHECK(queues.evict() == std::pair<std::uint64_t, std::size_t>(1, 4));
  }
  SUBCASE("so few are examined when they are used up") {
    CHECK(queues.evict(1) == std::pair<std::uint64_t, std::size_t>(1, 2));
  }
}

TEST_CASE("a response that a reader pins stays") {
  Queues queues;
  const StoredPtr reader = queues.add(1);
  for (std::uint64_t hash = 2; hash <= 12; ++hash) queues.add(hash);
  CHECK(queues.evict().first == 2);
  CHECK(queues.evict().first == 0);  // of the main queue's there is nothing else
}

}  // namespace spillway::cache
