// Counts the heap allocations of this program, thread by thread, whichever way they are asked for:
// malloc, calloc, realloc, aligned_alloc, posix_memalign, memalign, and so operator new.
#pragma once

#include <cstdint>
#include <map>

namespace spillway::allocations {

// Allocations so far by thread id; threads that ended are kept.
std::map<int, std::uint64_t> by_thread();
// Those of the calling thread; does not allocate.
std::uint64_t by_this_thread();

// Remembers where the next twenty allocations of a thread come from; print_places() writes their
// stacks to standard error.
void remember_places_of(int thread);
void print_places();

}  // namespace spillway::allocations
