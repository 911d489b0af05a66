#include "proxy/net/pipe.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>

namespace spillway::proxy {

namespace {
// Bytes. The default is 64 KiB. Beyond /proc/sys/fs/pipe-user-pages-soft an unprivileged user gets
// smaller pipes (pipe(7)); copying is cheaper than those.
constexpr int kCapacity = 256 * 1024;
constexpr int kLeastCapacity = 64 * 1024;
}  // namespace

Pipe& Pipe::operator=(Pipe&& other) noexcept {
  release();
  pool_ = std::exchange(other.pool_, nullptr);
  ends_ = other.ends_;
  size_ = std::exchange(other.size_, 0);
  is_full_ = std::exchange(other.is_full_, false);
  return *this;
}

std::size_t Pipe::read(std::span<char> into) {
  const ssize_t result = ::read(ends_.out, into.data(), std::min(into.size(), size_));
  if (result <= 0) return 0;
  is_full_ = false;
  size_ -= static_cast<std::size_t>(result);
  return static_cast<std::size_t>(result);
}

void Pipe::release() {
  if (pool_ == nullptr) return;
  PipePool& pool = *std::exchange(pool_, nullptr);
  is_full_ = false;
  if (std::exchange(size_, 0) == 0) {
    pool.give_back(ends_);
  } else {
    pool.close(ends_);
  }
}

PipePool::~PipePool() {
  for (const Free& one : free_) close(one.ends);
}

void PipePool::close_unused() {
  ++sweeps_;
  const auto is_fresh = [this](const Free& one) { return sweeps_ - one.since < kIdleSweeps; };
  const auto first_fresh = std::find_if(free_.begin(), free_.end(), is_fresh);
  for (auto one = free_.begin(); one != first_fresh; ++one) close(one->ends);
  free_.erase(free_.begin(), first_fresh);
}

Pipe PipePool::take() {
  if (!free_.empty()) {
    const Pipe::Ends ends = free_.back().ends;
    free_.pop_back();
    return Pipe(*this, ends);
  }
  int both[2];
  if (open_ == kMost || ::pipe2(both, O_NONBLOCK | O_CLOEXEC) != 0) return {};
  ++open_;
  const Pipe::Ends ends{both[0], both[1]};
  ::fcntl(ends.in, F_SETPIPE_SZ, kCapacity);
  if (::fcntl(ends.in, F_GETPIPE_SZ) < kLeastCapacity) {
    close(ends);
    return {};
  }
  return Pipe(*this, ends);
}

void PipePool::close(Pipe::Ends ends) {
  ::close(ends.out);
  ::close(ends.in);
  --open_;
}

}  // namespace spillway::proxy
