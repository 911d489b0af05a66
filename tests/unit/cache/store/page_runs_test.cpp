#include "cache/store/page_runs.hpp"

#include <doctest/doctest.h>

#include <cstring>
#include <map>
#include <random>

namespace spillway::cache {

TEST_CASE("runs of pages do not overlap and are zero when taken") {
  const std::size_t page = page_bytes();
  PageRuns pages(256 * page);
  std::map<char*, std::size_t> taken;
  std::size_t bytes = 0;
  std::mt19937 random(1);
  for (int round = 0; round < 20000; ++round) {
    const std::size_t size = page * (1 + random() % 24);
    if (bytes + size <= 256 * page) {
      char* const run = pages.take(size);
      REQUIRE(run != nullptr);
      const auto after = taken.lower_bound(run);
      if (after != taken.end()) REQUIRE(run + size <= after->first);
      if (after != taken.begin()) {
        REQUIRE(std::prev(after)->first + std::prev(after)->second <= run);
      }
      REQUIRE(run[0] == 0);
      REQUIRE(run[size - 1] == 0);
      run[0] = run[size - 1] = 'x';
      taken[run] = size;
      bytes += size;
    } else {
      const auto gone = std::next(taken.begin(), static_cast<int>(random() % taken.size()));
      PageRuns::discard(gone->first, gone->second);
      pages.give_back(gone->first, gone->second);
      bytes -= gone->second;
      taken.erase(gone);
    }
  }
}

TEST_CASE("there are more addresses than pages and no more than there are") {
  const std::size_t page = page_bytes();
  PageRuns pages(64 * page);
  std::size_t runs = 0;
  while (pages.take(7 * page) != nullptr) ++runs;
  CHECK(runs >= 4 * 64 / 7);
  CHECK(runs <= 5 * 64 / 7 + 1);
}

TEST_CASE("a part of a run may be given back") {
  const std::size_t page = page_bytes();
  PageRuns pages(64 * page);
  char* const run = pages.take(8 * page);
  pages.give_back(run + 4 * page, 4 * page);
  bool again = false;
  for (int i = 0; i < 200; ++i) {
    char* const other = pages.take(4 * page);
    if (other == nullptr) break;
    again = again || other == run + 4 * page;
    REQUIRE(other != run);
  }
  CHECK(again);
}

}  // namespace spillway::cache
