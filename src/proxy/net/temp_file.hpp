// A temporary file for bytes that wait: a first-in, first-out queue on disk. It has no name
// (O_TMPFILE, or unlinked at once), mode 0600, and is gone once it is closed, even by a crash.
//
// Writes and reads use the page cache and block the caller: briefly, unless the kernel makes a
// writer wait for the disk. So write one piece at a time, and let others run in between.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/time.hpp"
#include "proxy/net/capped_counter.hpp"
#include "traffic/client/client_shares.hpp"

namespace spillway::proxy {

// The disk space and the descriptors that temporary files use. Shared by all workers, lock-free;
// outlives them.
class TempSpace {
 public:
  // `key`: see of_clients().
  explicit TempSpace(SipKey key = {}) : of_clients_(key) {}

  // False, and no change, if more than `most` bytes would be taken; `most` may differ from call to
  // call.
  bool try_take(std::uint64_t bytes, std::uint64_t most);
  void give_back(std::uint64_t bytes) { taken_.fetch_sub(bytes, std::memory_order_relaxed); }
  std::uint64_t taken() const { return taken_.load(std::memory_order_relaxed); }
  // A body found no space because all of it is taken. Then, for a while, slow clients whose bodies
  // take some of it give way, at all workers.
  void miss(TimePoint now) {
    missed_.store(now.time_since_epoch().count(), std::memory_order_relaxed);
  }
  bool missed_lately(TimePoint now) const {
    return now.time_since_epoch() - Duration{missed_.load(std::memory_order_relaxed)} < kMissed;
  }
  // Whether one more file may be opened; call give_back_file() when it is closed. No limit until
  // set_most_files().
  bool try_take_file() { return files_.try_increment(most_files_.load(std::memory_order_relaxed)); }
  void give_back_file() { files_.decrement(); }
  void set_most_files(std::uint32_t most) { most_files_.store(most, std::memory_order_relaxed); }
  // The disk space that clients have taken; counted by the caller, which knows the client.
  traffic::ClientShares& of_clients() { return of_clients_; }

 private:
  static constexpr Duration kMissed = std::chrono::seconds(10);

  std::atomic<std::uint64_t> taken_{0};
  std::atomic<Duration::rep> missed_{-Duration(kMissed).count()};  // never so far
  CappedCounter files_;
  std::atomic<std::uint32_t> most_files_{std::numeric_limits<std::uint32_t>::max()};
  traffic::ClientShares of_clients_;
};

class TempFile {
 public:
  // No file yet; open() creates one.
  explicit TempFile(TempSpace& space) : space_(space) {}
  TempFile(const TempFile&) = delete;
  TempFile& operator=(const TempFile&) = delete;
  ~TempFile() { close(); }

  // 0, or the error (errno): EMFILE also if the limit of files is reached. Not while one is open.
  int open(const std::string& directory);
  explicit operator bool() const { return descriptor_ >= 0; }

  // The result of append(); with `failed`, the error (errno).
  struct Appended {
    enum class Status : std::uint8_t { done, over_limit, failed };
    Status status = Status::done;
    int error = 0;
  };
  // Appends all of it, or nothing: more than `most` bytes would be taken by all files, or it could
  // not be written. The file keeps its former content.
  Appended append(std::string_view bytes, std::uint64_t most);
  // Reads the oldest bytes and removes them. 0: there are none, or they cannot be read.
  std::size_t read(std::span<char> into);

  // Bytes not read yet.
  std::uint64_t size() const { return end_ - begin_; }
  // Bytes on disk: space is returned when the file is empty, or closed.
  std::uint64_t space() const { return end_; }

  // Drops its content.
  void close();

 private:
  void clear();

  TempSpace& space_;
  int descriptor_ = -1;
  std::uint64_t begin_ = 0;
  std::uint64_t end_ = 0;
};

}  // namespace spillway::proxy
