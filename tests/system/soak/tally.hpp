// What became of the soak's requests, as the clients saw it. Counted from any thread.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace spillway::soak {

enum class End : std::uint8_t {
  right,     // the whole and right answer of the backend, at once or stored
  prepared,  // the route's fallback
  refused,   // by the proxy, where that is allowed
  ended,     // the connection, without a whole answer, where that is allowed
  left,      // by the client, on purpose
  wrong,     // anything else that came
  hung,      // nothing came
};
inline constexpr std::size_t kEnds = 7;
inline constexpr std::array<std::string_view, kEnds> kEndNames{
    "right", "prepared", "refused", "ended", "left", "wrong", "hung"};

class Tally {
 public:
  void count(End end) { ++ends_[static_cast<std::size_t>(end)]; }
  std::uint64_t of(End end) const { return ends_[static_cast<std::size_t>(end)]; }
  std::uint64_t all() const;

 private:
  std::array<std::atomic<std::uint64_t>, kEnds> ends_{};
};

// What must not have happened, with how to do it again.
class Failures {
 public:
  void add(const std::string& what);
  std::uint64_t count() const { return count_; }
  std::vector<std::string> first() const;

 private:
  std::atomic<std::uint64_t> count_ = 0;
  mutable std::mutex mutex_;
  std::vector<std::string> first_;
};

}  // namespace spillway::soak
