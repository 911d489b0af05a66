// Changes of jobs' states that no worker has made: the log has a line for each, as for the others.
//
// A sweep or a cancel answers with ids alone. So the store is asked whose they are, a few with each
// batch. On the store's thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "jobs/job.hpp"
#include "store/contract/command.hpp"

namespace spillway::proxy {

struct JobStateChange {
  jobs::JobId id;
  jobs::JobState state{};
  jobs::Cause cause = jobs::Cause::none;
  std::string route{};  // empty: not known, nor are tenant and attempts
  std::string tenant{};
  std::uint32_t attempts = 0;
};

class JobLines {
 public:
  using Tell = std::function<void(const JobStateChange&)>;

  // `tell` may be empty.
  explicit JobLines(Tell tell) : tell_(std::move(tell)) {}

  void tell(const JobStateChange& change) const {
    if (tell_) tell_(change);
  }
  // It is told once the store has said whose the job is. Beyond kMostUntold it is told at once.
  void ask(const jobs::JobId& id, jobs::JobState state, jobs::Cause cause);
  // The questions; after a failure of the store they are asked again.
  void plan(std::vector<store::Command>& commands) const;
  void learn(const store::Find& find);
  bool has_untold() const { return !untold_.empty(); }
  // The store is asked no more.
  void give_up();

  static constexpr std::size_t kMostUntold = 4096;
  static constexpr std::size_t kAtOnce = 64;

 private:
  Tell tell_;
  std::vector<JobStateChange> untold_;  // in their order
};

}  // namespace spillway::proxy
