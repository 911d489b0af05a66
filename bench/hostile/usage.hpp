// What an attack used of its client's means. Connections and payload count, on both ways; the
// headers of TCP and IP do not.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace spillway::hostile {

// The bounds within which P0 has to be answered.
inline constexpr std::size_t kMostConnections = 1000;
inline constexpr double kMostBytesPerSecond = 1e6;

struct Usage {
  std::size_t connections = 0;  // open at a time, at most
  std::uint64_t opened = 0;     // in all
  std::uint64_t bytes = 0;      // sent and received
  double seconds = 0;
};

inline double bytes_per_second(const Usage& usage) {
  return usage.seconds > 0 ? static_cast<double>(usage.bytes) / usage.seconds : 0;
}

inline bool within_bounds(const Usage& usage) {
  return usage.connections <= kMostConnections && bytes_per_second(usage) < kMostBytesPerSecond;
}

// The same while it grows.
class Ledger {
 public:
  void open() {
    ++usage_.opened;
    ++open_;
    usage_.connections = std::max(usage_.connections, open_);
  }
  void close(std::uint64_t bytes) {
    --open_;
    usage_.bytes += bytes;
  }
  const Usage& usage() const { return usage_; }

 private:
  Usage usage_;
  std::size_t open_ = 0;
};

}  // namespace spillway::hostile
