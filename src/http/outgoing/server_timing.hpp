// The Server-Timing field (W3C "Server Timing") of a request that waited in the queue.
#pragma once

#include "base/text_writer.hpp"
#include "base/time.hpp"

namespace spillway::http {

// A whole line: `Server-Timing: queue;dur=3.1`, in milliseconds.
void write_server_timing(TextWriter& out, Duration queue_wait);

}  // namespace spillway::http
