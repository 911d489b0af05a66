// What a relay does next: pure bookkeeping of the bytes between an upstream and a client.
//
// One block lies between the two connections. The upstream is read while the block has room, so a
// response that fits is read to its end at once and frees its slot, however slow the client is; a
// larger one is subject to backpressure. Bytes of [sent, valid) may be sent to the client; those of
// [valid, received) are not checked yet, or are space kept free for bytes that are held back
// (http/message/body.hpp).
#pragma once

#include <cstddef>
#include <cstdint>

namespace spillway::proxy {

class RelayState {
 public:
  enum class Next : std::uint8_t {
    read,   // from the upstream
    write,  // to the client
    both,
    done,
  };

  explicit RelayState(std::size_t capacity = 0) : capacity_(capacity) {}

  // The block holds `received` bytes; the first `head` of them are the response's head.
  void start(std::size_t received, std::size_t head) {
    received_ = received;
    sent_ = valid_ = head;
  }

  void received(std::size_t bytes) { received_ += bytes; }
  // All received bytes are checked; the bytes to relay end at `end`, and the next ones are received
  // `held` bytes after that.
  void set_checked(std::size_t end, std::size_t held = 0) {
    valid_ = end;
    received_ = end + held;
    sent(0);
  }
  // `bytes` of the body were sent to the client. An empty block is filled from its start again.
  void sent(std::size_t bytes) {
    sent_ += bytes;
    if (sent_ < valid_) return;
    received_ -= valid_;
    sent_ = valid_ = 0;
  }
  // All of it was sent, or will not be sent.
  void clear() { sent(to_send()); }
  void upstream_done() { is_upstream_done_ = true; }

  // `has_pending`: the rest of a head, or bytes in the pipe, are still to be sent.
  // `has_room_elsewhere`: input goes into a pipe instead of the block, and the pipe is not full.
  Next next(bool has_pending, bool has_room_elsewhere) const {
    const bool writes = has_pending || sent_ < valid_;
    const bool reads = !is_upstream_done_ && has_room_elsewhere;
    if (writes) return reads ? Next::both : Next::write;
    return reads ? Next::read : Next::done;
  }
  Next next(bool has_pending) const { return next(has_pending, has_room()); }

  bool has_room() const { return received_ < capacity_; }
  bool is_upstream_done() const { return is_upstream_done_; }
  std::size_t end() const { return received_; }       // of the received bytes
  std::size_t checked_to() const { return valid_; }   // of the checked bytes
  std::size_t to_send_from() const { return sent_; }  // of the unsent bytes
  std::size_t to_send() const { return valid_ - sent_; }

 private:
  std::size_t capacity_;
  std::size_t received_ = 0;
  std::size_t sent_ = 0;
  std::size_t valid_ = 0;
  bool is_upstream_done_ = false;
};

constexpr bool reads(RelayState::Next next) {
  return next == RelayState::Next::read || next == RelayState::Next::both;
}
constexpr bool writes(RelayState::Next next) {
  return next == RelayState::Next::write || next == RelayState::Next::both;
}

}  // namespace spillway::proxy
