// A log sink for a descriptor that it does not own. Writes block while the process runs, but not
// while it ends.
//
// A pipe without a reader, or a stopped terminal, delays only this sink's thread. After finish() it
// waits one more second; lines not written by then are lost, as are lines that cannot be written (a
// full disk, a closed pipe).
#pragma once

#include <spdlog/sinks/base_sink.h>

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string_view>

namespace spillway::observe {

class DescriptorSink final : public spdlog::sinks::base_sink<std::mutex> {
 public:
  explicit DescriptorSink(int descriptor) : descriptor_(descriptor) {}

  // Any thread: ends the wait for the pipe's reader within a second.
  void finish() { finishing_.store(true, std::memory_order_relaxed); }
  // Any thread: the number of lines not written, or not completely.
  std::uint64_t lost() const { return lost_.load(std::memory_order_relaxed); }

 private:
  void sink_it_(const spdlog::details::log_msg& message) override;
  void flush_() override {}
  bool write(std::string_view bytes);
  bool wait_writable();

  int descriptor_;
  int patience_ms_ = 1000;  // remaining, once finishing
  std::atomic<bool> finishing_{false};
  std::atomic<std::uint64_t> lost_{0};
};

}  // namespace spillway::observe
