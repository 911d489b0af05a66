// Tenants under overload in a closed loop: arrivals, decisions, the shard and the tick, with and
// without fairness.
#include "overload/control/tenant_share.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <deque>
#include <memory>
#include <vector>

#include "base/random.hpp"
#include "overload/admission/decide.hpp"
#include "overload/control/fair_level.hpp"

using namespace spillway;
using namespace spillway::overload;
using namespace std::chrono_literals;
using config::Strategy;
using Kind = Verdict::Kind;

namespace {

constexpr ClassId kOnly{0};

struct Sent {
  double offered = 0, served = 0, refused_for_share = 0;
  double success() const { return offered == 0 ? 1 : served / offered; }
};

// One class, one route, one worker; a millisecond at a time.
class Loop {
 public:
  struct Setup {
    std::vector<double> rates;  // requests per second, by tenant
    double crowd = 0;           // and of tenants that are new with each request
    config::Rule rule{Strategy::deny, 0.5, 1s};
    Reason reason = Reason::tail_latency;
    double capacity = 0;  // requests per second; zero: unlimited
    bool fairness = true;
    std::uint32_t tracked = 128;
  };

  explicit Loop(const Setup& setup, Duration duration = 30s)
      : setup_(setup), config_(configured(setup)) {
    sent_.resize(setup.rates.size() + 1);
    publish();
    run(duration);
    MESSAGE("first tenant ", sent_.front().success(), ", last ",
            sent_[setup.rates.size() - 1].success(), ", crowd ", crowd().success(), ", all ",
            served_share(), ", Jain index ", jain_index());
  }

  const Sent& of(std::size_t tenant) const { return sent_[tenant]; }
  const Sent& crowd() const { return sent_.back(); }
  double served_share() const {
    double offered = 0, served = 0;
    for (const Sent& one : sent_) {
      offered += one.offered;
      served += one.served;
    }
    return served / offered;
  }
  // Fairness index of service / max-min fair service per tenant; 1 is fair (Jain, Chiu, Hawe,
  // 1984).
  double jain_index() const {
    std::vector<TenantDemand> demands;
    double total = 0;
    for (const Sent& one : sent_)
      if (one.offered > 0) demands.push_back({TenantId{}, one.offered, 0}), total += one.served;
    std::sort(demands.begin(), demands.end(),
              [](const auto& a, const auto& b) { return a.demand < b.demand; });
    const double level = water_level(demands, total);
    double sum = 0, squares = 0;
    for (const Sent& one : sent_) {
      if (one.offered == 0) continue;
      const double x = one.served / std::min(level, one.offered);
      sum += x;
      squares += x * x;
    }
    return sum * sum / (double(demands.size()) * squares);
  }
  const AdmissionPlan& plan() const { return *plan_; }

 private:
  static config::Config configured(const Setup& setup) {
    config::Config config;
    config.classes.resize(1);
    config.routes.resize(1);
    config.upstreams.resize(1);
    config.upstreams[0].overload.rules = {setup.rule};
    config.tenants.tracked = setup.tracked;
    return config;
  }

  // The first ten seconds are not counted.
  void run(Duration duration) {
    const TimePoint begin = now_;
    while (now_ < begin + duration + 10s) {
      counting_ = now_ >= begin + 10s;
      now_ += 1ms;
      for (std::size_t i = 0; i < setup_.rates.size(); ++i)
        arrive(TenantId{i}, sent_[i], setup_.rates[i]);
      arrive(TenantId{1000 + random_.next()}, sent_.back(), setup_.crowd);
      serve();
      if ((now_ - begin) % 50ms == 0ms) shard_.publish(now_);
      if ((now_ - begin) % 100ms == 0ms) publish();
    }
  }

  void arrive(TenantId tenant, Sent& sent, double rate) {
    if (random_.uniform() >= rate / 1000) return;
    shard_.record_offered(kOnly, tenant, 1);
    if (counting_) ++sent.offered;
    const Verdict verdict = decide(*plan_, budgets_, {.tenant = tenant}, now_, random_);
    const bool waits = queue_.size() > 1;
    const bool refused = verdict.kind == Kind::deny ||
                         (verdict.kind == Kind::allow_if_short_wait && waits &&
                          (verdict.only_if_free || double(queue_.size()) > setup_.capacity / 50)) ||
                         queue_.size() >= 100;
    if (!refused) queue_.push_back(&sent);
    if (counting_ && refused && verdict.reason == Reason::tenant_share) ++sent.refused_for_share;
  }

