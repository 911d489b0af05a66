#include "store/contract/filter.hpp"

namespace spillway::store {

bool includes(const Filter& filter, const jobs::JobView& job) {
  const jobs::Progress& progress = job.progress;
  if (filter.state && *filter.state != progress.state) return false;
  if (filter.route && *filter.route != job.lane.route) return false;
  if (filter.cause && *filter.cause != progress.cause) return false;
  if (filter.accepted_from && job.accepted < *filter.accepted_from) return false;
  if (filter.accepted_before && job.accepted >= *filter.accepted_before) return false;
  if (filter.ended_from || filter.ended_before) {
    if (progress.ended == jobs::kNoTime) return false;
    if (filter.ended_from && progress.ended < *filter.ended_from) return false;
    if (filter.ended_before && progress.ended >= *filter.ended_before) return false;
  }
  return !filter.id || *filter.id == job.id;
}

}  // namespace spillway::store
