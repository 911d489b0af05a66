#include "proxy/jobs/job_news.hpp"

#include <algorithm>
#include <utility>

namespace spillway::proxy {

void JobNews::wrote(const jobs::Lane& lane) {
  if (is_shared_ && lanes_.size() < kMostLanes) lanes_.insert(lane);
}

std::vector<jobs::Lane> JobNews::take(const jobs::Rotor& rotor, const jobs::Rotor::Room& room,
                                      TimePoint now, jobs::WallTime wall) {
  std::vector<jobs::Lane> told;
  if (lanes_.empty() || now < next_) return told;
  next_ = now + kEvery;
  std::erase_if(lanes_, [&](const jobs::Lane& lane) {
    const auto due = rotor.due(lane);
    if (!due || *due > wall) return true;
    if (room(lane.route) > 0) return false;
    told.push_back(lane);
    return true;
  });
  return told;
}

void JobNews::cancelled(const store::AskedCancel& cancel) {
  const bool is_new = std::find(cancels_.begin(), cancels_.end(), cancel) == cancels_.end();
  if (is_new && cancels_.size() < kMostCancels) cancels_.push_back(cancel);
}

std::vector<store::AskedCancel> JobNews::take_cancels(TimePoint now) {
  if (cancels_.empty() || now < next_cancels_) return {};
  next_cancels_ = now + kEvery;
  return std::exchange(cancels_, {});
}

std::optional<TimePoint> JobNews::next_due() const {
  if (cancels_.empty() && lanes_.empty()) return std::nullopt;
  if (cancels_.empty()) return next_;
  return lanes_.empty() ? next_cancels_ : std::min(next_, next_cancels_);
}

}  // namespace spillway::proxy