  void serve() {
    due_ += setup_.capacity / 1000;
    if (setup_.capacity == 0) due_ = double(queue_.size());
    for (; due_ >= 1 && !queue_.empty(); due_ -= 1) {
      if (counting_) ++queue_.front()->served;
      queue_.pop_front();
      shard_.record_admitted(kOnly, 1);
    }
    due_ = std::min(due_, 1.0);
  }

  void publish() {
    const TenantShard* const shards[] = {&shard_};
    const std::uint32_t queued[] = {static_cast<std::uint32_t>(queue_.size())};
    share_.note_queues(queued, now_);
    auto excess = setup_.fairness
                      ? share_.judge(shards, *rules_.of(State::overloaded), setup_.reason)
                      : nullptr;
    plan_ = std::make_unique<AdmissionPlan>(State::overloaded, setup_.reason,
                                            rules_.of(State::overloaded), std::move(excess));
  }

  Setup setup_;
  config::Config config_;
  TenantShard shard_{config_};
  TenantShare share_{config_};
  RuleTables rules_{config_, config_.upstreams[0]};
  Budgets budgets_{config_, config_.upstreams[0]};
  Random random_{5};
  std::unique_ptr<AdmissionPlan> plan_;
  std::deque<Sent*> queue_;
  double due_ = 0;
  TimePoint now_ = TimePoint{} + 1h;
  bool counting_ = false;
  std::vector<Sent> sent_;
};

// Nine quiet tenants and one that sends nine tenths of all.
std::vector<double> one_noisy() {
  std::vector<double> rates(9, 10);
  rates.push_back(810);
  return rates;
}

}  // namespace

TEST_CASE("a noisy tenant bears what a rule refuses and the quiet ones pass") {
  const Loop fair({.rates = one_noisy()});
  for (std::size_t quiet = 0; quiet < 9; ++quiet) CHECK(fair.of(quiet).success() > 0.97);
  CHECK(fair.of(9).success() == doctest::Approx(360.0 / 810).epsilon(0.05));
  CHECK(fair.served_share() == doctest::Approx(0.5).epsilon(0.03));
  CHECK(fair.jain_index() > 0.99);

  const Loop unfair({.rates = one_noisy(), .fairness = false});
  for (std::size_t quiet = 0; quiet < 9; ++quiet) CHECK(unfair.of(quiet).success() < 0.65);
  CHECK(unfair.served_share() == doctest::Approx(0.5).epsilon(0.03));
  CHECK(unfair.jain_index() < fair.jain_index() - 0.03);
}

TEST_CASE("for lack of room a noisy tenant goes first though its class is allowed") {
  const Loop::Setup setup{.rates = one_noisy(),
                          .rule = {Strategy::allow, 1, 1s},
                          .reason = Reason::queue_saturation,
                          .capacity = 300};
  const Loop fair(setup);
  for (std::size_t quiet = 0; quiet < 9; ++quiet) CHECK(fair.of(quiet).success() > 0.95);
  CHECK(fair.of(9).refused_for_share > 0);
  // Work-conserving: as much is served as without it.
  CHECK(fair.served_share() == doctest::Approx(300.0 / 900).epsilon(0.02));

  Loop::Setup off = setup;
  off.fairness = false;
  const Loop unfair(off);
  for (std::size_t quiet = 0; quiet < 9; ++quiet) CHECK(unfair.of(quiet).success() < 0.5);
  CHECK(unfair.served_share() == doctest::Approx(300.0 / 900).epsilon(0.02));
  CHECK(unfair.jain_index() < fair.jain_index() - 0.1);
}

