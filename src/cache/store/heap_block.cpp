#include "cache/store/heap_block.hpp"

#include <malloc.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace spillway::cache {
namespace {

constexpr int kMaxMappings = 32768;  // half of the system's default limit (vm.max_map_count)

}  // namespace

void configure_heap() {
  ::mallopt(M_MMAP_THRESHOLD, static_cast<int>(kMmapThreshold));
  ::mallopt(M_MMAP_MAX, kMaxMappings);
  ::mallopt(M_ARENA_MAX, 1);
}

void trim_heap() { ::malloc_trim(0); }

void* resize_block(void* block, std::size_t before, std::size_t bytes) {
  if (bytes >= std::min(before, kMmapThreshold)) return std::realloc(block, bytes);
  void* const copy = std::malloc(bytes);
  if (copy == nullptr) return nullptr;
  std::memcpy(copy, block, bytes);
  std::free(block);
  return copy;
}

}  // namespace spillway::cache
