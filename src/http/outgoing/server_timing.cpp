#include "http/outgoing/server_timing.hpp"

#include <cstdint>

namespace spillway::http {

void write_server_timing(TextWriter& out, Duration queue_wait) {
  using Tenths = std::chrono::duration<std::int64_t, std::ratio<1, 10000>>;
  const std::int64_t tenths = std::chrono::round<Tenths>(queue_wait).count();
  out << "Server-Timing: queue;dur=" << tenths / 10 << '.' << static_cast<char>('0' + tenths % 10)
      << "\r\n";
}

}  // namespace spillway::http
