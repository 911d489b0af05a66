// A scheduler in simulated time: requests arrive, hold a slot for their own time and are counted by
// outcome.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <deque>
#include <functional>
#include <queue>
#include <vector>

#include "base/random.hpp"
#include "unit/dispatch/desk.hpp"

namespace spillway::dispatch {

struct Arrival {
  Duration at{};
  ClassId traffic_class{};
  std::size_t kind = 0;  // by which it is counted
  Duration hold = std::chrono::milliseconds(10);
  Duration deadline = std::chrono::hours(1);  // after arrival
  Duration max_wait = Duration::max();
  double cost = 1;
};

// Poisson arrivals of one kind over `length`, all like `arrival` except for the time.
inline std::vector<Arrival> poisson(const Arrival& arrival, double per_second, Duration length,
                                    std::uint64_t seed) {
  Random random(seed);
  std::vector<Arrival> arrivals;
  double at = 0;
  while (true) {
    at -= std::log(1 - random.uniform()) / per_second;
    if (at >= to_seconds(length)) return arrivals;
    arrivals.push_back(arrival);
    arrivals.back().at = from_seconds(at);
  }
}

struct Outcome {
  std::uint64_t offered = 0, in_time = 0, late = 0, lost = 0;
  Duration longest_wait{0};
  // Of those that waited with a prediction.
  double waited = 0, predicted = 0, off = 0;  // sums, seconds; off: |predicted - waited|

  double success() const { return static_cast<double>(in_time) / static_cast<double>(offered); }
};

class Shift {
 public:
  explicit Shift(Desk& desk) : desk_(desk) {}

  // Until all are finished. Outcomes by kind.
  std::array<Outcome, 3> work(std::vector<Arrival> arrivals) {
    std::stable_sort(arrivals.begin(), arrivals.end(),
                     [](const Arrival& a, const Arrival& b) { return a.at < b.at; });
    const TimePoint start = desk_.now;
    for (const Arrival& arrival : arrivals) {
      advance(start + arrival.at);
      arrive(arrival);
    }
    while (!running_.empty()) advance(running_.top().at);
    collect_expired();
    return outcomes_;
  }

 private:
  struct Request : Waiter {
    Arrival arrival;
  };
  struct Completion {
    TimePoint at;
    ClassId traffic_class;
    Duration held;
    bool operator>(const Completion& other) const { return at > other.at; }
  };

  Outcome& outcome_of(const Waiter& w) {
    return outcomes_[static_cast<const Request&>(w).arrival.kind];
  }

  void arrive(const Arrival& arrival) {
    Request& request = requests_.emplace_back();
    request.arrival = arrival;
    ++outcome_of(request).offered;
    const Offer offer = desk_->offer(request,
                                     {.traffic_class = arrival.traffic_class,
                                      .deadline = desk_.now + arrival.deadline,
                                      .max_wait = arrival.max_wait,
                                      .cost = arrival.cost},
                                     desk_.now);
    if (offer.evicted != nullptr) ++outcome_of(*offer.evicted).lost;
    if (offer.kind == Offer::Kind::granted) start(request);
    if (offer.kind == Offer::Kind::refused) ++outcome_of(request).lost;
  }

  void start(Waiter& waiter) {
    Outcome& outcome = outcome_of(waiter);
    ++(waiter.late ? outcome.late : outcome.in_time);
    outcome.longest_wait = std::max(outcome.longest_wait, waiter.waited);
    if (waiter.waited > Duration{0} && waiter.predicted_wait) {
      const double waited = to_seconds(waiter.waited);
      const double predicted = to_seconds(*waiter.predicted_wait);
      outcome.waited += waited;
      outcome.predicted += predicted;
      outcome.off += std::abs(predicted - waited);
    }
    const Duration hold = static_cast<Request&>(waiter).arrival.hold;
    running_.push({desk_.now + hold, waiter.traffic_class, hold});
  }

  void collect_expired() {
    while (Waiter* expired = desk_->expire(desk_.now)) ++outcome_of(*expired).lost;
  }

  void advance(TimePoint until) {
    while (!running_.empty() && running_.top().at <= until) {
      const Completion done = running_.top();
      running_.pop();
      desk_.now = done.at;
      collect_expired();
      for (Waiter* next = desk_.release(done.traffic_class, done.held); next != nullptr;
           next = desk_->next(desk_.now))
        start(*next);
    }
    desk_.now = until;
    collect_expired();
  }

  Desk& desk_;
  std::deque<Request> requests_;
  std::priority_queue<Completion, std::vector<Completion>, std::greater<>> running_;
  std::array<Outcome, 3> outcomes_{};
};

}  // namespace spillway::dispatch
