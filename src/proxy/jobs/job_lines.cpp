#include "proxy/jobs/job_lines.hpp"

#include <algorithm>
#include <utility>

namespace spillway::proxy {

void JobLines::ask(const jobs::JobId& id, jobs::JobState state, jobs::Cause cause) {
  JobStateChange change{.id = id, .state = state, .cause = cause};
  if (!tell_) return;
  if (untold_.size() >= kMostUntold) return tell(change);
  untold_.push_back(std::move(change));
}

void JobLines::plan(std::vector<store::Command>& commands) const {
  for (std::size_t n = 0; n < std::min(untold_.size(), kAtOnce); ++n)
    commands.emplace_back(store::Find{.id = untold_[n].id, .job = {}});
}

// A job that is gone by now gets its line nevertheless.
void JobLines::learn(const store::Find& find) {
  if (untold_.empty()) return;
  const auto is_other = [&](const JobStateChange& change) { return change.id != find.id; };
  const auto its = std::stable_partition(untold_.begin(), untold_.end(), is_other);
  for (auto change = its; change != untold_.end(); ++change) {
    if (find.job) {
      change->route = find.job->lane.route;
      change->tenant = find.job->tenant_name;
      change->attempts = find.job->progress.attempts;
    }
    tell(*change);
  }
  untold_.erase(its, untold_.end());
}

void JobLines::give_up() {
  for (const JobStateChange& change : std::exchange(untold_, {})) tell(change);
}

}  // namespace spillway::proxy
