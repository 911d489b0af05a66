// Workers that are asked for more than they can do, on a virtual clock: their sets of events, their
// measures of lag, the controller and the verdicts are the proxy's own. The CPU time of a request,
// the upstream and the clients are modelled; each worker has a core of its own.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
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
#include "proxy/worker/next_worker.hpp"
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
  using Plan = std::shared_ptr<const overload::AdmissionPlan>;

  // What a worker can do in a second.
  static constexpr Duration kForwarded = std::chrono::microseconds{250};
  static constexpr double kCapacity = 1e6 / 250;
  // Part of that time that a refusal takes: bench/cost.
  static constexpr double kRefusal = 0.45;
  static constexpr Milliseconds kTimeout{1000};
  static constexpr Milliseconds kBegin{3'600'000};  // by its clock
  static constexpr std::array<double, 3> kMix{0.1, 0.3, 0.6};

  // `sees_unread`: the lag includes the wait of requests that have not begun.
  BusyWorker(bool sees_unread, std::uint64_t seed, overload::Budgets& budgets)
      : sees_unread_(sees_unread), budgets_(budgets), random_(seed) {}

  // Requests that come whatever the worker does, `times` what it can do, each on a connection of
  // its own while there is one left.
  void open_loop(double times, std::size_t connections = 6000) {
    grow(connections);
    mean_gap_ = times > 0 ? 1 / (times * kCapacity) : 0;
    next_arrival_ = now_;
    counts_from_ = now_ + kWarmUp;
  }
  // Clients that each ask again when they are answered, after `think`.
  void closed_loop(std::size_t clients, Duration think) {
    counts_from_ = now_ + kWarmUp;
    for (std::size_t n = 0; n < clients; ++n) connect(think);
  }
  // One more of them.
  void connect(Duration think) {
    const std::size_t n = connections_.size();
    grow(n + 1);
    free_.pop_back();
    connections_[n].traffic_class = pick_class();
    connections_[n].think = std::max<Duration>(think, kNetwork);
    asks_.push({now_ + from_seconds(to_seconds(think) * random_.uniform()), n});
  }
  void run_until(TimePoint end);

  Plan plan;
  std::array<SeenOfClass, 3> seen;
  TimePoint now() const { return now_; }
  Duration lag() const { return published_; }
  double use() const { return use_.value(); }
  Duration longest_wait{0};  // of a request that was begun

 private:
  struct Connection {
    std::unique_ptr<Bell> bell;
    std::size_t traffic_class = 0;
    TimePoint asked{};
    Duration think{0};  // before it asks again; 0: another client has it then
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
        *plan, budgets_,
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
    if (one.think > Duration{0}) {
      asks_.push({now_ + one.think, n});
    } else {
      free_.push_back(n);
    }
  }

  void on_timer() {
    lag_.record(now_ - timer_due_, sees_unread_ ? set_.oldest_wait(now_) : Duration{0}, now_);
    use_.record(worked_, now_);
    published_ = lag_.value(now_).value_or(Duration{0});
    if (now_ - timer_due_ > overload::LoopLag::kPeriod) timer_due_ = now_;
    timer_due_ += overload::LoopLag::kPeriod;
  }

  static constexpr Milliseconds kUpstream{5};
  static constexpr std::chrono::microseconds kNetwork{100};
  static constexpr Milliseconds kWarmUp{5000};

  boost::asio::io_context io_{1};
  ReadinessSet set_{io_.get_executor()};
  bool sees_unread_;
  overload::Budgets& budgets_;
  Random random_;
  overload::LoopLag lag_;
  overload::LoopUse use_;
  std::vector<Connection> connections_;
  std::deque<std::size_t> free_;
  Dues asks_, responses_;
  double mean_gap_ = 0;  // seconds
  TimePoint now_ = TimePoint{} + kBegin;
  TimePoint next_arrival_{}, counts_from_{};
  TimePoint timer_due_ = now_;
  Duration worked_{0}, published_{0};
};

