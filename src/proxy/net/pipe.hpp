// Pipes that move long bodies from one connection to another without copying them (splice(2)).
//
// A pipe holds references to the received pages, not bytes, so forwarding does not depend on the
// CPU caches. It costs two descriptors and, for short bodies, more system calls than copying; hence
// few are kept, and only long bodies use them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace spillway::proxy {

class PipePool;

// A borrowed pipe, non-blocking; its destructor returns it to its pool, or closes it if bytes are
// left in it. Empty by default. Streams fill and drain it.
class Pipe {
 public:
  Pipe() = default;
  Pipe(Pipe&& other) noexcept { *this = std::move(other); }
  Pipe& operator=(Pipe&& other) noexcept;
  ~Pipe() { release(); }

  explicit operator bool() const { return pool_ != nullptr; }
  std::size_t size() const { return size_; }  // bytes in it
  // The last attempt to fill it found no room, and nothing has been drained since.
  bool is_full() const { return is_full_; }
  // Moves bytes out of the pipe; 0: it has none.
  std::size_t read(std::span<char> into);
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

// One per worker; worker thread only.
class PipePool {
 public:
  // Pipes open at a time; without one a body is copied.
  static constexpr std::size_t kMost = 64;

  PipePool() = default;
  ~PipePool();
  PipePool(const PipePool&) = delete;
  PipePool& operator=(const PipePool&) = delete;

  // Empty if kMost are open, or the system has no descriptors or memory left for one.
  Pipe take();
  // Called by the sweep: closes pipes not used during the last kIdleSweeps calls.
  static constexpr std::uint32_t kIdleSweeps = 4;
  void close_unused();
  std::size_t open() const { return open_; }

 private:
  friend class Pipe;
  struct Free {
    Pipe::Ends ends;
    std::uint32_t since;  // value of sweeps_ when it became free
  };
  void give_back(Pipe::Ends ends) { free_.push_back({ends, sweeps_}); }
  void close(Pipe::Ends ends);

  std::size_t open_ = 0;
  std::uint32_t sweeps_ = 0;
  std::vector<Free> free_;  // most recently used last
};

}  // namespace spillway::proxy
