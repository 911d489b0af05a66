#include "overload/control/controller.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "overload/admission/decide.hpp"

using namespace spillway;
using namespace spillway::overload;
using namespace std::chrono_literals;
using config::Strategy;

namespace {

constexpr ClassId kOnly{0};

// One upstream, one class, one worker, and a tick each 100 ms.
struct Scene {
  explicit Scene(bool fairness = true, double enter = 0.8) : config(configured(fairness, enter)) {}

  static config::Config configured(bool fairness, double enter = 0.8) {
    config::Config config;
    config.classes.resize(1);
    config.routes.resize(1);
    config.upstreams.resize(1);
    config.upstreams[0].overload.enter.queue_ratio = enter;
    config.upstreams[0].overload.rules = {{Strategy::deny, 0.5, 1s}};
    config.tenants.fairness = fairness;
    return config;
  }

  Tick tick(double queue_ratio = 0, std::optional<double> lag = std::nullopt) {
    now += 100ms;
    tenants.publish(now);
    const SignalShard* const shards[] = {&shard};
    const TenantShard* const tenant_shards[] = {&tenants};
    const std::uint32_t capacity[] = {100};
    const std::uint32_t queued[] = {static_cast<std::uint32_t>(100 * queue_ratio)};
    return controller.tick({.shards = shards,
                            .queued = queued,
                            .max_queue = capacity,
                            .event_loop_lag = lag,
                            .tenants = tenant_shards},
                           now);
  }

  // The mean of half a second has come to the enter threshold, and not further.
  Tick fill() {
    for (int i = 0; i < 5; ++i) CHECK_FALSE(tick(0.81).transition);
    return tick(0.81);
  }

  config::Config config;
  Controller controller{config, config.upstreams[0]};
  SignalShard shard;
  TenantShard tenants{config};
  TimePoint now = TimePoint{} + 1h;
};

}  // namespace

TEST_CASE("a controller begins NORMAL with a plan that allows") {
  Scene scene;
  REQUIRE(scene.controller.plan() != nullptr);
  CHECK(scene.controller.plan()->state() == State::normal);
  CHECK(scene.controller.plan()->rule(RouteId{0}, kOnly).retry_after == 1s);
  CHECK_FALSE(scene.controller.plan()->is_quiet());
  Tick tick = scene.tick();
  CHECK_FALSE(tick.transition);
  REQUIRE(tick.plan != nullptr);  // the load is low
  CHECK(tick.plan->is_quiet());
  tick = scene.tick();
  CHECK_FALSE(tick.transition);
  CHECK(tick.plan == nullptr);
}

TEST_CASE("a plan is published when state or reason change and not otherwise") {
  Scene scene;
  Tick tick = scene.fill();
  REQUIRE(tick.transition);
  CHECK(tick.transition->to == State::overloaded);
  REQUIRE(tick.plan != nullptr);
  CHECK(tick.plan == scene.controller.plan());
  CHECK(tick.plan->reason() == Reason::queue_saturation);
  CHECK(*scene.controller.signals().queue_ratio == doctest::Approx(0.81));
  CHECK(scene.tick(0.81).plan == nullptr);

  tick = scene.tick(0.6, 0.2);  // another reason
  CHECK_FALSE(tick.transition);
  REQUIRE(tick.plan != nullptr);
  CHECK(tick.plan->reason() == Reason::event_loop_lag);

  int published = 0;
  for (int i = 0; i < 40; ++i) published += scene.tick().plan != nullptr ? 1 : 0;
  CHECK(scene.controller.state() == State::normal);
  CHECK(scene.controller.plan()->state() == State::normal);
  CHECK(published == 2);  // back to the reason of the entry, then back to NORMAL
}

TEST_CASE("plans of a state share their rules") {
  Scene scene;
  const auto first = scene.fill().plan;
  const auto second = scene.tick(0.6, 0.2).plan;
  REQUIRE(first != nullptr);
  REQUIRE(second != nullptr);
  CHECK(&first->rule(RouteId{0}, kOnly) == &second->rule(RouteId{0}, kOnly));
}

