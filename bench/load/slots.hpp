// The backend's workers: a number of slots before an unbounded first-come first-served line.
// Unbounded on purpose: this is the backend that falls over at peak.
#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <utility>

namespace spillway::load {

template <class Ticket>
class Slots {
 public:
  explicit Slots(std::size_t count) : count_(count) {}

  // True: the caller has a slot. False: `ticket` waits in line until next() returns it.
  bool take(Ticket ticket) {
    if (busy_ < count_) {
      ++busy_;
      return true;
    }
    line_.push_back(std::move(ticket));
    return false;
  }

  // Ends one piece of work; then ask for next().
  void give_back() { --busy_; }

  // With fewer than before, those too many go on until they are given back. With more, ask for
  // next() until there is none.
  void resize(std::size_t count) { count_ = count; }

  // The longest waiting ticket if there is a slot for it, which it then has.
  std::optional<Ticket> next() {
    if (busy_ >= count_ || line_.empty()) return std::nullopt;
    ++busy_;
    std::optional<Ticket> first(std::move(line_.front()));
    line_.pop_front();
    return first;
  }

  std::size_t waiting() const { return line_.size(); }
  std::size_t inside() const { return line_.size() + busy_; }

 private:
  std::size_t count_;
  std::size_t busy_ = 0;
  std::deque<Ticket> line_;
};

}  // namespace spillway::load
