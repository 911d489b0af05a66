// What a client has not taken of its response yet, beside the relay's own block: memory in place of
// a slot, which is free once the upstream's response has been read to its end. Bounded by
// limits.buffer_bytes over all workers, and a part of it for each response.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "proxy/exchange/request_context.hpp"
#include "proxy/exchange/services.hpp"
#include "proxy/net/block_pool.hpp"

namespace spillway::proxy {

class Spill {
 public:
  Spill(Services& services, const RequestContext& request)
      : gauge_(services.gauges.buffered_bytes), request_(request) {}
  Spill(const Spill&) = delete;
  Spill& operator=(const Spill&) = delete;
  ~Spill() { account(-kept_); }

  bool is_empty() const { return first_ == pieces_.size(); }
  // Room for so many bytes more, in whole blocks.
  bool has_room(std::uint64_t bytes) const {
    constexpr std::uint64_t kResponses = 32;  // that share the memory at least
    const std::uint64_t in_all = request_.limits().buffer_bytes;
    const std::uint64_t worker = in_all / request_.generation->generation().metrics.size();
    const auto its = static_cast<std::uint64_t>(kept_);
    const auto all = static_cast<std::uint64_t>(gauge_.value());
    return its + bytes <= in_all / kResponses && all + bytes <= worker;
  }
  // Keeps bytes [from, to) of the block. Only with room for it.
  void push(Block block, std::size_t from, std::size_t to) {
    account(static_cast<std::int64_t>(block.bytes().size()));
    pieces_.push_back({std::move(block), from, to});
  }

  // The oldest bytes; sent() takes some of them away.
  std::string_view front() const {
    const Piece& piece = pieces_[first_];
    return {piece.block.bytes().data() + piece.from, piece.to - piece.from};
  }
  void sent(std::size_t bytes) {
    Piece& piece = pieces_[first_];
    piece.from += bytes;
    if (piece.from < piece.to) return;
    account(-static_cast<std::int64_t>(piece.block.bytes().size()));
    piece.block.release();
    if (++first_ == pieces_.size()) {
      pieces_.clear();
      first_ = 0;
    }
  }

 private:
  struct Piece {
    Block block;
    std::size_t from, to;
  };

  void account(std::int64_t bytes) {
    kept_ += bytes;
    gauge_.add(bytes);
  }

  observe::Gauge& gauge_;  // of this worker
  const RequestContext& request_;
  std::vector<Piece> pieces_;
  std::size_t first_ = 0;  // of the pieces that are not sent
  std::int64_t kept_ = 0;
};

}  // namespace spillway::proxy
