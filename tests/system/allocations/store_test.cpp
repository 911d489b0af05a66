// Look-ups in the response cache take no memory: neither hits nor misses, of keys with variants
// too.
#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "cache/store/response_cache.hpp"
#include "system/allocations/counter.hpp"

namespace spillway::allocations {
namespace {

using namespace cache;
using std::chrono::seconds;

const TimePoint kStart = TimePoint{} + std::chrono::hours(1);
constexpr std::size_t kKeys = 1000;
constexpr std::size_t kFinds = 1'000'000;

void store(ResponseCache& cache, CacheKey& key, const CacheRequest& asked) {
  http::ResponseHead head;
  head.status = 200;
  head.reason_phrase = "OK";
  head.fields.push({"Vary", "Accept-Language", http::FieldId::vary});
  cache.find(asked, key, kStart);
  auto filling = cache.begin(key, asked, head, {.lifetime = seconds(60)}, false, kStart, kStart,
                             "Sun, 06 Nov 1994 08:49:37 GMT", 5);
  REQUIRE(filling);
  REQUIRE(filling->append("Hello"));
  REQUIRE(filling->commit(kStart));
}

}  // namespace

TEST_CASE("a million look-ups in the store allocate nothing") {
  ResponseCache cache({.max_bytes = 16 << 20}, {1, 2});
  http::FieldList fields;
  fields.push({"Accept-Language", "de", http::FieldId::accept_language});
  std::vector<std::string> paths;
  for (std::size_t i = 0; i < 2 * kKeys; ++i) paths.push_back("/path/" + std::to_string(i));
  const auto asked = [&](std::size_t i) {
    return CacheRequest{.authority = "shop.example", .path_and_query = paths[i], .fields = fields};
  };
  CacheKey key;
  for (std::size_t i = 0; i < kKeys; ++i) store(cache, key, asked(i));

  std::size_t hits = 0;
  const std::uint64_t before = by_this_thread();
  for (std::size_t i = 0; i < kFinds; ++i) {
    const Found found = cache.find(asked(i % (2 * kKeys)), key, kStart);
    hits += found.result == Lookup::fresh;
  }
  CHECK(by_this_thread() == before);
  CHECK(hits == kFinds / 2);
  // The control: what stores does allocate.
  store(cache, key, asked(kKeys));
  CHECK(by_this_thread() > before);
}

}  // namespace spillway::allocations
