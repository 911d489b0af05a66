// The demo backend's workers: a fixed number of slots behind an unbounded first-come
// first-served line. Unbounded on purpose: this is the backend that falls over at peak.
#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <utility>

namespace spillway::demo {

template <class Ticket>
class Slots {
 public:
  explicit Slots(std::size_t count) : free_(count) {}

  // True: the caller has a slot. False: `ticket` waits in line until give_back() returns it.
  bool take(Ticket ticket) {
    if (free_ > 0) {
      --free_;
      ++busy_;
      return true;
    }
    line_.push_back(std::move(ticket));
    return false;
  }

  // Ends one piece of work. The slot passes to the longest waiting ticket, which is returned.
  std::optional<Ticket> give_back() {
    if (line_.empty()) {
      --busy_;
      ++free_;
      return std::nullopt;
    }
    std::optional<Ticket> next(std::move(line_.front()));
    line_.pop_front();
    return next;
  }

  std::size_t waiting() const { return line_.size(); }
  std::size_t inside() const { return line_.size() + busy_; }

 private:
  std::size_t free_;
  std::size_t busy_ = 0;
  std::deque<Ticket> line_;
};

}  // namespace spillway::demo