inline void BusyWorker::run_until(TimePoint end) {
  for (;;) {
    arrive();
    if (now_ >= timer_due_) on_timer();
    if (now_ >= end) return;
    const TimePoint before = now_;
    set_.deliver_events(
        0, [this] { return now_; },
        [](Watcher& watcher, std::uint32_t events) { watcher.on_events(events); });
    if (now_ > before) continue;
    now_ = std::min(timer_due_, end);
    if (mean_gap_ > 0) now_ = std::min(now_, next_arrival_);
    if (!asks_.empty()) now_ = std::min(now_, asks_.top().at);
    if (!responses_.empty()) now_ = std::min(now_, responses_.top().at);
    now_ = std::max(now_, before);
  }
}

// Where requests are refused for lag.
enum class Refuses : std::uint8_t {
  where_it_lags,  // as the proxy does
  everywhere,     // as it did
};

// Which worker gets a new client.
enum class Accepts : std::uint8_t {
  where_it_keeps_up,  // as the proxy does
  by_number,          // as it did
};

// Several of them before one upstream.
class BusyWorkers {
 public:
  struct Settings {
    bool sees_unread = true;
    Refuses refuses = Refuses::where_it_lags;
    Accepts accepts = Accepts::where_it_keeps_up;
    config::Config config = configuration();
  };

  BusyWorkers(std::size_t workers, std::uint64_t seed) : BusyWorkers(workers, seed, Settings()) {}
  BusyWorkers(std::size_t workers, std::uint64_t seed, const Settings& settings)
      : config_(settings.config), refuses_(settings.refuses), accepts_(settings.accepts) {
    for (std::size_t n = 0; n < workers; ++n)
      workers_.push_back(
          std::make_unique<BusyWorker>(settings.sees_unread, seed + 100 * n, budgets_));
    publish();
  }

  static config::Config configuration() {
    config::Config config = config::defaults(3);
    config.upstreams.resize(1);
    config.upstreams[0].overload.rules = config.overload.rules;
    return config;
  }

  BusyWorker& operator[](std::size_t n) { return *workers_[n]; }
  // One more client with a connection of its own, see BusyWorker::connect().
  void connect(Duration think) {
    std::vector<WorkerLoad> loads;
    for (std::size_t n = 0; n < workers_.size(); ++n) {
      const bool sees_lag = accepts_ == Accepts::where_it_keeps_up;
      loads.push_back({clients_[n], sees_lag ? workers_[n]->lag() : Duration{0}});
    }
    const std::size_t next = next_worker(loads);
    ++clients_[next];
    workers_[next]->connect(think);
  }
  std::uint32_t clients_of(std::size_t n) const { return clients_[n]; }
  // With the loads that they were given.
  void run(Duration time) {
    for (const TimePoint end = tick_due_ + time; tick_due_ < end;) {
      TimePoint now{};
      for (const auto& worker : workers_) {
        worker->run_until(tick_due_);
        now = std::max(now, worker->now());
      }
      tick(now);
    }
  }

  std::vector<TimePoint> changes;  // of the state
  State state() const { return controller_.state(); }

 private:
  void tick(TimePoint now) {
    lags_.clear();
    double worst = 0, use = 0;
    for (const auto& worker : workers_) {
      lags_.push_back(to_seconds(worker->lag()));
      if (lags_.back() >= worst) use = worker->use();
      worst = std::max(worst, lags_.back());
    }
    const overload::Tick tick = controller_.tick(
        {.event_loop_lag = worst, .event_loop_lags = lags_, .event_loop_use = use}, now);
    if (tick.transition) changes.push_back(now);
    if (tick.plan) publish();
    tick_due_ = now + config_.upstreams[0].overload.tick;
  }
  void publish() {
    for (std::size_t n = 0; n < workers_.size(); ++n) {
      const bool is_everywhere = refuses_ == Refuses::everywhere;
      workers_[n]->plan = is_everywhere ? controller_.plan() : controller_.plan_of(n);
    }
  }

  config::Config config_;
  Refuses refuses_;
  Accepts accepts_;
  overload::Controller controller_{config_, config_.upstreams[0]};
  overload::Budgets budgets_{config_, config_.upstreams[0]};
  std::vector<std::unique_ptr<BusyWorker>> workers_;
  std::vector<std::uint32_t> clients_ = std::vector<std::uint32_t>(16);  // by worker
  std::vector<double> lags_;
  TimePoint tick_due_ = TimePoint{} + BusyWorker::kBegin;
};

}  // namespace spillway::proxy
