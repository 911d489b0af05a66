#include "cache/store/page_runs.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <string>
#include <system_error>

namespace spillway::cache {
namespace {

constexpr std::size_t kAddressesForEach = 4;  // page that may be taken
constexpr std::size_t kWord = 64;

}  // namespace

std::size_t page_bytes() {
  static const auto bytes = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  return bytes;
}

PageRuns::PageRuns(std::size_t max_bytes) {
  const std::size_t words =
      round_to_pages(max_bytes) / page_bytes() * kAddressesForEach / kWord + 1;
  pages_ = words * kWord;
  taken_.assign(words, 0);
  void* const base = ::mmap(nullptr, pages_ * page_bytes(), PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (base == MAP_FAILED) {
    throw std::system_error(errno, std::generic_category(),
                            "no addresses for a store of " + std::to_string(max_bytes) + " bytes");
  }
  base_ = static_cast<char*>(base);
  // A huge page would be memory that nobody took.
  ::madvise(base_, pages_ * page_bytes(), MADV_NOHUGEPAGE);
}

PageRuns::~PageRuns() { ::munmap(base_, pages_ * page_bytes()); }

// The first page from there on that is taken, or that is not; pages_ when there is none.
std::size_t PageRuns::find(std::size_t from, bool taken) const {
  if (from >= pages_) return pages_;
  std::size_t word = from / kWord;
  const auto look = [&] { return taken ? taken_[word] : ~taken_[word]; };
  std::uint64_t bits = look() & (~std::uint64_t{0} << (from % kWord));
  while (bits == 0) {
    if (++word == taken_.size()) return pages_;
    bits = look();
  }
  return word * kWord + static_cast<std::size_t>(std::countr_zero(bits));
}

void PageRuns::set(std::size_t first, std::size_t count, bool taken) {
  while (count > 0) {
    const std::size_t bit = first % kWord;
    const std::size_t here = std::min(count, kWord - bit);
    const std::uint64_t mask = (here == kWord ? ~std::uint64_t{0} : (std::uint64_t{1} << here) - 1)
                               << bit;
    std::uint64_t& word = taken_[first / kWord];
    word = taken ? word | mask : word & ~mask;
    first += here;
    count -= here;
  }
}

char* PageRuns::take(std::size_t bytes) {
  const std::size_t count = bytes / page_bytes();
  bool wrapped = false;
  for (std::size_t first = next_;;) {
    first = find(first, false);
    const std::size_t end = std::min(find(first, true), first + count);
    if (end - first == count) {
      set(first, count, true);
      next_ = end;
      return base_ + first * page_bytes();
    }
    if (end < pages_) {
      first = end;
    } else if (!wrapped) {
      wrapped = true;
      first = 0;
    } else {
      return nullptr;
    }
  }
}

void PageRuns::give_back(const char* run, std::size_t bytes) {
  set(static_cast<std::size_t>(run - base_) / page_bytes(), bytes / page_bytes(), false);
}

void PageRuns::discard(char* run, std::size_t bytes) { ::madvise(run, bytes, MADV_DONTNEED); }

}  // namespace spillway::cache
