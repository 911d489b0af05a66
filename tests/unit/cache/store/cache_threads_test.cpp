// Several threads use a store at the same time.
#include <doctest/doctest.h>

#include <atomic>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "unit/cache/rules/asking.hpp"

namespace spillway::cache {
namespace {

constexpr int kThreads = 4;
constexpr int kRounds = 3000;
constexpr int kKeys = 400;

// A body that tells whose it is and how long it is.
std::string body_of(std::size_t key, std::size_t version) {
  const std::size_t size = key % 7 == 0 ? 40000 + 1000 * (version % 5) : 20 + key * 3;
  std::string body(size, static_cast<char>('a' + key % 26));
  return std::to_string(key) + ":" + body;
}

bool is_of(std::string_view body, std::size_t key) {
  const std::string begin = std::to_string(key) + ":";
  return body.starts_with(begin) && body.find_first_not_of(static_cast<char>('a' + key % 26),
                                                           begin.size()) == std::string_view::npos;
}

template <class Work>
void in_threads(Work work) {
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread) threads.emplace_back(work, thread);
  for (std::thread& thread : threads) thread.join();
}

}  // namespace

TEST_CASE("threads that find, store, renew and purge see only whole responses") {
  ResponseCache cache({.max_bytes = 3 << 20, .max_entry_bytes = 1 << 17}, kSipKey);
  std::atomic<std::int64_t> clock{0};
  std::atomic<int> wrong{0};
  std::atomic<int> hits{0};
  in_threads([&](int thread) {
    std::mt19937 random(static_cast<unsigned>(thread));
    std::vector<std::pair<StoredPtr, std::size_t>> readers(16);
    for (int round = 0; round < kRounds; ++round) {
      const TimePoint now = kStart + milliseconds(clock.fetch_add(1));
      const std::size_t key = random() % kKeys;
      const Request request("/" + std::to_string(key));
      const Found found = look(cache, request, now);
      if (found.response) {
        ++hits;
        if (!is_of(found.response->content(), key)) ++wrong;
        auto& [reader, its_key] = readers[random() % readers.size()];
        if (reader && !is_of(reader->content(), its_key)) ++wrong;
        reader = found.response;
        its_key = key;
        if (random() % 8 == 0) {
          http::FieldList fields;
          reader->read_fields(fields);
          cache.refreshed(reader, fields, {.lifetime = seconds(60)}, false, now, now);
        }
      } else {
        store(cache, request, Response(body_of(key, random())), now);
      }
      switch (random() % 200) {
        case 0: cache.invalidate("shop.example", request.path, now); break;
        case 1: cache.purge({Purge::What::prefix, "/1"}, now); break;
        case 2: cache.purge({Purge::What::key, request.path}, now); break;
        case 3: cache.purge({}, now); break;
        case 4: cache.counts(); break;
        default: break;
      }
    }
  });
  CHECK(wrong == 0);
  CHECK(hits > 0);
  CHECK(cache.counts().bytes <= cache.counts().max_bytes);
  cache.purge({}, kStart + std::chrono::hours(1));
  CHECK(cache.counts().entries == 0);
}

TEST_CASE("threads cannot store responses requested before a purge") {
  ResponseCache cache({.max_bytes = 3 << 20, .max_entry_bytes = 1 << 17}, kSipKey);
  std::atomic<std::int64_t> clock{0};
  std::atomic<std::int64_t> purged_at{-1};
  std::atomic<int> wrong{0};
  std::atomic<int> checked{0};
  in_threads([&](int thread) {
    for (int round = 0; round < kRounds; ++round) {
      const std::int64_t at = clock.fetch_add(1);
      const TimePoint now = kStart + milliseconds(at);
      if (thread == 0 && round % 20 == 0) {
        cache.purge({Purge::What::prefix, "/"}, now);
        purged_at = at;
        continue;
      }
      const Request request("/" + std::to_string(round % 20));
      // A purge that was over before the look-up leaves nothing that was asked for before it.
      const std::int64_t over = purged_at;
      const Found found = look(cache, request, now);
      if (found.response) {
        ++checked;
        if (found.response->requested_at() <= kStart + milliseconds(over)) ++wrong;
      } else {
        store(cache, request, Response("x"), now);
      }
    }
  });
  CHECK(wrong == 0);
  CHECK(checked > 0);
}

TEST_CASE("threads that all fill a full store do not exceed it") {
  ResponseCache cache({.max_bytes = 3 << 20, .max_entry_bytes = 1 << 18}, kSipKey);
  std::atomic<int> stored{0};
  std::atomic<bool> exceeded{false};
  in_threads([&](int thread) {
    std::mt19937 random(static_cast<unsigned>(thread));
    for (int round = 0; round < kRounds / 3; ++round) {
      const Request request("/" + std::to_string(thread) + "/" + std::to_string(round));
      const std::size_t size = random() % 16 == 0 ? random() % 200000 : random() % 4000;
      if (store(cache, request, Response(std::string(size, 'x')))) ++stored;
      const CacheCounts counts = cache.counts();
      if (counts.bytes > counts.max_bytes) exceeded = true;
    }
  });
  CHECK_FALSE(exceeded);
  CHECK(stored > kThreads * kRounds / 3 * 9 / 10);
}

}  // namespace spillway::cache
