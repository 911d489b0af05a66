// The modelled backend: servers with a number of slots and an unbounded queue each. It does not
// notice when a client has left: every request that reached it is worked on.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "base/ids.hpp"
#include "base/random.hpp"
#include "base/time.hpp"
#include "simulate/model/request.hpp"
#include "simulate/recording/recording.hpp"
#include "simulate/scenario/scenario.hpp"

namespace spillway::simulate {

class BackendModel {
 public:
  // Keeps a reference to `settings`. Failures are drawn from `random`.
  explicit BackendModel(const Backend& settings, Random random = Random(1));

  // `changes`: those in force now.
  void apply(const std::vector<const Change*>& changes, TimePoint now);

  std::size_t servers() const { return servers_.size(); }
  // Whether the server accepts a connection.
  bool accepts(std::size_t server);

  // arrive() queues a request at its server. Call begin_next() until it returns nullopt: each
  // request it returns is in service and must be passed to finish() after `takes`. For an error
  // request.fails is set, and request.work is its cost.
  struct Begun {
    Request* request;
    Duration takes;
  };
  void arrive(Request& request);
  std::optional<Begun> begin_next();
  void finish(const Request& request);

  std::uint32_t running() const { return running_; }
  std::size_t queued() const { return queued_; }
  std::size_t queued(ClassId id) const { return queued_by_class_[index(id)]; }
  WorkDone work_done(TimePoint now);

 private:
  // A server as configured, and with the changes in force.
  struct One {
    Server plain;
    std::uint32_t slots = 0;
    double speed = 1;
    double error_rate = 0, error_after = 1, refused_rate = 0;
    std::uint32_t running = 0;
    std::deque<Request*> queue;
  };

  Begun begin(One& server);

  const Backend& settings_;
  Random random_;
  std::vector<One> servers_;
  std::uint32_t running_ = 0;
  std::size_t queued_ = 0;
  std::array<std::size_t, kMaxClasses> queued_by_class_{};
  WorkDone done_;
  std::optional<TimePoint> counted_until_;
};

}  // namespace spillway::simulate