TEST_CASE("among equals no tenant is singled out") {
  for (const Reason reason : {Reason::tail_latency, Reason::inflight_saturation}) {
    const Loop loop({.rates = std::vector<double>(10, 80), .reason = reason, .capacity = 400});
    double singled_out = 0;
    for (std::size_t i = 0; i < 10; ++i) singled_out += loop.of(i).refused_for_share;
    CHECK(singled_out < 0.002 * 800 * 30);
  }
}

TEST_CASE("a class that is served in full cuts no tenant") {
  const Loop loop({.rates = one_noisy(),
                   .rule = {Strategy::allow, 1, 1s},
                   .reason = Reason::inflight_saturation,
                   .capacity = 990});
  CHECK(loop.of(9).refused_for_share == 0);
  CHECK(loop.served_share() > 0.99);
  CHECK(loop.plan().tenants() == nullptr);
}

TEST_CASE("an upstream not to be trusted cuts no tenant of a class whose rule allows") {
  const Loop loop({.rates = one_noisy(), .rule = {Strategy::allow, 1, 1s}});
  CHECK(loop.served_share() == 1);
}

TEST_CASE("a new tenant for each request takes nothing from tenants that keep their name") {
  const std::vector<double> honest(5, 20);
  const Loop attacked({.rates = honest, .crowd = 900});
  const Loop by_rule({.rates = honest, .crowd = 900, .fairness = false});
  for (std::size_t i = 0; i < honest.size(); ++i)
    CHECK(attacked.of(i).success() > by_rule.of(i).success() - 0.06);
  CHECK(attacked.crowd().success() < by_rule.crowd().success() + 0.02);

  // A large one among them loses at most half of its proportion.
  const Loop large({.rates = {400}, .crowd = 500});
  CHECK(large.of(0).success() > 0.25 * 0.95);
}

TEST_CASE("a crowd that cannot be told apart is spared most of what one heavy tenant causes") {
  const Loop::Setup setup{.rates = {300}, .crowd = 600, .rule = {Strategy::deny, 0.3, 1s}};
  const Loop fair(setup);
  CHECK(fair.crowd().success() > 0.85);
  CHECK(fair.of(0).success() == doctest::Approx(0.5 * 0.7).epsilon(0.1));
  Loop::Setup off = setup;
  off.fairness = false;
  CHECK(Loop(off).crowd().success() < 0.75);
}

TEST_CASE("what a rule lets pass does not ratchet down") {
  const Loop short_run({.rates = one_noisy()}, 10s);
  const Loop long_run({.rates = one_noisy()}, 120s);
  CHECK(short_run.served_share() == doctest::Approx(0.5).epsilon(0.04));
  CHECK(long_run.served_share() == doctest::Approx(0.5).epsilon(0.02));

  // Taking for the service what the last tick let pass, less the few that time out in the
  // queue, ends at nothing.
  double service = 450;
  for (int tick = 0; tick < 100; ++tick) {
    std::vector<TenantDemand> demands{{TenantId{0}, 90, 0}, {TenantId{1}, 810, 0}};
    const double level = water_level(demands, service);
    service = 0.97 * (std::min(90.0, level) + std::min(810.0, level));
  }
  CHECK(service < 0.1 * 450);
}

TEST_CASE("a rising demand that waits is not taken for a shortage") {
  config::Config config;
  config.classes.resize(1);
  config.upstreams.resize(1);
  const RuleTables rules(config, config.upstreams[0]);
  TenantShard shard(config);
  for (int i = 0; i < 200; ++i) shard.record_offered(kOnly, TenantId(i % 10 == 0 ? 1 : 2), 1);
  for (int i = 0; i < 120; ++i) shard.record_admitted(kOnly, 1);
  const TimePoint now = TimePoint{} + 1h;
  shard.publish(now);
  const TenantShard* const shards[] = {&shard};
  const auto cuts_somebody = [&](std::uint32_t waiting_before) {
    TenantShare share(config);
    share.note_queues(std::vector{waiting_before}, now - 10s);
    share.note_queues(std::vector{80u}, now);
    return share.judge(shards, *rules.of(State::overloaded), Reason::queue_wait_risk) != nullptr;
  };
  CHECK_FALSE(cuts_somebody(0));  // 80 of the 200 are waiting
  CHECK(cuts_somebody(80));       // they have been waiting all the time; 80 were refused
}

