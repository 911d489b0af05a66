// The last requests that expired in a queue, for the admin pages (expire_policy: dead_letter).
//
// A ring buffer: the newest replaces the oldest. Texts are copied and truncated. Not thread-safe;
// nothing allocates after construction.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/ids.hpp"
#include "base/reason.hpp"
#include "base/time.hpp"

namespace spillway::dispatch {

struct DeadLetter {
  Reason reason = Reason::none;  // how it expired: DEADLINE_EXPIRED or QUEUE_TIMEOUT
  ClassId traffic_class{};
  RouteId route{};
  TimePoint at{};
  Duration waited{0};
  std::string_view method;
  std::string_view path;
  std::string_view request_id;
  std::string_view tenant;
};

class DeadLetters {
 public:
  static constexpr std::size_t kMethodBytes = 16;
  static constexpr std::size_t kPathBytes = 160;
  static constexpr std::size_t kRequestIdBytes = 64;
  static constexpr std::size_t kTenantBytes = 64;

  // With a capacity of 0, letters are only counted.
  explicit DeadLetters(std::size_t capacity);

  void record(const DeadLetter& letter);

  std::size_t size() const;
  std::uint64_t total() const { return total_; }  // ever recorded

  // The i-th letter in the ring, the oldest first; i < size(). Its texts are valid until the next
  // record().
  DeadLetter operator[](std::size_t i) const;

 private:
  // The texts are stored one after the other in `bytes`.
  struct Entry {
    DeadLetter letter;  // its views are set when it is read
    std::array<std::uint8_t, 4> lengths{};
    std::array<char, kMethodBytes + kPathBytes + kRequestIdBytes + kTenantBytes> bytes;
  };

  std::vector<Entry> ring_;
  std::uint64_t total_ = 0;
};

}  // namespace spillway::dispatch
