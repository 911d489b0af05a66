#include "cache/store/heap_block.hpp"

#include <doctest/doctest.h>
#include <malloc.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "support/places.hpp"

namespace spillway::cache {

TEST_CASE("a block takes as much as is counted for it") {
  if (support::is_sanitized()) return;  // sanitizers have heaps of their own
  configure_heap();
  for (const std::size_t bytes : {100, 1000, 1001, 65000, 66000, 100000, 1000000}) {
    CAPTURE(bytes);
    void* const block = std::malloc(bytes);
    const bool is_large = bytes >= kMmapThreshold;
    const std::size_t taken = ::malloc_usable_size(block) + (is_large ? 16 : 8);
    // Malloc may add a remainder of 16 bytes, and may find a large block a place in the heap.
    CHECK(footprint(bytes) + 16 >= taken);
    CHECK(footprint(bytes) <= taken + (is_large ? 4096 : 0));
    std::free(block);
  }
}

TEST_CASE("a resized block keeps its contents") {
  for (const std::size_t bytes : {std::size_t{1000}, 2 * kMmapThreshold}) {
    for (const std::size_t after : {bytes / 2, bytes * 2}) {
      auto* block = static_cast<char*>(std::malloc(bytes));
      std::memset(block, 'x', bytes);
      block = static_cast<char*>(resize_block(block, bytes, after));
      REQUIRE(block != nullptr);
      CHECK(block[0] == 'x');
      CHECK(block[std::min(bytes, after) - 1] == 'x');
      std::free(block);
    }
  }
}

}  // namespace spillway::cache
