// Where the clients of a row wait for one another.
#pragma once

#include <atomic>
#include <cstddef>

#include "support/event.hpp"
#include "system/faults/row.hpp"

namespace spillway::faults {

// Rounds that have begun when this client is at it.
inline std::size_t rounds_begun(Client client) { return client.number / kClients + 1; }

// Counts clients over all rounds of a row.
class Meeting {
 public:
  void arrive() { ++arrived_; }
  // False: fewer have come by then.
  bool wait_for(std::size_t count, support::Milliseconds within) const {
    const support::Event never;
    const support::Deadline deadline(within);
    while (arrived_ < count && !deadline.passed()) never.wait(support::Milliseconds{5});
    return arrived_ >= count;
  }

 private:
  std::atomic<std::size_t> arrived_{0};
};

// Arrives once, at its end at the latest.
class Arrival {
 public:
  explicit Arrival(Meeting& meeting) : meeting_(&meeting) {}
  Arrival(const Arrival&) = delete;
  Arrival& operator=(const Arrival&) = delete;
  ~Arrival() { arrive(); }
  void arrive() {
    if (meeting_ != nullptr) meeting_->arrive();
    meeting_ = nullptr;
  }

 private:
  Meeting* meeting_;
};

}  // namespace spillway::faults
