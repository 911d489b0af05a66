// For which requests of a schedule a client still waits. The client writes it, and the backend,
// which may be another thread, reads it: work for a client that has left is wasted.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "bench/load/request_number.hpp"

namespace spillway::load {

class Awaited {
 public:
  explicit Awaited(std::size_t arrivals) : attempts_(arrivals) {}

  // From then on that attempt is waited for, and an earlier one is not. Attempts are below 255.
  void begin(const RequestNumber& number) {
    attempts_[number.arrival].store(static_cast<std::uint8_t>(number.attempt));
  }
  // The attempt has ended. After an answer whatever is still done for the request is no waste: a
  // proxy may be renewing what it has stored.
  void end(const RequestNumber& number, bool answered) {
    attempts_[number.arrival].store(answered ? kAnswered : 0);
  }

  // The client waits for the answer to this attempt.
  bool waits(const RequestNumber& number) const { return at(number) == number.attempt; }
  // It does, or has been answered already. Unknown numbers: no.
  bool wanted(const RequestNumber& number) const {
    return number.arrival < attempts_.size() && (waits(number) || at(number) == kAnswered);
  }

 private:
  static constexpr std::uint8_t kAnswered = std::numeric_limits<std::uint8_t>::max();

  std::uint8_t at(const RequestNumber& number) const { return attempts_[number.arrival].load(); }

  std::vector<std::atomic<std::uint8_t>> attempts_;  // 0: no client waits
};

}  // namespace spillway::load
