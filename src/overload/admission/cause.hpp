// Why requests are to be refused, and whether a free slot prevents it.
#pragma once

#include "base/reason.hpp"

namespace spillway::overload {

struct Cause {
  // From a reason alone: work-conserving for a lack of capacity, final for poor health.
  Cause(Reason of) : Cause(of, is_capacity(of)) {}  // NOLINT: a reason is a cause
  Cause(Reason of, bool only_without_a_slot) : reason(of), work_conserving(only_without_a_slot) {}

  friend bool operator==(const Cause&, const Cause&) = default;

  Reason reason;
  // A request is refused only while no slot is free and its wait would be long.
  bool work_conserving;
};

}  // namespace spillway::overload
