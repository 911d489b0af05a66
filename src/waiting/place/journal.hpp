// Which tickets and sessions have changed since they were last written to the store. Bounded: if it
// is full because nothing takes from it, it gives up, and the whole room has to be written again.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "waiting/ticket/ticket.hpp"

namespace spillway::waiting {

class Journal {
 public:
  static constexpr std::size_t kMost = 65'536;  // 1 MiB

  struct Taken {
    bool is_complete = true;  // false: anything may have changed
    std::vector<TicketId> changed;
  };

  // Starts recording; before that, note() does nothing.
  void keep() { is_kept_ = true; }
  void note(const TicketId& id) {
    if (!is_kept_ || !taken_.is_complete) return;
    if (taken_.changed.size() < kMost) {
      taken_.changed.push_back(id);
    } else {
      taken_ = {false, {}};
    }
  }
  Taken take() { return std::exchange(taken_, {}); }

 private:
  bool is_kept_ = false;
  Taken taken_;
};

}  // namespace spillway::waiting
