#include "simulate/backend_model.hpp"

#include <algorithm>

namespace spillway::simulate {

void BackendModel::apply(const std::vector<const Change*>& changes, TimePoint now) {
  work_done(now);
  slots_ = settings_.slots;
  speed_ = 1;
  for (const Change* change : changes) {
    slots_ = std::min(slots_, change->slots.value_or(slots_));
    speed_ *= change->speed;
  }
}

void BackendModel::arrive(Request& request) {
  queue_.push_back(&request);
  ++queued_by_class_[index(request.traffic_class)];
}

std::optional<BackendModel::Begun> BackendModel::begin_next() {
  if (running_ >= slots_ || queue_.empty()) return std::nullopt;
  const double inside = running_ + static_cast<double>(queue_.size());
  Request& request = *queue_.front();
  queue_.pop_front();
  --queued_by_class_[index(request.traffic_class)];
  ++running_;
  return Begun{&request, from_seconds(request.work * thrashing(settings_, inside) / speed_)};
}

void BackendModel::finish(const Request& request) {
  --running_;
  (request.client_waits ? done_.useful : done_.wasted) += request.work;
}

WorkDone BackendModel::work_done(TimePoint now) {
  if (counted_until_)
    done_.available += best_of(settings_, slots_) * speed_ * to_seconds(now - *counted_until_);
  counted_until_ = now;
  return done_;
}

}  // namespace spillway::simulate
