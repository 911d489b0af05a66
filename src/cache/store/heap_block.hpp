// Blocks of glibc's heap, as the store uses them: the memory that one really takes, and settings
// that keep the heap from holding more than is in use.
#pragma once

#include <cstddef>

namespace spillway::cache {

// A block of at least this size for which the heap has no free chunk is a separate mapping, which
// is returned to the system when freed.
inline constexpr std::size_t kMmapThreshold = std::size_t{64} << 10;

// The memory a block of `bytes` takes: malloc adds 8 bytes, in units of 16; a mapping: whole pages.
constexpr std::size_t footprint(std::size_t bytes) {
  const std::size_t unit = bytes < kMmapThreshold ? 16 : 4096;
  return (bytes + (bytes < kMmapThreshold ? 8 : 16) + unit - 1) / unit * unit;
}

// Configures the process's heap for a cache: a fixed threshold (glibc raises it up to 32 MiB with
// each freed mapping, after which large blocks fragment the heap), and one arena (with one per
// thread, blocks freed by other threads leave holes in each). Threads already running keep theirs.
void configure_heap();

// Returns free pages to the system. Locks the heap meanwhile: about 4 ms per 100 MB.
void trim_heap();

// Like realloc, but a shrinking block is copied: cutting it off would leave a hole behind it.
void* resize_block(void* block, std::size_t before, std::size_t bytes);

}  // namespace spillway::cache
