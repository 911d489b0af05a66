// A scheduler with its classes, waiters and clock, for tests that read as a sequence of events.
#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <vector>

#include "base/time.hpp"
#include "config/config.hpp"
#include "dispatch/scheduler/scheduler.hpp"

namespace spillway::dispatch {

inline constexpr ClassId kP0{0}, kP1{1}, kP2{2};

struct Desk {
  config::Dispatch settings;
  std::vector<config::TrafficClass> classes{3};
  std::unique_ptr<Scheduler> scheduler;
  std::deque<Waiter> waiters;
  TimePoint now = TimePoint{} + std::chrono::hours(1);
  Offer last;

  // 8:3:1, the default queues and longest waits, fixed weights.
  explicit Desk(std::uint32_t concurrency = 1) {
    using std::chrono::milliseconds;
    settings.concurrency = concurrency;
    settings.dynamic_weights = false;
    settings.evict = {kP2, kP1};
    classes[0].weight = 8;
    classes[1].weight = 3;
    classes[2].weight = 1;
    classes[0].max_queue = 512;
    classes[1].max_queue = 256;
    classes[2].max_queue = 128;
  }

  // Built at first use, so that a test can change settings and classes before.
  Scheduler& operator*() {
    if (!scheduler) scheduler = std::make_unique<Scheduler>(settings, classes);
    return *scheduler;
  }
  Scheduler* operator->() { return &**this; }

  Waiter& arrive(ClassId id, Terms terms = {}) {
    terms.traffic_class = id;
    Waiter& waiter = waiters.emplace_back();
    last = (**this).offer(waiter, terms, now);
    return waiter;
  }

  void pass(Duration d) { now += d; }

  Waiter* release(ClassId id, Duration held = std::chrono::milliseconds(10)) {
    return (**this).release(id, held, now);
  }

  // Twenty slots given back by `id` after `held`: from now on there are predictions.
  void teach(Duration held, ClassId id) {
    for (int i = 0; i < 20; ++i) {
      arrive(id);
      release(id, held);
    }
  }
};

}  // namespace spillway::dispatch
