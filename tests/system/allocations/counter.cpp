#include "system/allocations/counter.hpp"

#include <execinfo.h>
#include <malloc.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstring>

// glibc's own, under the names it exports for interposers.
extern "C" {
void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t count, std::size_t size);
void* __libc_realloc(void* block, std::size_t size);
void* __libc_memalign(std::size_t alignment, std::size_t size);
}

namespace spillway::allocations {

namespace {

struct Counter {
  std::atomic<int> thread{0};
  std::atomic<std::uint64_t> count{0};
};

struct Place {
  int depth = 0;
  std::array<void*, 24> frames;
};

// Plain arrays: nothing here may allocate.
std::array<Counter, 256> counters;
std::atomic<std::size_t> counters_used{0};
std::array<Place, 20> places;
std::atomic<std::size_t> places_wanted{0};  // still to be remembered
std::atomic<int> remembered{0};             // the thread
thread_local Counter* mine = nullptr;
thread_local bool inside = false;

void count() {
  if (mine == nullptr) {
    mine = &counters[counters_used.fetch_add(1) % counters.size()];
    mine->thread = ::gettid();
  }
  mine->count.fetch_add(1, std::memory_order_relaxed);
  if (inside || mine->thread != remembered) return;
  std::size_t left = places_wanted.load(std::memory_order_relaxed);
  do {
    if (left == 0) return;
  } while (!places_wanted.compare_exchange_weak(left, left - 1));
  inside = true;  // backtrace() may allocate
  Place& place = places[left - 1];
  place.depth = ::backtrace(place.frames.data(), static_cast<int>(place.frames.size()));
  inside = false;
}

}  // namespace

std::map<int, std::uint64_t> by_thread() {
  std::map<int, std::uint64_t> counts;
  for (std::size_t i = 0; i < counters_used && i < counters.size(); ++i) {
    counts[counters[i].thread] = counters[i].count;
  }
  return counts;
}

std::uint64_t by_this_thread() { return mine == nullptr ? 0 : mine->count.load(); }

void remember_places_of(int thread) {
  void* frame;
  ::backtrace(&frame, 1);  // loads what it needs
  places_wanted = places.size();
  remembered = thread;
}

void print_places() {
  for (const Place& place : places) {
    ::backtrace_symbols_fd(place.frames.data(), place.depth, STDERR_FILENO);
    [[maybe_unused]] const auto written = ::write(STDERR_FILENO, "\n", 1);
  }
}

}  // namespace spillway::allocations

using spillway::allocations::count;

extern "C" {

void* malloc(std::size_t size) {
  count();
  return __libc_malloc(size);
}

void* calloc(std::size_t number, std::size_t size) {
  count();
  return __libc_calloc(number, size);
}

void* realloc(void* block, std::size_t size) {
  count();
  return __libc_realloc(block, size);
}

void* memalign(std::size_t alignment, std::size_t size) {
  count();
  return __libc_memalign(alignment, size);
}

void* aligned_alloc(std::size_t alignment, std::size_t size) {
  count();
  return __libc_memalign(alignment, size);
}

int posix_memalign(void** block, std::size_t alignment, std::size_t size) {
  count();
  void* const got = __libc_memalign(alignment, size);
  if (got == nullptr) return ENOMEM;
  *block = got;
  return 0;
}
}
