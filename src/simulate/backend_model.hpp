// The modelled backend: `slots` servers behind one unbounded FIFO queue. It does not notice that a
// client left: it finishes every request.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <optional>

#include "base/time.hpp"
#include "simulate/request.hpp"
#include "simulate/scenario.hpp"

namespace spillway::simulate {

// Seconds of a server at normal speed, since the beginning; only grows.
struct WorkDone {
  double available = 0;  // the most that the slots in force could do
  double useful = 0;     // for clients that waited until the end
  double wasted = 0;     // for clients that had left
};

class BackendModel {
 public:
  explicit BackendModel(const Backend& settings) : settings_(settings), slots_(settings.slots) {}

  // `changes`: those in force now.
  void apply(const std::vector<const Change*>& changes, TimePoint now);

  // arrive() queues a request. Call begin_next() until it returns nullopt: each request it returns
  // is in service and must be passed to finish() after `takes`.
  struct Begun {
    Request* request;
    Duration takes;
  };
  void arrive(Request& request);
  std::optional<Begun> begin_next();
  void finish(const Request& request);

  std::uint32_t running() const { return running_; }
  std::size_t queued() const { return queue_.size(); }
  std::size_t queued(ClassId id) const { return queued_by_class_[index(id)]; }
  WorkDone work_done(TimePoint now);

 private:
  const Backend& settings_;
  std::uint32_t slots_;
  double speed_ = 1;
  std::uint32_t running_ = 0;
  std::deque<Request*> queue_;
  std::array<std::size_t, kMaxClasses> queued_by_class_{};
  WorkDone done_;
  std::optional<TimePoint> counted_until_;
};

}  // namespace spillway::simulate
