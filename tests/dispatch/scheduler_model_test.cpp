// A million random operations against a slow model that keeps plain vectors.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <memory>
#include <vector>

#include "base/random.hpp"
#include "dispatch/scheduler.hpp"

using namespace spillway;
using namespace spillway::dispatch;
using namespace std::chrono_literals;

namespace {

constexpr std::size_t kClasses = 4;

struct Model {
  struct Waiting {
    int who;
    TimePoint answer_by;
  };
  struct Lane {
    double weight = 1;
    std::uint32_t places = 0, reserved = 0, cap = 0, running = 0;
    double tag = 0;
    std::vector<Waiting> queue;
  };

  std::uint32_t concurrency = 0;
  std::vector<std::size_t> evict;
  std::array<Lane, kClasses> lanes;
  double virtual_now = 0;
  std::vector<int> due;

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
    if (lanes[i].queue.size() >= lanes[i].places) return false;
    for (std::size_t top = 0; top <= i; ++top) {
      std::size_t waiting = 0, places = 0;
      for (std::size_t j = top; j < kClasses; ++j) {
        waiting += lanes[j].queue.size();
        places += lanes[j].places;
      }
      if (waiting >= places) return false;
    }
    return true;
  }
  // Who gives up a place for class i; -1: nobody.
  int evict_for(std::size_t i) {
    for (const std::size_t lower : evict) {
      if (lower <= i || lanes[lower].queue.empty()) continue;
      const int who = lanes[lower].queue.back().who;
      lanes[lower].queue.pop_back();
      return who;
    }
    return -1;
  }
  // Who starts next; -1: nobody.
  int next(TimePoint now) {
    while (true) {
      int best = -1;
      for (std::size_t i = 0; i < kClasses; ++i) {
        if (lanes[i].queue.empty() || !may_start(i)) continue;
        if (best < 0 || std::max(lanes[i].tag, virtual_now) <
                            std::max(lanes[static_cast<std::size_t>(best)].tag, virtual_now))
          best = static_cast<int>(i);
      }
      if (best < 0) return -1;
      Lane& lane = lanes[static_cast<std::size_t>(best)];
      const Waiting head = lane.queue.front();
      lane.queue.erase(lane.queue.begin());
      if (head.answer_by <= now) {
        due.push_back(head.who);
        continue;
      }
      virtual_now = std::max(virtual_now, lane.tag);
      lane.tag = virtual_now + 1 / lane.weight;
      ++lane.running;
      return head.who;
    }
  }
  bool remove(int who) {
    if (std::erase(due, who) > 0) return true;
    for (Lane& lane : lanes)
      if (std::erase_if(lane.queue, [&](const Waiting& w) { return w.who == who; }) > 0)
        return true;
    return false;
  }
  std::vector<int> expire(TimePoint now) {
    std::vector<int> expired = std::move(due);
    due.clear();
    for (Lane& lane : lanes)
      std::erase_if(lane.queue, [&](const Waiting& w) {
        if (w.answer_by > now) return false;
        expired.push_back(w.who);
        return true;
      });
    std::sort(expired.begin(), expired.end());
    return expired;
  }
};

// Both, side by side, and what holds at any time.
class Pair {
 public:
  explicit Pair(std::uint64_t seed) : random_(seed), waiters_(40) {
    config::Dispatch settings;
    settings.concurrency = 7;
    settings.dynamic_weights = false;
    settings.evict = {ClassId{3}, ClassId{1}};
    std::vector<config::TrafficClass> classes(kClasses);
    const std::array<double, kClasses> weights{8, 3, 2, 1};
    const std::array<std::uint32_t, kClasses> places{5, 4, 3, 6}, reserved{1, 0, 2, 0},
        caps{7, 4, 7, 3};
    model_.concurrency = settings.concurrency;
    model_.evict = {3, 1};
    for (std::size_t i = 0; i < kClasses; ++i) {
      classes[i].weight = model_.lanes[i].weight = weights[i];
      classes[i].max_queue = model_.lanes[i].places = places[i];
      classes[i].reserved = model_.lanes[i].reserved = reserved[i];
      classes[i].max_inflight = model_.lanes[i].cap = caps[i];
    }
    scheduler_ = std::make_unique<Scheduler>(settings, classes);
  }

  void step() {
    now_ += from_seconds(random_.uniform() * 0.002);
    const int who = static_cast<int>(random_.next() % waiters_.size());
    switch (waiters_[static_cast<std::size_t>(who)].state) {
      case Waiter::State::granted: release(who); break;
      case Waiter::State::queued:
        if (random_.next() % 8 == 0) cancel(who);
        break;
      default: offer(who);
    }
    if (random_.next() % 20 == 0) expire();
    check();
  }

  int refusals(Reason reason) const { return refusals_[index(reason)]; }
  int evictions = 0, expiries = 0, grants = 0, cancellations = 0;

