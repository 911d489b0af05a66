// Which changes of jobs' states are logged that no worker has made.
#include "proxy/jobs/job_dispatcher.hpp"

namespace spillway::proxy {

void JobDispatcher::swept(const store::Sweep& sweep, TimePoint now) {
  counts_.expired += sweep.expired.size();
  counts_.recovered += sweep.recovered.size();
  counts_.forgotten += sweep.forgotten;
  counts_.dead[index(jobs::Cause::poison)] += sweep.poisoned.size();
  if (sweep.has_more) next_.sweep = now;
  if (!sweep.recovered.empty()) next_.lanes = now;
  tell(sweep.expired, jobs::JobState::expired, jobs::Cause::out_of_time);
  tell(sweep.recovered, jobs::JobState::retrying, jobs::Cause::proxy_ended);
  tell(sweep.poisoned, jobs::JobState::dead, jobs::Cause::poison);
}

void JobDispatcher::tell(const std::vector<jobs::JobId>& ids, jobs::JobState state,
                         jobs::Cause cause) {
  for (const jobs::JobId& id : ids) lines_.ask(id, state, cause);
}

void JobDispatcher::posted(const jobs::NewJob& job) const {
  lines_.tell({.id = job.id,
               .state = jobs::JobState::queued,
               .route = job.lane.route,
               .tenant = job.tenant_name});
}

void JobDispatcher::left() {
  for (const auto& [id, its] : leased_) {
    lines_.tell({.id = id,
                 .state = its.before,
                 .route = its.lane.route,
                 .tenant = its.tenant_name,
                 .attempts = its.progress.attempts});
    poison_guard_.leave(its.progress.recoveries);
  }
  leased_.clear();
}

}  // namespace spillway::proxy
