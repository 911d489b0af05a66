// A slow and obvious scheduler that keeps plain vectors, to compare the real one with.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/time.hpp"
#include "config/config.hpp"

namespace spillway::dispatch {

inline constexpr std::size_t kClasses = 4;

struct Model {
  struct Waiting {
    int waiter_id;
    TimePoint expires_at;
    TimePoint arrived, deadline;
    double cost;
    std::int64_t filed = 0;  // in the order of expires_at in steps of 10 ms, then of this
    std::size_t lane = 0;
  };
  struct Lane {
    double weight = 1, min_share = 0;
    std::uint32_t capacity = 0, reserved = 0, cap = 0, running = 0;
    double tag = 0, credit = 0, deficit = 0;
    double balance = 0;  // of its guaranteed share
    std::vector<Waiting> queue;
  };

  using Ready = std::vector<std::size_t>;  // ascending

  config::Discipline discipline = config::Discipline::wfq;
  std::uint32_t concurrency = 0;
  std::vector<std::size_t> evict;
  std::array<Lane, kClasses> lanes;
  double virtual_now = 0;               // wfq
  std::size_t position = kClasses - 1;  // rr: served last; drr: visited
  std::vector<Waiting> due;
  std::int64_t filings = 0;
  int guaranteed_turns = 0;

  std::uint32_t running() const {
    std::uint32_t sum = 0;
    for (const Lane& lane : lanes) sum += lane.running;
    return sum;
  }
  std::size_t queued() const {
    std::size_t sum = 0;
    for (const Lane& lane : lanes) sum += lane.queue.size();
    return sum;
  }
  bool may_start(std::size_t i) const {
    std::uint32_t kept = 0;
    for (std::size_t j = 0; j < kClasses; ++j)
      if (j != i && lanes[j].running < lanes[j].reserved)
        kept += lanes[j].reserved - lanes[j].running;
    return running() + kept < concurrency && lanes[i].running < lanes[i].cap;
  }
  bool has_place(std::size_t i) const {
    if (lanes[i].queue.size() >= lanes[i].capacity) return false;
    for (std::size_t top = 0; top <= i; ++top) {
      std::size_t waiting = 0, capacity = 0;
      for (std::size_t j = top; j < kClasses; ++j) {
        waiting += lanes[j].queue.size();
        capacity += lanes[j].capacity;
      }
      if (waiting >= capacity) return false;
    }
    return true;
  }
  // The waiter evicted for class i; -1: none.
  int evict_for(std::size_t i) {
    for (const std::size_t lower : evict) {
      if (lower <= i || lanes[lower].queue.empty()) continue;
      const int waiter_id = lanes[lower].queue.back().waiter_id;
      lanes[lower].queue.pop_back();
      return waiter_id;
    }
    return -1;
  }
  // The first of `ready` for which `score` is greatest.
  template <class Score>
  static std::size_t best(const Ready& ready, Score score) {
    return *std::max_element(ready.begin(), ready.end(),
                             [&](std::size_t a, std::size_t b) { return score(a) < score(b); });
  }
  double sum_of_weights(const Ready& ready) const {
    double sum = 0;
    for (const std::size_t i : ready) sum += lanes[i].weight;
    return sum;
  }
  static bool among(const Ready& ready, std::size_t i) {
    return std::find(ready.begin(), ready.end(), i) != ready.end();
  }
  std::size_t next_in_deficit_rounds(const Ready& ready, TimePoint now) {
    for (const std::size_t i : ready)
      if (lanes[i].queue.front().expires_at <= now) return i;
    const auto covered = [&](std::size_t i) {
      return among(ready, i) && lanes[i].deficit >= lanes[i].queue.front().cost;
    };
    while (!covered(position)) {
      position = (position + 1) % kClasses;
      if (among(ready, position)) lanes[position].deficit += lanes[position].weight / 8;
    }
    return position;
  }

