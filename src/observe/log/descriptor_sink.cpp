#include "observe/log/descriptor_sink.hpp"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>

namespace spillway::observe {

namespace {
// Interval of the check for finish().
constexpr int kWaitMs = 50;
}  // namespace

void DescriptorSink::sink_it_(const spdlog::details::log_msg& message) {
  spdlog::memory_buf_t line;
  formatter_->format(message, line);
  if (!write({line.data(), line.size()})) lost_.fetch_add(1, std::memory_order_relaxed);
}

// A writable pipe takes PIPE_BUF bytes without blocking, if no other process writes to it.
bool DescriptorSink::write(std::string_view bytes) {
  while (!bytes.empty()) {
    if (!wait_writable()) return false;
    const ssize_t written =
        ::write(descriptor_, bytes.data(), std::min<std::size_t>(bytes.size(), PIPE_BUF));
    if (written > 0) {
      bytes.remove_prefix(static_cast<std::size_t>(written));
    } else if (written == 0 || (errno != EINTR && errno != EAGAIN)) {
      return false;
    }
  }
  return true;
}

bool DescriptorSink::wait_writable() {
  for (;;) {
    const bool finishing = finishing_.load(std::memory_order_relaxed);
    pollfd output{descriptor_, POLLOUT, 0};
    if (::poll(&output, 1, finishing && patience_ms_ <= 0 ? 0 : kWaitMs) > 0) return true;
    if (!finishing) continue;
    if (patience_ms_ <= 0) return false;
    patience_ms_ -= kWaitMs;
  }
}

}  // namespace spillway::observe
