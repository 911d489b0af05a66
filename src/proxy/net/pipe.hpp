// Pipes between two connections: what is long goes through one without being copied (splice(2)).
//
// A pipe holds references to the pages that came in, not bytes, so the time that it takes to pass
// them on does not depend on the caches. It costs two descriptors and, for what is short, more
// system calls than copying; hence few are kept, and only for long bodies.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace spillway::proxy {

class PipePool;

// A borrowed pipe, non-blocking; returned to its pool when destroyed, or closed if something is
// left in it. Empty by default. Filled and drained by Streams.
class Pipe {
 public:
  Pipe() = default;
  Pipe(Pipe&& other) noexcept { *this = std::move(other); }
  Pipe& operator=(Pipe&& other) noexcept;
  ~Pipe() { release(); }

  explicit operator bool() const { return pool_ != nullptr; }
  std::size_t size() const { return size_; }  // bytes in it
  // It may take no more before something is taken out of it.
  bool is_full() const { return is_full_; }
  void release();

 private:
  friend class PipePool;
  friend class Stream;
  struct Ends {
    int out = -1;
    int in = -1;
  };
  Pipe(PipePool& pool, Ends ends) : pool_(&pool), ends_(ends) {}

  PipePool* pool_ = nullptr;
  Ends ends_;
  std::size_t size_ = 0;
  bool is_full_ = false;
};

// One per worker; used on its thread only.
class PipePool {
 public:
  // So many are open at a time; who gets none copies.
  static constexpr std::size_t kMost = 64;

  PipePool() = default;
  ~PipePool();
  PipePool(const PipePool&) = delete;
  PipePool& operator=(const PipePool&) = delete;

  // None when there are enough, or the system has no descriptors or memory left for one.
  Pipe take();
  // For the sweep: closes those that were not used since it was called so many times.
  static constexpr std::uint32_t kIdleSweeps = 4;
  void close_unused();
  std::size_t open() const { return open_; }

 private:
  friend class Pipe;
  struct Free {
    Pipe::Ends ends;
    std::uint32_t since;  // of sweeps_
  };
  void give_back(Pipe::Ends ends) { free_.push_back({ends, sweeps_}); }
  void close(Pipe::Ends ends);

  std::size_t open_ = 0;
  std::uint32_t sweeps_ = 0;
  std::vector<Free> free_;  // the one used last at the end
};

}  // namespace spillway::proxy