  std::size_t choose(const Ready& ready, TimePoint now) {
    switch (discipline) {
      case config::Discipline::pq: return ready.front();
      case config::Discipline::rr:
        for (std::size_t i = position + 1;; ++i)
          if (among(ready, i % kClasses)) return i % kClasses;
      case config::Discipline::wrr: {
        // In steps, that rounding decides nothing.
        const double sum = sum_of_weights(ready);
        return best(ready, [&](std::size_t i) {
          return std::round((lanes[i].credit + lanes[i].weight / sum) * 1e6);
        });
      }
      case config::Discipline::drr: return next_in_deficit_rounds(ready, now);
      case config::Discipline::wfq:
        return best(ready, [&](std::size_t i) { return -std::max(lanes[i].tag, virtual_now); });
      case config::Discipline::aging:
        return best(ready, [&](std::size_t i) {
          const Duration waited = now - lanes[i].queue.front().arrived;
          return std::log2(lanes[i].weight) + std::log2(1 + to_seconds(waited) / 0.05);
        });
      case config::Discipline::edf: break;
    }
    return best(ready, [&](std::size_t i) {
      return -to_seconds(lanes[i].queue.front().deadline.time_since_epoch());
    });
  }
  // In the cost that the discipline shares.
  double shared_cost(double cost) const { return discipline == config::Discipline::drr ? cost : 1; }
  // How many turns of others ago the turn of class i was due; negative: not yet.
  double overdue(std::size_t i) const {
    const Lane& lane = lanes[i];
    if (lane.min_share == 0) return -1;
    const double cost = shared_cost(lane.queue.front().cost);
    const double after = lane.balance + lane.min_share * cost - cost;
    return std::round(after / lane.min_share * 1e6) / 1e6;  // so that rounding decides nothing
  }
  // The class whose guaranteed turn it is; kClasses: none.
  std::size_t guaranteed(const Ready& ready) const {
    const std::size_t first = best(ready, [&](std::size_t i) { return overdue(i); });
    return overdue(first) >= 0 ? first : kClasses;
  }
  void account(const Ready& ready, std::size_t own, double cost) {
    if (ready.size() == 1) return;
    for (const std::size_t i : ready) {
      double& balance = lanes[i].balance;
      const double change = lanes[i].min_share * cost - (i == own ? cost : 0);
      const double bound = i == own                  ? -cost
                           : lanes[i].min_share == 0 ? 0
                                                     : 2 * shared_cost(lanes[i].queue.front().cost);
      if (i == own)
        balance = std::max(balance + change, std::min(balance, bound));
      else
        balance = std::min(balance + change, std::max(balance, bound));
    }
  }
  void charge(const Ready& ready, std::size_t i, double cost) {
    Lane& lane = lanes[i];
    const double sum = sum_of_weights(ready);
    for (const std::size_t j : ready) lanes[j].credit += lanes[j].weight / sum;
    lane.credit -= 1;
    virtual_now = std::max(virtual_now, lane.tag);
    lane.tag = virtual_now + 1 / lane.weight;
    lane.deficit = lane.queue.empty() ? 0 : lane.deficit - cost;
    if (discipline == config::Discipline::rr) position = i;
  }
  // The next waiter to start; -1: none.
  int next(TimePoint now) {
    while (true) {
      Ready ready;
      for (std::size_t i = 0; i < kClasses; ++i)
        if (!lanes[i].queue.empty() && may_start(i)) ready.push_back(i);
      if (ready.empty()) return -1;
      const std::size_t owed = guaranteed(ready);
      const std::size_t i = owed < kClasses ? owed : choose(ready, now);
      const Waiting head = lanes[i].queue.front();
      lanes[i].queue.erase(lanes[i].queue.begin());
      if (head.expires_at <= now) {
        due.push_back(head);
        continue;
      }
      if (owed == kClasses)
        charge(ready, i, head.cost);
      else
        ++guaranteed_turns;
      account(ready, i, shared_cost(head.cost));
      ++lanes[i].running;
      return head.waiter_id;
    }
  }
  void enqueue(std::size_t i, Waiting waiting) {
    waiting.filed = filings++;
    waiting.lane = i;
    lanes[i].queue.push_back(waiting);
  }
  bool remove(int waiter_id) {
    const auto is_it = [&](const Waiting& w) { return w.waiter_id == waiter_id; };
    if (std::erase_if(due, is_it) > 0) return true;
    for (Lane& lane : lanes)
      if (std::erase_if(lane.queue, is_it) > 0) return true;
    return false;
  }
  // In the order in which they expire; they remain in their queues.
  std::vector<Waiting> expired(TimePoint now) {
    std::vector<Waiting> late;
    for (const Lane& lane : lanes)
      for (const Waiting& w : lane.queue)
        if (w.expires_at <= now) late.push_back(w);
    std::sort(late.begin(), late.end(), [](const Waiting& a, const Waiting& b) {
      const auto step = [](const Waiting& w) {
        return w.expires_at.time_since_epoch() / std::chrono::milliseconds(10);
      };
      return std::pair(step(a), a.filed) < std::pair(step(b), b.filed);
    });
    std::vector<Waiting> all = std::move(due);
    due.clear();
    all.insert(all.end(), late.begin(), late.end());
    return all;
  }
};

}  // namespace spillway::dispatch
