// The modelled backend: servers before which requests queue, first come first served and without
// a bound. It finishes whatever it was sent: that a client has left it does not notice.
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
  double available = 0;  // what the servers that were there could have done
  double useful = 0;     // done for clients that were still there at the end of it
  double wasted = 0;     // done for the others
};

class BackendModel {
 public:
  explicit BackendModel(const Backend& settings) : settings_(settings), slots_(settings.slots) {}

  // `changes` are those in force now.
  void apply(const std::vector<const Change*>& changes, TimePoint now);

  // A request that arrived, and then as long as it yields one: a request that it begins to work
  // on, which finish() must be told of after that long.
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