TEST_CASE("a noisy tenant is in the plan while overloaded and leaves it when it is quiet") {
  Scene scene;
  const auto offer = [&] {
    for (int i = 0; i < 50; ++i) scene.tenants.record_offered(kOnly, TenantId(i < 45 ? 1 : i), 1);
  };
  for (int i = 0; i < 30; ++i) {
    offer();
    scene.tick(0, 0);
    CHECK(scene.controller.plan()->tenants() == nullptr);  // while NORMAL
  }
  offer();
  Tick tick = scene.tick(0, 0.3);
  REQUIRE(tick.plan != nullptr);
  REQUIRE(tick.plan->tenants() != nullptr);
  CHECK(tick.plan->tenants()->of(kOnly).chance(TenantId{1}) > 0.4);
  CHECK(tick.plan->tenants()->of(kOnly).chance(TenantId{47}) == 0);
  offer();
  CHECK(scene.tick(0, 0.3).plan != nullptr);  // new figures with each tick

  for (int i = 0; i < 80; ++i) tick = scene.tick(0, 0.3);
  CHECK(scene.controller.state() == State::overloaded);
  CHECK(scene.controller.plan()->tenants() == nullptr);
  CHECK(tick.plan == nullptr);
}

TEST_CASE("waiters in a queue that just filled do not count as refused") {
  Scene scene(true, 0.05);
  scene.tick();
  for (int i = 0; i < 200; ++i)
    scene.tenants.record_offered(kOnly, TenantId(i % 10 == 0 ? 1 : 2), 1);
  for (int i = 0; i < 110; ++i) scene.tenants.record_admitted(kOnly, 1);
  const Tick tick = scene.tick(0.9);
  REQUIRE(tick.transition);
  CHECK(tick.plan->tenants() == nullptr);
  // With the queue as full for seconds, 90 of 200 are refused.
  for (int i = 0; i < 40; ++i) {
    for (int k = 0; k < 20; ++k) scene.tenants.record_offered(kOnly, TenantId(k < 2 ? 1 : 2), 1);
    for (int k = 0; k < 11; ++k) scene.tenants.record_admitted(kOnly, 1);
    scene.tick(0.9);
  }
  CHECK(scene.controller.plan()->tenants() != nullptr);
}

TEST_CASE("without fairness no tenant is ever in the plan") {
  Scene scene(false);
  for (int i = 0; i < 30; ++i) {
    for (int k = 0; k < 50; ++k) scene.tenants.record_offered(kOnly, TenantId(k < 45 ? 1 : k), 1);
    scene.tick(0, 0.1);
    CHECK(scene.controller.plan()->tenants() == nullptr);
  }
}

TEST_CASE("a reload keeps the limit in force, whether it was found or told") {
  config::Config config = Scene::configured(true);
  config::Upstream& upstream = config.upstreams[0];
  const TimePoint now = TimePoint{} + 1h;
  const auto reloaded = [&](const Controller& former, const config::Concurrency& concurrency) {
    upstream.dispatch.concurrency = concurrency;
    auto next = std::make_unique<Controller>(config, upstream);
    next->continue_from(former, now);
    return next;
  };
  const auto found = [](std::uint32_t min, std::uint32_t max) {
    config::Concurrency concurrency = max;
    concurrency.search = config::AutoConcurrency{.min = min, .max = max};
    return concurrency;
  };
  for (const std::uint32_t number : {8u, 300u}) {
    CAPTURE(number);
    upstream.dispatch.concurrency = number;
    const Controller told(config, upstream);
    const auto first = reloaded(told, found(1, 1000));
    CHECK(first->limit() == number);  // and not the 64 of a start
    CHECK(reloaded(*first, found(1, 1000))->limit() == number);
    CHECK(reloaded(*first, found(16, 200))->limit() == (number == 8 ? 16 : 200));
    CHECK(reloaded(*first, 40)->limit() == 40);
  }
}

TEST_CASE("a reload keeps what is known of low load") {
  Scene scene;
  const auto answer = [](SignalShard& shard, double times) {
    for (int i = 0; i < 10; ++i) shard.record_relative_latency(times);
  };
  for (int i = 0; i < 200; ++i) {
    answer(scene.shard, 1);
    scene.tick();
  }
  REQUIRE(scene.controller.signals().latency_p95_ratio.value() == doctest::Approx(1).epsilon(0.05));

  Scene reloaded, restarted;
  reloaded.controller.continue_from(scene.controller, reloaded.now);
  for (Scene* next : {&reloaded, &restarted}) {
    next->tick();
    for (int i = 0; i < 10; ++i) {
      answer(next->shard, 5);
      next->tick();
    }
  }
  REQUIRE(reloaded.controller.signals().latency_p95_ratio);
  CHECK(*reloaded.controller.signals().latency_p95_ratio == doctest::Approx(5).epsilon(0.05));
  CHECK(reloaded.controller.reason() == Reason::tail_latency);
  CHECK_FALSE(restarted.controller.signals().latency_p95_ratio);
  CHECK(restarted.controller.state() == State::normal);
}

