// A seat for a visitor that follows its place by an event stream. Streams hold permits of
// limits.tunnels; seats limit how many of those permits visitors may take, over all waiting rooms
// of the process, so that tunnels of the backend remain. RAII, thread-safe.
#pragma once

#include <cstdint>
#include <utility>

#include "proxy/net/capped_counter.hpp"

namespace spillway::proxy {

class EventSeat {
 public:
  EventSeat() = default;  // no seat
  // No seat if `most` are taken already.
  static EventSeat take(CappedCounter& seats, std::uint32_t most) {
    EventSeat seat;
    if (seats.try_increment(most)) seat.seats_ = &seats;
    return seat;
  }
  EventSeat(EventSeat&& other) noexcept : seats_(std::exchange(other.seats_, nullptr)) {}
  EventSeat& operator=(EventSeat&& other) noexcept {
    std::swap(seats_, other.seats_);
    return *this;
  }
  ~EventSeat() {
    if (seats_ != nullptr) seats_->decrement();
  }

  explicit operator bool() const { return seats_ != nullptr; }

 private:
  CappedCounter* seats_ = nullptr;
};

}  // namespace spillway::proxy
