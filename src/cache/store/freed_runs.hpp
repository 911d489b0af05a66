// Runs of pages that nobody reads any more, on their way out: collected under a lock, given back to
// the system after it. The list is kept in the runs themselves.
#pragma once

#include <cstddef>
#include <new>

namespace spillway::cache {

class FreedRuns {
 public:
  struct Run {
    Run* next;
    std::size_t bytes;
    char* memory() { return reinterpret_cast<char*>(this); }
  };

  void add(char* memory, std::size_t bytes) {
    first_ = new (memory) Run{first_, bytes};
    bytes_ += bytes;
  }
  // Null: there are no more.
  Run* pop() {
    Run* const run = first_;
    if (run == nullptr) return nullptr;
    first_ = run->next;
    bytes_ -= run->bytes;
    return run;
  }
  // One of this size.
  Run* pop(std::size_t bytes) {
    Run** at = &first_;
    while (*at != nullptr && (*at)->bytes != bytes) at = &(*at)->next;
    Run* const run = *at;
    if (run == nullptr) return nullptr;
    *at = run->next;
    bytes_ -= bytes;
    return run;
  }
  bool empty() const { return first_ == nullptr; }
  std::size_t bytes() const { return bytes_; }

 private:
  Run* first_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace spillway::cache
