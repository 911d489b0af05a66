// Class queues in front of one discipline, for tests of disciplines alone.
#pragma once

#include <array>
#include <cstddef>
#include <deque>
#include <memory>
#include <vector>

#include "base/time.hpp"
#include "config/config.hpp"
#include "dispatch/discipline/discipline.hpp"
#include "dispatch/queue/queues.hpp"

namespace spillway::dispatch {

// A discipline as the configuration makes it, for classes of these weights.
inline std::unique_ptr<Discipline> discipline(config::Discipline kind,
                                              const std::vector<double>& weights,
                                              Milliseconds half_life = Milliseconds(200)) {
  config::Dispatch settings;
  settings.discipline = kind;
  settings.aging_half_life = half_life;
  std::vector<config::TrafficClass> classes(weights.size());
  for (std::size_t i = 0; i < weights.size(); ++i) classes[i].weight = weights[i];
  return make_discipline(settings, classes);
}

struct Lines {
  Queues queues;
  std::deque<Waiter> waiters;
  TimePoint now = TimePoint{} + std::chrono::hours(1);

  Waiter& join(ClassId id, double cost = 1, TimePoint deadline = kNever) {
    Waiter& waiter = waiters.emplace_back();
    waiter.traffic_class = waiter.served_as = id;
    waiter.cost = cost;
    waiter.arrived = now;
    waiter.deadline = waiter.operators_deadline = deadline;
    queues.push(waiter);
    return waiter;
  }
  void fill(ClassId id, int count, double cost = 1) {
    for (int i = 0; i < count; ++i) join(id, cost);
  }

  // The one whose turn it is, out of its queue.
  Waiter& serve(Discipline& discipline) {
    Waiter& waiter = *queues.next(discipline.pick(queues.backlogged(), queues, now));
    queues.remove(waiter);
    queues.served(waiter);
    discipline.served(waiter, queues);
    return waiter;
  }

  // The same, and another of its class and cost joins: all classes stay backlogged.
  ClassId serve_and_refill(Discipline& discipline) {
    Waiter& waiter = serve(discipline);
    waiter.arrived = now;
    queues.push(waiter);
    return waiter.traffic_class;
  }
};

}  // namespace spillway::dispatch
