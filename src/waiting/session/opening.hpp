// Whether visitors have to wait.
#pragma once

#include "waiting/terms/terms.hpp"
#include "waiting/ticket/archive.hpp"
#include "waiting/ticket/ticket.hpp"

namespace spillway::waiting {

class Opening {
 public:
  // A stamp was issued: its visitor will be back, and finds the waiting room open for kStampHolds.
  // This applies only while the room is open anyway: else one arrival within each kStampHolds would
  // keep an empty room open for ever.
  void stamp(When when, bool has_room, bool has_tickets, Time now) {
    if (has_reason(when, has_room, has_tickets)) stamped_until_ = now + kStampHolds;
    if (!is_latched_) opened(now);
  }

  // `has_room`: one more session could begin. `has_tickets`: a ticket waits or is called.
  bool is_open(When when, bool has_room, bool has_tickets, Time now) const {
    return has_reason(when, has_room, has_tickets) || now < stamped_until_;
  }

  // For When::overloaded: once open it stays open until there has been room, an empty line and no
  // overload for kCalm, and for at least kAtLeast. Called at each tick.
  void tick(bool is_overloaded, bool has_room, bool has_tickets, Time now) {
    if (is_overloaded || !has_room) {
      if (!is_latched_) opened(now);
      busy_ = now;
    } else if (has_tickets) {
      busy_ = now;
    } else if (now - busy_ >= kCalm && now - opened_ >= kAtLeast) {
      is_latched_ = false;
    }
  }

 private:
  friend struct Archived;
  template <class Self, class Archive>
  static void fields(Self& self, Archive& archive) {
    archive(self.is_latched_, self.opened_, self.busy_, self.stamped_until_);
  }

  bool has_reason(When when, bool has_room, bool has_tickets) const {
    if (when == When::always || !has_room || has_tickets) return true;
    return when == When::overloaded && is_latched_;
  }

  // A page without scripts reloads after kPageReload; the rest is for delays on the network.
  static constexpr Milliseconds kStampHolds = kPageReload + Milliseconds{6'000};
  static constexpr Milliseconds kAtLeast{60'000};
  static constexpr Milliseconds kCalm{120'000};

  void opened(Time now) {
    is_latched_ = true;
    opened_ = busy_ = now;
  }

  bool is_latched_ = false;
  Time opened_{};
  Time busy_{};
  Time stamped_until_{};
};

}  // namespace spillway::waiting
