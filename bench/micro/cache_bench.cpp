// The response cache: an answer found, not found, and stored in place of others in a full store.
#include <memory>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "cache/store/response_cache.hpp"
#include "suite.hpp"

namespace spillway::micro {
namespace {

using namespace cache;
using std::chrono::seconds;

constexpr std::size_t kContent = 1024;  // bytes

// A store with answers to all of these requests, of a browser's ten fields; or a full one, with
// answers to the last of them.
struct Filled {
  Filled(std::size_t keys, std::uint64_t max_bytes, bool varies = false)
      : cache({.max_bytes = max_bytes}, {1, 2}) {
    for (std::size_t i = 0; i < keys; ++i) paths.push_back("/products/" + std::to_string(i));
    for (const char* name : {"Accept", "User-Agent", "Accept-Encoding", "DNT", "Sec-Fetch-Mode",
                             "Sec-Fetch-Site", "Referer", "X-Requested-With", "Origin"}) {
      fields.push({name, "text/html,application/xhtml+xml", http::FieldId::unknown});
    }
    fields.push({"Accept-Language", "de, en;q=0.5", http::FieldId::accept_language});
    head.status = 200;
    head.reason_phrase = "OK";
    head.fields.push({"Content-Type", "text/html", http::FieldId::content_type});
    head.fields.push({"ETag", "\"33a64df551425fcc\"", http::FieldId::etag});
    head.fields.push({"Cache-Control", "max-age=60", http::FieldId::cache_control});
    if (varies) head.fields.push({"Vary", "Accept-Language", http::FieldId::vary});
    for (std::size_t i = 0; i < keys; ++i) store(i);
  }

  CacheRequest asked(std::size_t i) const {
    return {.authority = "shop.example.com", .path_and_query = paths[i], .fields = fields};
  }
  bool store(std::size_t i) {
    CacheKey& key = key_;
    cache.find(asked(i), key, now);
    auto filling = cache.begin(key, asked(i), head, {.lifetime = seconds(60)}, false, now, now,
                               "Sun, 06 Nov 1994 08:49:37 GMT", kContent);
    return filling && filling->append(content) && filling->commit(now);
  }

  ResponseCache cache;
  std::vector<std::string> paths;
  http::FieldList fields;
  http::ResponseHead head;
  std::string content = std::string(kContent, 'x');
  TimePoint now = TimePoint{} + std::chrono::hours(1);

 private:
  CacheKey key_;
};

// Finds the keys from `first` on, at random.
void find(benchmark::State& state, const Filled& filled, ResponseCache& cache, std::size_t first,
          std::size_t keys, Lookup wanted) {
  Random random(7);
  std::vector<std::uint32_t> order(4096);
  for (std::uint32_t& at : order) at = static_cast<std::uint32_t>(first + random.next() % keys);
  CacheKey key;
  std::size_t next = 0, met = 0;
  for (auto _ : state) {
    const Found found = cache.find(filled.asked(order[next++ % order.size()]), key, filled.now);
    met += found.result == wanted;
    benchmark::DoNotOptimize(found.response.get());
  }
  if (met != next) state.SkipWithError("a look-up ended otherwise");
}

void hit(benchmark::State& state, std::size_t keys, bool varies) {
  Filled filled(keys, keys * 4096 + (16 << 20), varies);
  find(state, filled, filled.cache, 0, keys, Lookup::fresh);
}

void miss(benchmark::State& state) {
  Filled filled(1000, 16 << 20);
  Filled others(2000, 16 << 20);
  find(state, others, filled.cache, 1000, 1000, Lookup::miss);
}

void store(benchmark::State& state) {
  constexpr std::size_t kKeys = 1 << 17;
  Filled filled(kKeys, 32 << 20);  // of which a sixth fits
  const CacheCounts before = filled.cache.counts();
  std::size_t next = 0, stored = 0;
  for (auto _ : state) stored += filled.store(next++ % kKeys);
  const CacheCounts after = filled.cache.counts();
  if (stored != next || before.evictions == 0 || after.stores - before.stores != next) {
    state.SkipWithError("not every answer was stored");
  }
}

// Made by the first thread, gone with the last.
std::unique_ptr<Filled>& shared() {
  static std::unique_ptr<Filled> filled;
  return filled;
}

void hit_of_two(benchmark::State& state) {
  find(state, *shared(), shared()->cache, 0, 1000, Lookup::fresh);
}

}  // namespace

void add_cache(Suite& suite) {
  for (const std::size_t keys : {1000, 100000}) {
    suite.add("cache/hit, one of " + size_name(keys), std::nullopt,
              [keys](benchmark::State& state) { hit(state, keys, false); });
  }
  suite.add("cache/hit of a variant, one of 10^3", std::nullopt,
            [](benchmark::State& state) { hit(state, 1000, true); });
  suite.add("cache/hit, two threads at once", std::nullopt, hit_of_two)
      ->Setup([](const benchmark::State&) { shared() = std::make_unique<Filled>(1000, 32 << 20); })
      ->Teardown([](const benchmark::State&) { shared().reset(); })
      ->Threads(2)
      ->UseRealTime();
  suite.add("cache/miss", std::nullopt, miss);
  suite.add("cache/store 1 KiB in a full store", std::nullopt, store);
}

}  // namespace spillway::micro
