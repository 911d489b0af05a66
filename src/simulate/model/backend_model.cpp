#include "simulate/model/backend_model.hpp"

#include <algorithm>

namespace spillway::simulate {
namespace {

constexpr double kLongestService = 1e6;  // seconds; beyond the end of any run

}  // namespace

BackendModel::BackendModel(const Backend& settings, Random random)
    : settings_(settings), random_(random) {
  for (const Server& server : settings.servers) servers_.push_back({.plain = server});
  if (servers_.empty()) servers_.push_back({.plain = {.slots = settings.slots}});
  apply({}, TimePoint{});
  counted_until_.reset();
}

void BackendModel::apply(const std::vector<const Change*>& changes, TimePoint now) {
  work_done(now);
  for (std::size_t i = 0; i < servers_.size(); ++i) {
    One& server = servers_[i];
    server.slots = server.plain.slots;
    server.speed = server.plain.speed;
    server.error_rate = server.refused_rate = 0;
    for (const Change* change : changes) {
      if (change->server && *change->server != i + 1) continue;
      server.slots = std::min(server.slots, change->slots.value_or(server.slots));
      server.speed *= change->speed;
      if (change->error_rate > server.error_rate) server.error_after = change->error_after;
      server.error_rate = std::max(server.error_rate, change->error_rate);
      server.refused_rate = std::max(server.refused_rate, change->refused_rate);
    }
  }
}

bool BackendModel::accepts(std::size_t server) {
  const double refused = servers_[server].refused_rate;
  return refused <= 0 || random_.uniform() >= refused;
}

void BackendModel::arrive(Request& request) {
  servers_[request.call.server].queue.push_back(&request);
  ++queued_;
  ++queued_by_class_[index(request.traffic_class)];
}

std::optional<BackendModel::Begun> BackendModel::begin_next() {
  for (One& server : servers_) {
    if (server.running < server.slots && !server.queue.empty()) return begin(server);
  }
  return std::nullopt;
}

BackendModel::Begun BackendModel::begin(One& server) {
  const double inside = server.running + static_cast<double>(server.queue.size());
  Request& request = *server.queue.front();
  server.queue.pop_front();
  --queued_;
  --queued_by_class_[index(request.traffic_class)];
  ++server.running;
  ++running_;
  request.fails = server.error_rate > 0 && random_.uniform() < server.error_rate;
  if (request.fails) request.work *= server.error_after;
  request.fails = request.fails || request.demand.is_bad;
  const double takes = request.work * thrashing(settings_, inside) / server.speed;
  return {&request, from_seconds(std::min(takes, kLongestService))};
}

void BackendModel::finish(const Request& request) {
  --servers_[request.call.server].running;
  --running_;
  (request.client_waits && !request.fails ? done_.useful : done_.wasted) += request.work;
}

WorkDone BackendModel::work_done(TimePoint now) {
  if (counted_until_) {
    double most = 0;
    for (const One& server : servers_) most += best_of(settings_, server.slots) * server.speed;
    done_.available += most * to_seconds(now - *counted_until_);
  }
  counted_until_ = now;
  return done_;
}

}  // namespace spillway::simulate
