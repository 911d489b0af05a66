// A worker that is asked for more than it can do, on a virtual clock: its set of events, its
// measure of lag, the controller and the verdicts are the proxy's own. The CPU time of a request,
// the upstream and the clients are modelled.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <queue>
#include <vector>

#include "base/random.hpp"
#include "base/time.hpp"
#include "config/config.hpp"
#include "config/defaults.hpp"
#include "overload/admission/budgets.hpp"
#include "overload/admission/decide.hpp"
#include "overload/control/controller.hpp"
#include "overload/signals/lag.hpp"
#include "proxy/net/readiness_set.hpp"
#include "unit/proxy/net/bell.hpp"

namespace spillway::proxy {

// What was seen of a class, but for the first five seconds of each load.
struct SeenOfClass {
  std::size_t asked = 0;
  std::size_t answered = 0;  // in time
  std::size_t refused = 0;
  std::vector<Duration> times;  // of those that were answered

  double success() const { return asked == 0 ? 1 : double(answered) / double(asked); }
  Duration p99() {
    if (times.empty()) return Duration{0};
    const auto rank = times.begin() + static_cast<std::ptrdiff_t>((times.size() - 1) * 99 / 100);
    std::nth_element(times.begin(), rank, times.end());
    return *rank;
  }
};

class BusyWorker {
 public:
  // What a worker can do in a second.
  static constexpr Duration kForwarded = std::chrono::microseconds{250};
  static constexpr double kCapacity = 1e6 / 250;
  // Part of that time that a refusal takes: bench/cost.
  static constexpr double kRefusal = 0.45;
  static constexpr Milliseconds kTimeout{1000};
  static constexpr std::array<double, 3> kMix{0.1, 0.3, 0.6};

  // `sees_unread`: the lag includes the wait of requests that have not begun.
  BusyWorker(bool sees_unread, std::uint64_t seed, const config::Config& config = configuration())
      : sees_unread_(sees_unread),
        config_(config),
        controller_(config_, config_.upstreams[0]),
        budgets_(config_, config_.upstreams[0]),
        random_(seed) {}

  static config::Config configuration() {
    config::Config config = config::defaults(3);
    config.upstreams.resize(1);
    config.upstreams[0].overload.rules = config.overload.rules;
    return config;
  }

  // Requests that come whatever the worker does, `times` what it can do, each on a connection of
  // its own while there is one left.
  void open_loop(double times, Duration time, std::size_t connections = 6000) {
    grow(connections);
    mean_gap_ = 1 / (times * kCapacity);
    next_arrival_ = now_;
    run(time);
    mean_gap_ = 0;
  }
  // Each connection asks again when it is answered, after `think`.
  void closed_loop(std::size_t connections, Duration think, Duration time) {
    grow(connections);
    think_ = think;
    for (std::size_t n = 0; n < connections; ++n) {
      connections_[n].traffic_class = pick_class();
      asks_.push({now_ + from_seconds(to_seconds(think_) * random_.uniform()), n});
    }
    free_.clear();
    is_closed_ = true;
    run(time);
  }

  std::array<SeenOfClass, 3> seen;
  std::vector<TimePoint> changes;  // of the state
  State state() const { return controller_.state(); }
  Duration lag() const { return published_; }
  Duration longest_wait{0};  // of a request that was begun

 private:
  struct Connection {
    std::unique_ptr<Bell> bell;
    std::size_t traffic_class = 0;
    TimePoint asked{};
  };
  struct Due {
    TimePoint at;
    std::size_t connection;
    bool operator>(const Due& other) const { return at > other.at; }
  };
  using Dues = std::priority_queue<Due, std::vector<Due>, std::greater<>>;

  void grow(std::size_t connections) {
    while (connections_.size() < connections) {
      const std::size_t n = connections_.size();
      Connection& one = connections_.emplace_back();
      one.bell = std::make_unique<Bell>([this, n] { on_event(n); });
      REQUIRE(set_.add(one.bell->descriptor(), EPOLLIN, *one.bell));
      free_.push_back(n);
    }
  }

  std::size_t pick_class() {
    const double draw = random_.uniform();
    return draw < kMix[0] ? 0 : draw < kMix[0] + kMix[1] ? 1 : 2;
  }

  void ask(std::size_t n, TimePoint at) {
    Connection& one = connections_[n];
    one.asked = at;
    one.bell->awaited = false;
    one.bell->ring();
  }

