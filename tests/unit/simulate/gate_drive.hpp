// The gate and the decisions alone, asked by the clients of a scenario: what they refuse and
// predict, and which slots are free meanwhile. A recording does not tell.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <queue>
#include <vector>

#include "simulate/model/proxy_model.hpp"
#include "simulate/model/traffic_source.hpp"
#include "simulate/scenario/scenario.hpp"

namespace spillway::simulate {

struct GateRun {
  std::uint64_t refused = 0;
  std::uint64_t refused_beside_free_slot = 0;
  double predicted_seconds = 0, waited_seconds = 0;  // of requests with a prediction
  // Of the slots in those tenths of a second in which a request was refused.
  double idle_share_while_refusing = 0;
  std::vector<std::uint64_t> offered, started;  // by class
  std::vector<std::vector<double>> waits;       // seconds, of those started, by class

  double success(std::size_t c) const { return double(started[c]) / double(offered[c]); }
  // Of the waits of class c, zeros included.
  double wait_quantile(std::size_t c, double part) const {
    std::vector<double> all = waits[c];
    if (all.empty()) return 0;
    const auto at = static_cast<std::ptrdiff_t>(part * double(all.size() - 1));
    std::nth_element(all.begin(), all.begin() + at, all.end());
    return all[static_cast<std::size_t>(at)];
  }
};

class GateDrive {
 public:
  explicit GateDrive(const Scenario& scenario)
      : scenario_(scenario),
        slots_(scenario.config.upstreams[index(scenario.upstream)].dispatch.concurrency),
        proxy_(scenario_) {
    result_.offered.resize(scenario.config.classes.size());
    result_.started.resize(scenario.config.classes.size());
    result_.waits.resize(scenario.config.classes.size());
    for (std::uint32_t i = 0; i < scenario.clients.size(); ++i) {
      sources_.emplace_back(scenario_, i);
      schedule_arrival(i);
    }
  }

  // All but the idle share is of the whole run; that leaves out the warm-up.
  GateRun run() {
    const TimePoint end = kBegin + std::chrono::seconds(scenario_.seconds);
    for (TimePoint now = kBegin; now < end; now += kTimer) {
      while (!events_.empty() && events_.top().at <= now) {
        const Event event = events_.top();
        events_.pop();
        event.arrives ? arrive(*event.request, event.at) : complete(*event.request, event.at);
      }
      while (Request* late = proxy_.expire(now)) proxy_.expired(*late, now);
      start_waiting(now);
      proxy_.sweep(now);
      if ((now - kBegin) % kPeriod != Duration{0}) continue;
      proxy_.tick(now, {});
      end_period(now);
    }
    if (seconds_refusing_ > 0)
      result_.idle_share_while_refusing = idle_refusing_ / (seconds_refusing_ * slots_);
    return result_;
  }

 private:
  static constexpr TimePoint kBegin = TimePoint{} + std::chrono::hours(1);
  static constexpr Milliseconds kTimer{10};
  static constexpr Milliseconds kPeriod{100};

  struct Event {
    TimePoint at;
    bool arrives;
    Request* request;

    bool operator>(const Event& other) const { return at > other.at; }
  };

  void schedule_arrival(std::uint32_t clients) {
    const auto arrival = sources_[clients].next();
    if (!arrival) return;
    Request& request = pool_.acquire();
    request.demand.clients = clients;
    request.traffic_class = class_of(scenario_, scenario_.clients[clients]);
    request.work = arrival->work;
    events_.push({kBegin + from_seconds(arrival->at), true, &request});
  }

  void arrive(Request& request, TimePoint now) {
    schedule_arrival(request.demand.clients);
    ++result_.offered[index(request.traffic_class)];
    const ProxyModel::Admission admission = proxy_.arrive(request, now);
    if (admission.evicted != nullptr) proxy_.expired(*admission.evicted, now);
    if (admission.entry == ProxyModel::Entry::start) start(request, now);
    if (admission.entry != ProxyModel::Entry::refused) return;
    refused_in_period_ = true;
    ++result_.refused;
    if (running_ < slots_) ++result_.refused_beside_free_slot;
  }

  void start(Request& request, TimePoint now) {
    proxy_.start(request, now);
    set_running(running_ + 1, now);
    ++result_.started[index(request.traffic_class)];
    result_.waits[index(request.traffic_class)].push_back(to_seconds(request.waited));
    if (request.predicted_wait) {
      result_.predicted_seconds += to_seconds(*request.predicted_wait);
      result_.waited_seconds += to_seconds(request.waited);
    }
    events_.push({now + from_seconds(request.work), false, &request});
  }

  void start_waiting(TimePoint now) {
    while (Request* next = proxy_.next(now)) start(*next, now);
  }

  void complete(Request& request, TimePoint now) {
    set_running(running_ - 1, now);
    proxy_.answered(request, now);
    proxy_.end(request, now);
    start_waiting(now);
  }

  void set_running(std::uint32_t running, TimePoint now) {
    idle_ += (slots_ - std::min(running_, slots_)) * to_seconds(now - changed_);
    running_ = running;
    changed_ = now;
  }

  void end_period(TimePoint now) {
    set_running(running_, now);
    if (refused_in_period_ && now - kBegin > std::chrono::seconds(scenario_.warm_up_seconds)) {
      idle_refusing_ += idle_;
      seconds_refusing_ += to_seconds(kPeriod);
    }
    idle_ = 0;
    refused_in_period_ = false;
  }

  Scenario scenario_;
  std::uint32_t slots_;
  ProxyModel proxy_;
  std::vector<TrafficSource> sources_;
  RequestPool pool_;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  std::uint32_t running_ = 0;
  double idle_ = 0, idle_refusing_ = 0, seconds_refusing_ = 0;  // idle: slot seconds
  bool refused_in_period_ = false;
  TimePoint changed_ = kBegin;
  GateRun result_;
};

}  // namespace spillway::simulate