TEST_CASE("the tenants of all workers are put together") {
  config::Config config;
  config.classes.resize(1);
  config.upstreams.resize(1);
  config.upstreams[0].overload.rules = {{Strategy::deny, 0.5, 1s}};
  const RuleTables rules(config, config.upstreams[0]);
  TenantShard one(config), two(config);
  // At either worker the same tenant is a third.
  for (int i = 0; i < 90; ++i) {
    one.record_offered(kOnly, TenantId(i % 3 == 0 ? 7 : 100 + i % 6), 1);
    two.record_offered(kOnly, TenantId(i % 3 == 0 ? 7 : 200 + i % 6), 1);
  }
  one.publish(TimePoint{} + 1h);
  two.publish(TimePoint{} + 1h);
  TenantShare share(config);
  const TenantShard* const shards[] = {&one, &two};
  const auto excess = share.judge(shards, *rules.of(State::overloaded), Reason::error_burst);
  REQUIRE(excess != nullptr);
  // Eight others ask for 15 each; 90 may pass: all are above the level of 10, one above its share.
  CHECK(excess->of(kOnly).chance(TenantId{7}) == doctest::Approx(1 - 10.0 / 60));
  CHECK(excess->of(kOnly).chance(TenantId{101}) == 0);
}

TEST_CASE("tenants share the upstream's time, not its requests") {
  config::Config config;
  config.classes.resize(1);
  config.upstreams.resize(1);
  config.upstreams[0].overload.rules = {{Strategy::deny, 0.5, 1s}};
  const RuleTables rules(config, config.upstreams[0]);
  TenantShard shard(config);
  // As many seconds of the upstream each, and a third tenant that asks for three times as much.
  for (int i = 0; i < 150; ++i) shard.record_offered(kOnly, TenantId{1}, 20);
  for (int i = 0; i < 10; ++i) shard.record_offered(kOnly, TenantId{2}, 300);
  for (int i = 0; i < 30; ++i) shard.record_offered(kOnly, TenantId{3}, 300);
  shard.publish(TimePoint{} + 1h);
  TenantShare share(config);
  const TenantShard* const shards[] = {&shard};
  const auto excess = share.judge(shards, *rules.of(State::overloaded), Reason::error_burst);
  REQUIRE(excess != nullptr);
  const ClassExcess& its = excess->of(kOnly);
  CHECK(its.chance(TenantId{1}) == 0);
  CHECK(its.chance(TenantId{2}) == 0);
  // Of 15 seconds 7.5 may pass, 2.5 each.
  CHECK(its.chance(TenantId{3}) == doctest::Approx(1 - 2.5 / 9));
}

TEST_CASE("a heavy tenant on a route that does not refuse leaves the rule of others unchanged") {
  const auto rule_scale = [](bool exempt, Reason reason) {
    config::Config config;
    config.classes.resize(1);
    config.upstreams.resize(1);
    config.upstreams[0].overload.rules = {{Strategy::deny, 0.5, 1s}};
    config.routes.resize(2);
    if (exempt) config.routes[1].rules = {{.traffic_class = kOnly, .strategy = Strategy::allow}};
    const RuleTables rules(config, config.upstreams[0]);
    TenantShard shard(config);
    for (int i = 0; i < 100; ++i) shard.record_offered(kOnly, TenantId(i % 5 < 3 ? 7 : 100 + i), 1);
    shard.publish(TimePoint{} + 1h);
    TenantShare share(config);
    const TenantShard* const shards[] = {&shard};
    const auto excess = share.judge(shards, *rules.of(State::overloaded), reason);
    REQUIRE(excess != nullptr);
    CHECK(excess->of(kOnly).chance(TenantId{7}) > 0);
    return excess->of(kOnly).rule_scale();
  };
  CHECK(rule_scale(false, Reason::tail_latency) < 0.5);
  CHECK(rule_scale(true, Reason::tail_latency) == 1);
  CHECK(rule_scale(true, Reason::queue_saturation) < 0.5);  // there it is cut on every route
}
