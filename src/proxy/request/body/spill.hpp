// Bytes that wait for a slow client in place of a slot: the part of a request's body that has come
// before its slot is taken, or the part of a response that the client has not taken yet. A
// first-in, first-out queue of bytes, in memory as far as limits.buffer_bytes has room and in a
// temporary file as far as limits.temp_file_bytes has; both limits are over all workers, with a
// share for each body and for each client address.
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
  // Memory has room for that many more bytes, in whole blocks.
  bool has_memory(std::uint64_t bytes);
  // Counts that many bytes as taken until the end of the request, for content that has come and is
  // kept elsewhere. False: there is no memory for them.
  bool reserve(std::uint64_t bytes);
  // The same for a stored answer, which comes as a whole. Answers have their own allowance (half of
  // the worker's part, a quarter for one client), so that slow bodies do not keep them out. Neither
  // bound holds for the first answer.
  bool reserve_answer(std::uint64_t bytes);
  // Whether reserve_answer() would succeed, apart from the answers that its client already has.
  bool has_room_for_answer(std::uint64_t bytes) const;
  // Whether a file has room for that many more bytes, as far as is known.
  bool has_file_room(std::uint64_t bytes);
  // The same. Once there is no room, or the file could not be created or written, no file is used
  // for this body any more.
  bool find_file_room(std::uint64_t bytes);
  // It takes disk space, and lately another body found none.
  bool keeps_space(TimePoint now) const {
    return file_.space() > 0 && services_.temp_space.missed_lately(now);
  }
  // It is not yet known that there can be no file.
  bool may_have_file() const { return !is_file_unavailable_; }
  // keep() writes to the disk, which takes longer than the network: at most one block per turn of
  // the loop.
  bool is_on_disk() const { return static_cast<bool>(file_); }

  // A block that is being filled for keep() counts too.
  void begin_block() {
    count_memory(static_cast<std::int64_t>(services_.large_blocks.block_size()));
  }
  void end_block() {
    count_memory(-static_cast<std::int64_t>(services_.large_blocks.block_size()));
  }

  // Keeps bytes [from, to) of the block, in memory or in the file. In memory the block goes with
  // them and a new one takes its place. Ask for room before: if there is none the bytes are kept in
  // memory anyway.
  void keep(Block& block, std::size_t from, std::size_t to);

  // Some of the oldest bytes, of which sent() then removes those that were sent. Empty: the file
  // cannot be read. Call it only if there is something.
  std::string_view front();
  void sent(std::size_t bytes);

 private:
  // Bytes [from, to) of the block, followed by `in_file` bytes of the file.
  struct Piece {
    Block block;
    std::size_t from = 0, to = 0;
    std::uint64_t in_file = 0;
    bool is_counted = false;  // its block counts against limits.buffer_bytes
  };

  // Memory and disk space that one client's bodies have taken; null: not counted.
  struct OfClient {
    traffic::ClientShares::Share* memory = nullptr;
    traffic::ClientShares::Share* answers = nullptr;  // part of that memory
    traffic::ClientShares::Share* files = nullptr;
    bool is_known = false;  // it has been looked up
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
  std::size_t first_ = 0;  // the first of the pieces not yet sent
  TempFile file_;
  OfClient of_client_;
  std::int64_t memory_ = 0;    // bytes that count against limits.buffer_bytes
  std::int64_t answer_ = 0;    // the part of them that is a stored answer
  std::int64_t in_files_ = 0;  // bytes that count against limits.temp_file_bytes
  bool is_file_unavailable_ = false;
};

}  // namespace spillway::proxy
