// The Server-Timing field (W3C "Server Timing") of a request that waited in the queue.
#pragma once

#include <cstdint>

#include "base/text_writer.hpp"
#include "base/time.hpp"

namespace spillway::http {

// A whole line: `Server-Timing: queue;dur=3.1`, in milliseconds.
inline void write_server_timing(TextWriter& out, Duration queue_wait) {
  using Tenths = std::chrono::duration<std::int64_t, std::ratio<1, 10000>>;
  const std::int64_t tenths = std::chrono::round<Tenths>(queue_wait).count();
  out << "Server-Timing: queue;dur=" << tenths / 10 << '.' << static_cast<char>('0' + tenths % 10)
      << "\r\n";
}

}  // namespace spillway::http