 private:
  Waiter& waiter(int who) { return waiters_[static_cast<std::size_t>(who)]; }
  int who(const Waiter& w) const { return static_cast<int>(&w - waiters_.data()); }

  void offer(int newcomer) {
    const std::size_t i = random_.next() % kClasses;
    Terms terms{.traffic_class = static_cast<ClassId>(i),
                .deadline = now_ + from_seconds(random_.uniform() * 0.2 - 0.005),
                .max_wait = from_seconds(random_.uniform() * 0.2),
                .short_wait_reason = Reason::inflight_saturation};
    if (random_.next() % 4 == 0) terms.short_wait = 20ms;
    const auto predicted = scheduler_->predicted_wait(terms.traffic_class, now_);
    Model::Lane& lane = model_.lanes[i];
    const bool behind = !lane.queue.empty();
    const Duration patience = std::min(terms.max_wait, terms.deadline - now_);
    Offer expected;
    int evicted = -1;
    if (terms.deadline <= now_)
      expected.reason = Reason::deadline_expired;
    else if (!behind && model_.may_start(i))
      expected.kind = Offer::Kind::granted;
    else if (behind && predicted && *predicted > patience)
      expected.reason = Reason::queue_wait_risk;
    else if (behind && predicted && terms.short_wait && *predicted > *terms.short_wait)
      expected.reason = Reason::inflight_saturation;
    else if (!model_.has_place(i) && (evicted = model_.evict_for(i)) < 0)
      expected.reason = Reason::queue_full;
    else
      expected.kind = Offer::Kind::queued;

    const Offer offer = scheduler_->offer(waiter(newcomer), terms, now_);
    REQUIRE(offer.kind == expected.kind);
    REQUIRE(offer.reason == expected.reason);
    REQUIRE((offer.evicted == nullptr ? -1 : who(*offer.evicted)) == evicted);
    if (offer.kind == Offer::Kind::granted) ++lane.running, ++grants;
    if (offer.kind == Offer::Kind::queued) lane.queue.push_back({newcomer, now_ + patience});
    if (offer.kind == Offer::Kind::refused) ++refusals_[index(offer.reason)];
    evictions += evicted >= 0 ? 1 : 0;
  }

  void release(int done) {
    const ClassId id = waiter(done).traffic_class;
    waiter(done).state = Waiter::State::idle;
    --model_.lanes[index(id)].running;
    Waiter* next = scheduler_->release(id, from_seconds(random_.uniform() * 0.04), now_);
    while (true) {
      const int expected = model_.next(now_);
      REQUIRE((next == nullptr ? -1 : who(*next)) == expected);
      if (next == nullptr) return;
      REQUIRE(next->state == Waiter::State::granted);
      ++grants;
      next = scheduler_->next(now_);
    }
  }

  void cancel(int leaving) {
    REQUIRE(model_.remove(leaving));
    REQUIRE(scheduler_->cancel(waiter(leaving), now_));
    ++cancellations;
  }

  void expire() {
    const std::vector<int> expected = model_.expire(now_);
    std::vector<int> expired;
    while (Waiter* late = scheduler_->expire(now_)) {
      REQUIRE(late->state == Waiter::State::expired);
      expired.push_back(who(*late));
    }
    std::sort(expired.begin(), expired.end());
    REQUIRE(expired == expected);
    expiries += static_cast<int>(expired.size());
  }

  void check() {
    bool same = scheduler_->running() == model_.running() &&
                scheduler_->queued() == model_.queued() &&
                scheduler_->running() <= scheduler_->concurrency() && scheduler_->queued() <= 18;
    for (std::size_t i = 0; i < kClasses; ++i) {
      const auto id = static_cast<ClassId>(i);
      same = same && scheduler_->running(id) == model_.lanes[i].running &&
             scheduler_->queued(id) == model_.lanes[i].queue.size();
    }
    REQUIRE(same);
  }

  Random random_;
  Model model_;
  std::vector<Waiter> waiters_;
  std::unique_ptr<Scheduler> scheduler_;
  TimePoint now_ = TimePoint{} + 1h;
  std::array<int, kReasonCount> refusals_{};
};

}  // namespace

TEST_CASE("a million random operations agree with a slow model") {
  Pair pair(20);
  for (int i = 0; i < 1000000; ++i) pair.step();
  MESSAGE("grants ", pair.grants, ", evictions ", pair.evictions, ", expiries ", pair.expiries,
          ", cancellations ", pair.cancellations);
  CHECK(pair.grants > 100000);
  CHECK(pair.evictions > 1000);
  CHECK(pair.expiries > 1000);
  CHECK(pair.cancellations > 1000);
  for (const Reason reason : {Reason::deadline_expired, Reason::queue_wait_risk,
                              Reason::inflight_saturation, Reason::queue_full})
    CHECK(pair.refusals(reason) > 1000);
}