  void arrive() {
    while (mean_gap_ > 0 && next_arrival_ <= now_) {
      const std::size_t which = pick_class();
      if (free_.empty()) {
        if (next_arrival_ >= counts_from_) ++seen[which].asked;
      } else {
        const std::size_t n = free_.front();
        free_.pop_front();
        connections_[n].traffic_class = which;
        ask(n, next_arrival_);
      }
      next_arrival_ += from_seconds(-std::log(1 - random_.uniform()) * mean_gap_);
    }
    for (; !asks_.empty() && asks_.top().at <= now_; asks_.pop())
      ask(asks_.top().connection, asks_.top().at);
    for (; !responses_.empty() && responses_.top().at <= now_; responses_.pop())
      connections_[responses_.top().connection].bell->ring();
  }

  void work(double part) {
    const Duration time = std::chrono::duration_cast<Duration>(kForwarded * part);
    now_ += time;
    worked_ += time;
  }

  void on_event(std::size_t n) {
    Connection& one = connections_[n];
    if (one.bell->awaited) {
      one.bell->awaited = false;
      work(0.5);
      return answered(n, false);
    }
    longest_wait = std::max(longest_wait, now_ - one.asked);
    const overload::Verdict verdict = overload::decide(
        *controller_.plan(), budgets_,
        {RouteId{0}, ClassId(static_cast<std::uint8_t>(one.traffic_class)), TenantId{}}, now_,
        random_);
    if (verdict.kind == overload::Verdict::Kind::deny) {
      work(kRefusal);
      return answered(n, true);
    }
    work(0.5);
    one.bell->awaited = true;
    responses_.push({now_ + kUpstream, n});
  }

  void answered(std::size_t n, bool is_refused) {
    Connection& one = connections_[n];
    if (one.asked >= counts_from_) {
      SeenOfClass& its = seen[one.traffic_class];
      ++its.asked;
      its.refused += is_refused;
      if (!is_refused && now_ - one.asked <= kTimeout) ++its.answered;
      if (!is_refused) its.times.push_back(now_ - one.asked);
    }
    if (is_closed_) {
      asks_.push({now_ + std::max<Duration>(think_, kNetwork), n});
    } else {
      free_.push_back(n);
    }
  }

  void run(Duration time) {
    const TimePoint end = now_ + time;
    counts_from_ = now_ + kWarmUp;
    while (now_ < end) {
      arrive();
      if (now_ >= timer_due_) on_timer();
      if (now_ >= tick_due_) tick();
      const TimePoint before = now_;
      set_.deliver_events(
          0, [this] { return now_; },
          [](Watcher& watcher, std::uint32_t events) { watcher.on_events(events); });
      if (now_ > before) continue;
      now_ = std::min(timer_due_, tick_due_);
      if (mean_gap_ > 0) now_ = std::min(now_, next_arrival_);
      if (!asks_.empty()) now_ = std::min(now_, asks_.top().at);
      if (!responses_.empty()) now_ = std::min(now_, responses_.top().at);
      now_ = std::max(now_, before);
    }
  }

  void on_timer() {
    lag_.record(now_ - timer_due_, sees_unread_ ? set_.oldest_wait(now_) : Duration{0}, now_);
    use_.record(worked_, now_);
    published_ = lag_.value(now_).value_or(Duration{0});
    if (now_ - timer_due_ > overload::LoopLag::kPeriod) timer_due_ = now_;
    timer_due_ += overload::LoopLag::kPeriod;
  }

  void tick() {
    const overload::Tick tick = controller_.tick(
        {.event_loop_lag = to_seconds(published_), .event_loop_use = use_.value()}, now_);
    if (tick.transition) changes.push_back(now_);
    tick_due_ = now_ + config_.upstreams[0].overload.tick;
  }

  static constexpr Milliseconds kUpstream{5};
  static constexpr std::chrono::microseconds kNetwork{100};
  static constexpr Milliseconds kWarmUp{5000};

  boost::asio::io_context io_{1};
  ReadinessSet set_{io_.get_executor()};
  bool sees_unread_;
  config::Config config_;
  overload::Controller controller_;
  overload::Budgets budgets_;
  Random random_;
  overload::LoopLag lag_;
  overload::LoopUse use_;
  std::vector<Connection> connections_;
  std::deque<std::size_t> free_;
  Dues asks_, responses_;
  double mean_gap_ = 0;  // seconds
  bool is_closed_ = false;
  Duration think_{0};
  TimePoint now_ = TimePoint{} + Milliseconds{3'600'000};
  TimePoint next_arrival_{}, counts_from_{};
  TimePoint timer_due_ = now_, tick_due_ = now_;
  Duration worked_{0}, published_{0};
};

}  // namespace spillway::proxy
