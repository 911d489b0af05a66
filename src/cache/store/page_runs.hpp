// Runs of pages out of a range of addresses of their own.
//
// Why not malloc: answers of all sizes come and go in another order than they were made in, on
// other threads than they were made by, and glibc's arenas then held 1.05 to 2.5 times what was
// asked of them (64 MiB of answers of 300 bytes to 1 MB, one to four threads). Of a range that is a
// few times as large as what may be used of it there is always a run that is free, and a page that
// is given back is given back to the system: memory is what is taken, to the page.
//
// Not for several threads at once, but discard() may be called by any.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace spillway::cache {

std::size_t page_bytes();

// Bytes of whole pages.
inline std::size_t round_to_pages(std::size_t bytes) {
  return (bytes + page_bytes() - 1) / page_bytes() * page_bytes();
}

class PageRuns {
 public:
  // For at most max_bytes at a time. Throws std::system_error when there are no addresses.
  explicit PageRuns(std::size_t max_bytes);
  ~PageRuns();
  PageRuns(const PageRuns&) = delete;
  PageRuns& operator=(const PageRuns&) = delete;

  // A run of so many bytes, a multiple of the page's size; zeros. Null: there is none.
  char* take(std::size_t bytes);
  // Takes back what was taken, whole or in parts, after discard().
  void give_back(const char* run, std::size_t bytes);

  // Gives the memory back to the system; the addresses stay taken.
  static void discard(char* run, std::size_t bytes);

  // What the book of pages itself takes.
  std::size_t book_bytes() const { return taken_.capacity() * sizeof(std::uint64_t); }

 private:
  std::size_t find(std::size_t from, bool taken) const;
  void set(std::size_t first, std::size_t count, bool taken);

  char* base_ = nullptr;
  std::size_t pages_ = 0;
  std::size_t next_ = 0;              // where to look first
  std::vector<std::uint64_t> taken_;  // a bit for each page
};

}  // namespace spillway::cache