namespace {

// Two workers; the second one lags.
struct OneLags {
  static config::Config configured() {
    config::Config config = Scene::configured(true);
    config.classes.resize(2);
    config::Overload& overload = config.upstreams[0].overload;
    overload.rules = {{Strategy::allow, 1, 1s}, {Strategy::deny, 1, 1s}};
    return config;
  }

  Tick tick(const std::vector<double>& lags) {
    const std::uint64_t started[] = {0, 0};
    return controller.tick({.event_loop_lag = std::max(lags[0], lags[1]),
                            .event_loop_lags = lags,
                            .event_loop_use = 1,
                            .started = started},
                           now += 100ms);
  }
  double share_of(std::size_t worker) const {
    return controller.plan_of(worker)->levels().share_of(ClassId{1});
  }

  config::Config config = configured();
  Controller controller{config, config.upstreams[0]};
  TimePoint now = TimePoint{} + 1h;
};

}  // namespace

TEST_CASE("only workers that lag refuse requests for event-loop lag") {
  OneLags scene;
  CHECK(scene.controller.plan_of(0) == scene.controller.plan_of(1));
  for (int i = 0; i < 40; ++i) scene.tick({0.01, 0.3 + 0.01 * i});
  CHECK(scene.share_of(1) == 1);
  CHECK(scene.share_of(0) == 0);
  for (std::size_t worker = 0; worker < 2; ++worker) {
    CHECK(scene.controller.plan_of(worker)->state() == State::overloaded);
    CHECK(scene.controller.plan_of(worker)->reason() == Reason::event_loop_lag);
  }
  // Its budget is for an upstream that is asked for too much.
  const config::Budget budget{10, 20};
  CHECK(scene.controller.plan_of(1)->levels().enforces(budget));
  CHECK_FALSE(scene.controller.plan_of(0)->levels().enforces(budget));

  // A reload keeps that.
  Controller next(scene.config, scene.config.upstreams[0]);
  next.continue_from(scene.controller, scene.now);
  CHECK(next.plan_of(1)->levels().share_of(ClassId{1}) == 1);
  CHECK(next.plan_of(0)->levels().share_of(ClassId{1}) == 0);

  // The first one comes to lag, too: told at once, though nothing else changes.
  CHECK(scene.tick({0.12, 0.7}).plan == nullptr);
  CHECK(scene.share_of(0) == 0);
  CHECK(scene.tick({0.13, 0.7}).plan != nullptr);
  CHECK(scene.share_of(0) == 1);
}

TEST_CASE("without regulation and where errors are the cause all workers refuse alike") {
  OneLags scene;
  scene.config.upstreams[0].overload.regulate = false;
  Controller controller(scene.config, scene.config.upstreams[0]);
  const std::vector<double> lags{0.01, 0.5};
  for (int i = 0; i < 20; ++i)
    controller.tick({.event_loop_lag = 0.5, .event_loop_lags = lags}, scene.now += 100ms);
  CHECK(controller.state() == State::overloaded);
  CHECK(controller.plan_of(0) == controller.plan_of(1));
  CHECK(controller.plan_of(0)->levels().share_of(ClassId{1}) == 1);

  SignalShard shard;
  const SignalShard* const shards[] = {&shard};
  const config::Config regulating = OneLags::configured();
  Controller failing(regulating, regulating.upstreams[0]);
  const std::vector<double> calm{0.01, 0.01};
  for (int i = 0; i < 40; ++i) {
    for (int n = 0; n < 5; ++n) shard.record_result(n < 3);
    failing.tick({.shards = shards, .event_loop_lag = 0.01, .event_loop_lags = calm},
                 scene.now += 100ms);
  }
  CHECK(failing.reason() == Reason::error_burst);
  CHECK(failing.plan_of(0) == failing.plan_of(1));
  CHECK(failing.plan_of(0)->levels().share_of(ClassId{1}) > 0);
}
