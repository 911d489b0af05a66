// What a relay does next: pure bookkeeping of the bytes between an upstream and a client.
//
// One block lies between the two connections. The upstream is read as long as the block has room,
// whether or not the client takes anything: a response that fits is read to its end at once and
// frees its slot, however slow the client is; a larger one is held back by the client's pace. Bytes
// of [sent, valid) may go to the client; those of [valid, received) are not checked yet.
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

  // The block holds so many bytes, of which the first `head` are not the body's.
  void start(std::size_t received, std::size_t head) {
    received_ = received;
    sent_ = valid_ = head;
  }

  void received(std::size_t bytes) { received_ += bytes; }
  // All that was received is checked, and ends at `end` now: gaps in it have been closed.
  void set_checked(std::size_t end) { received_ = valid_ = end; }
  // Bytes of the body went to the client. An empty block is filled from its front again.
  void sent(std::size_t bytes) {
    sent_ += bytes;
    if (sent_ == valid_) clear();
  }
  void clear() { sent_ = valid_ = received_ = 0; }
  void upstream_done() { is_upstream_done_ = true; }

  // With the rest of a head that is still to be sent, or bytes in a pipe behind the block. A pipe,
  // once there is one, takes what is read: it says whether it has room.
  Next next(bool has_pending, bool has_room_elsewhere) const {
    const bool writes = has_pending || sent_ < valid_;
    const bool reads = !is_upstream_done_ && has_room_elsewhere;
    if (writes) return reads ? Next::both : Next::write;
    return reads ? Next::read : Next::done;
  }
  Next next(bool has_pending) const { return next(has_pending, has_room()); }

  bool has_room() const { return received_ < capacity_; }
  bool is_upstream_done() const { return is_upstream_done_; }
  std::size_t end() const { return received_; }       // of what was received
  std::size_t checked_to() const { return valid_; }   // of what was checked
  std::size_t to_send_from() const { return sent_; }  // of what is left to send
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
