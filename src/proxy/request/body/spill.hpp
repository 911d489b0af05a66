// What waits for a slow client in place of a slot: the part of a request's body that has come
// before its slot is taken, or what the client has not taken of its response yet. A first-in,
// first-out queue of bytes, in memory as far as limits.buffer_bytes has room and in a temporary
// file as far as limits.temp_file_bytes has; both over all workers, and a part of them for each
// body and for each client address.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/time.hpp"
#include "proxy/net/block_pool.hpp"
#include "proxy/net/temp_file.hpp"
#include "proxy/request/context/request_context.hpp"
#include "proxy/request/owner/services.hpp"

namespace spillway::proxy {

class Spill {
 public:
  Spill(Services& services, const RequestContext& request)
      : services_(services), request_(request), file_(services.temp_space) {}
  Spill(const Spill&) = delete;
  Spill& operator=(const Spill&) = delete;
  ~Spill();

  bool is_empty() const { return first_ == pieces_.size(); }
  // Memory has room for so many bytes more, in whole blocks.
  bool has_memory(std::uint64_t bytes);
  // Counts so many bytes as taken until the end of the request, for content that has come and is
  // kept elsewhere. False: there is no memory for them.
  bool reserve(std::uint64_t bytes);
  // The same for a stored answer, which comes as a whole. Answers have an allowance of their own
  // (half of the worker's part, a quarter for one client), so that slow bodies do not keep them
  // out. Neither bound holds for the first answer.
  bool reserve_answer(std::uint64_t bytes);
  // Whether it could, but for those that its client has already.
  bool has_room_for_answer(std::uint64_t bytes) const;
  // Whether a file has room for so many bytes more, as far as is known.
  bool has_file_room(std::uint64_t bytes);
  // The same. Once there is none, or the file could not be made or written, no file is used for
  // this body any more.
  bool find_file_room(std::uint64_t bytes);
  // It takes disk space, and lately another body found none.
  bool keeps_space(TimePoint now) const {
    return file_.space() > 0 && services_.temp_space.missed_lately(now);
  }
  // It has not been said that there is none.
  bool may_have_file() const { return !is_file_unavailable_; }
  // keep() writes to the disk, which takes longer than the network does: no more than a block a
  // turn of the loop.
  bool is_on_disk() const { return static_cast<bool>(file_); }

  // While a block is being filled for keep() it counts, too.
  void begin_block() {
    count_memory(static_cast<std::int64_t>(services_.large_blocks.block_size()));
  }
  void end_block() {
    count_memory(-static_cast<std::int64_t>(services_.large_blocks.block_size()));
  }

  // Keeps bytes [from, to) of the block, in memory or in the file. In memory the block goes with
  // them and another one takes its place. Room is to be asked for before: with none left the bytes
  // are kept in memory all the same.
  void keep(Block& block, std::size_t from, std::size_t to);

  // Some of the oldest bytes; sent() takes some of them away. Empty: the file cannot be read.
  // Call it only while there is something.
  std::string_view front();
  void sent(std::size_t bytes);

 private:
  // Bytes [from, to) of the block, and behind them `in_file` bytes of the file.
  struct Piece {
    Block block;
    std::size_t from = 0, to = 0;
    std::uint64_t in_file = 0;
    bool is_counted = false;  // its block is one of those of limits.buffer_bytes
  };

  // What one client's bodies have taken of memory and of disk space; null: it is not counted.
  struct OfClient {
    traffic::ClientShares::Share* memory = nullptr;
    traffic::ClientShares::Share* answers = nullptr;  // of that
    traffic::ClientShares::Share* files = nullptr;
    bool is_known = false;  // it was looked for
  };

  const OfClient& of_client();
  std::uint64_t memory_of_worker() const;
  const config::Limits& limits() const { return request_.limits(); }
  bool write(std::string_view bytes);
  enum class FileRoom : std::uint8_t { some, not_for_it, none };
  FileRoom file_room(std::uint64_t bytes);
  void give_up_file(observe::Counter& counter);
  void miss_space();
  void fail_file(int error);
  void count_memory(std::int64_t bytes);
  void count_answer(std::int64_t bytes);
  void count_file();
  void drop_first();

  Services& services_;
  const RequestContext& request_;
  std::vector<Piece> pieces_;
  std::size_t first_ = 0;  // of the pieces that are not sent
  TempFile file_;
  OfClient of_client_;
  std::int64_t memory_ = 0;    // of limits.buffer_bytes
  std::int64_t answer_ = 0;    // of that, a stored answer
  std::int64_t in_files_ = 0;  // of limits.temp_file_bytes
  bool is_file_unavailable_ = false;
};

}  // namespace spillway::proxy
