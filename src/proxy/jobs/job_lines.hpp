// Log lines for changes of jobs' states that no worker has made: one each, as for other changes.
//
// A sweep or a cancel returns only ids. So the store is asked for these jobs, a few with each
// batch. Store's thread only.
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
  // Logged once the store has returned the job. Beyond kMostUntold it is logged at once.
  void ask(const jobs::JobId& id, jobs::JobState state, jobs::Cause cause);
  // Adds the questions; after a failure of the store they are asked again.
  void plan(std::vector<store::Command>& commands) const;
  void learn(const store::Find& find);
  bool has_untold() const { return !untold_.empty(); }
  // The store will not be asked again.
  void give_up();

  static constexpr std::size_t kMostUntold = 4096;
  static constexpr std::size_t kAtOnce = 64;

 private:
  Tell tell_;
  std::vector<JobStateChange> untold_;  // in order of the changes
};

}  // namespace spillway::proxy
