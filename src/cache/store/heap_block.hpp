// Blocks of glibc's heap, as the store uses them: what one really takes, and settings that keep the
// heap from holding more than what is in use.
#pragma once

#include <cstddef>

namespace spillway::cache {

// From this size on a block for which the heap has no free chunk is a mapping of its own, returned
// to the system when it is freed.
inline constexpr std::size_t kMmapThreshold = std::size_t{64} << 10;

// What a block of so many bytes takes: 8 bytes of malloc's more, in units of 16; a mapping: pages.
constexpr std::size_t footprint(std::size_t bytes) {
  const std::size_t unit = bytes < kMmapThreshold ? 16 : 4096;
  return (bytes + (bytes < kMmapThreshold ? 8 : 16) + unit - 1) / unit * unit;
}

// Sets the process's heap up for a cache: a fixed threshold (glibc raises it up to 32 MiB with each
// freed mapping, after which large blocks fragment the heap), and one arena (with one per thread,
// blocks freed by other threads leave holes in each). Threads that run already keep theirs.
void configure_heap();

// Returns free pages to the system. The heap is locked meanwhile: about 4 ms per 100 MB.
void trim_heap();

// Like realloc, but a block that shrinks is copied: cutting it off would leave a hole behind it.
void* resize_block(void* block, std::size_t before, std::size_t bytes);

}  // namespace spillway::cache
