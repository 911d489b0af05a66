// How long a slot is held while the upstream is not asked for more than it can do: the least mean
// of successive periods, and while the upstream is quiet the last one.
//
// A stalled or overloaded upstream holds slots for longer. That does not raise the least mean:
// longer times are learned only from periods that are quiet throughout. An upstream that becomes
// slower and is never quiet keeps its old value.
//
// Pure; nothing allocates.
#pragma once

#include <cstdint>
#include <optional>

#include "base/time.hpp"

namespace spillway::dispatch {

class QuietHold {
 public:
  // A slot was given back after `held` (negative counts as zero). `is_quiet`: fewer than half of
  // the slots are in use, and no request waits.
  void record(Duration held, bool is_quiet, TimePoint now);

  // nullopt: not known yet.
  std::optional<double> seconds() const { return seconds_; }

 private:
  double sum_ = 0;  // seconds, of the period
  std::uint32_t count_ = 0;
  bool is_quiet_ = true;
  TimePoint began_{};
  std::optional<double> seconds_;
};

}  // namespace spillway::dispatch
