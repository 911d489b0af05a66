// Resident memory beside what the store counts.
#include <doctest/doctest.h>
#include <malloc.h>
#include <unistd.h>

#include <cmath>
#include <fstream>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "support/places.hpp"
#include "unit/cache/rules/asking.hpp"

namespace spillway::cache {
namespace {

// Sanitizers take memory of their own for each byte.
const bool kCanMeasure = !support::is_sanitized();
const std::size_t kKeys = kCanMeasure ? 1000000 : 40000;

double resident_bytes() {
  std::ifstream file("/proc/self/statm");
  double whole = 0;
  double resident = 0;
  file >> whole >> resident;
  return resident * static_cast<double>(::sysconf(_SC_PAGESIZE));
}

double heap_bytes() {
  const struct mallinfo2 info = ::mallinfo2();
  return static_cast<double>(info.arena) + static_cast<double>(info.hblkhd);
}

// Stores responses to new keys, many small ones and some large ones.
void fill(ResponseCache& cache, unsigned seed, std::size_t keys) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> logarithm(std::log(100), std::log(4000));
  const std::string body(100000, 'x');
  const http::FieldList no_fields;
  http::ResponseHead head;
  head.status = 200;
  head.reason_phrase = "OK";
  head.fields.push({"Content-Type", "text/html", http::FieldId::content_type});
  CacheKey key;
  std::string path;
  for (std::size_t i = 0; i < keys; ++i) {
    path = "/" + std::to_string(seed) + "/" + std::to_string(i);
    const CacheRequest asked{
        .authority = "shop.example", .path_and_query = path, .fields = no_fields};
    cache.find(asked, key, kStart);
    const std::size_t size = random() % 64 == 0
                                 ? random() % body.size()
                                 : static_cast<std::size_t>(std::exp(logarithm(random)));
    auto filling = cache.begin(key, asked, head, {.lifetime = seconds(60)}, false, kStart, kStart,
                               "Sun, 06 Nov 1994 08:49:37 GMT", size);
    if (filling && filling->append(std::string_view(body).substr(0, size))) filling->commit(kStart);
  }
}

}  // namespace

TEST_CASE("after a million distinct keys of mixed sizes resident memory is near max_bytes") {
  for (const unsigned threads : {1, 4}) {
    CAPTURE(threads);
    const double resident_before = resident_bytes();
    const double heap_before = heap_bytes();
    ResponseCache cache({.max_bytes = 64 << 20, .max_entry_bytes = 1 << 20}, kSipKey);
    std::vector<std::thread> workers;
    for (unsigned thread = 0; thread < threads; ++thread) {
      workers.emplace_back([&, thread] { fill(cache, thread, kKeys / threads); });
    }
    for (std::thread& worker : workers) worker.join();

    const CacheCounts counts = cache.counts();
    const auto max_bytes = static_cast<double>(counts.max_bytes);
    const double resident = (resident_bytes() - resident_before) / max_bytes;
    const double heap = (heap_bytes() - heap_before) / max_bytes;
    const double counted = static_cast<double>(counts.bytes) / max_bytes;
    MESSAGE("of max_bytes: counted ", counted, ", resident ", resident, ", heap ", heap, "; ",
            counts.entries, " entries, ", counts.evictions, " evictions");
    CHECK(counts.stores == kKeys / threads * threads);
    CHECK(counts.evictions > counts.stores / 2 * kCanMeasure);
    CHECK(counted > 0.95 * kCanMeasure);
    CHECK(counted <= 1);
    if (kCanMeasure) {
      CHECK(resident > 0.9);
      CHECK(resident < 1.2);
    }
  }
}

TEST_CASE("a purge of everything returns the memory to the system") {
  if (!kCanMeasure) return;
  const double before = resident_bytes();
  ResponseCache cache({.max_bytes = 32 << 20, .max_entry_bytes = 1 << 20}, kSipKey);
  fill(cache, 1, 50000);
  CHECK(resident_bytes() - before > 24e6);
  cache.purge({}, kStart + seconds(1));
  CHECK(resident_bytes() - before < 8e6);
}

}  // namespace spillway::cache
