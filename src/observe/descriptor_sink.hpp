// Where log lines go: a descriptor that is somebody else's, waited for as long as it takes while
// the process runs, but not at its end.
//
// A pipe whose reader stands still, or a stopped terminal, holds up this sink's thread alone. After
// finish() it is given one more second; what has not gone out by then is lost, and so is a line
// that cannot be written at all (a full disk, a reader that is gone).
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

  // Any thread: nothing waits for long from now on.
  void finish() { finishing_.store(true, std::memory_order_relaxed); }
  // Any thread: lines that were not written, or not whole.
  std::uint64_t lost() const { return lost_.load(std::memory_order_relaxed); }

 private:
  void sink_it_(const spdlog::details::log_msg& message) override;
  void flush_() override {}
  bool write(std::string_view bytes);
  bool wait_writable();

  int descriptor_;
  int patience_ms_ = 1000;  // left, once finishing
  std::atomic<bool> finishing_{false};
  std::atomic<std::uint64_t> lost_{0};
};

}  // namespace spillway::observe
