#include "overload/signals/signals.hpp"

#include <doctest/doctest.h>

#include <vector>

using namespace spillway;
using namespace spillway::overload;
using namespace std::chrono_literals;

namespace {

// One upstream with two workers and a clock of ticks.
struct Scene {
  config::Overload settings;
  SignalWindow window{settings};
  SignalShard one, two;
  TimePoint now = TimePoint{} + 1h;
  double busy = 0, shared = 0;
  std::vector<std::uint32_t> queued{0, 0, 0}, capacity{512, 256, 128};

  Scene() { tick(); }

  OverloadSignals tick(double running = 0, Duration step = 100ms) {
    const SignalShard* shards[] = {&one, &two};
    now += step;
    busy += running * to_seconds(step);
    return window.tick({.shards = shards,
                        .busy_slot_seconds = busy,
                        .concurrency = 16,
                        .queued = queued,
                        .max_queue = capacity},
                       now);
  }
};

}  // namespace

TEST_CASE("inflight is smoothed over two seconds") {
  Scene scene;
  for (int i = 0; i < 30; ++i) scene.tick(8);
  CHECK(*scene.tick(8).inflight_ratio == doctest::Approx(0.5));
  // Touching the cap for a moment is what a cap is for.
  CHECK(*scene.tick(16).inflight_ratio < 0.53);
  for (int i = 0; i < 18; ++i) CHECK(*scene.tick(16).inflight_ratio < 0.99);
  CHECK(*scene.tick(16).inflight_ratio == doctest::Approx(1.0));
  for (int i = 0; i < 20; ++i) scene.tick(0);
  CHECK(*scene.tick(0).inflight_ratio == doctest::Approx(0.0));
}

TEST_CASE("slots reserved for one class are no capacity for the others") {
  Scene scene;
  // Of 16 slots four are reserved for a class that uses one of them.
  const auto tick = [&](double all, double shared, double reserved) {
    const SignalShard* shards[] = {&scene.one, &scene.two};
    scene.now += 100ms;
    scene.busy += all * 0.1;
    scene.shared += shared * 0.1;
    return scene.window.tick({.shards = shards,
                              .busy_slot_seconds = scene.busy,
                              .shared_slot_seconds = scene.shared,
                              .reserved = reserved,
                              .concurrency = 16,
                              .queued = scene.queued,
                              .max_queue = scene.capacity},
                             scene.now);
  };
  for (int i = 0; i < 30; ++i) tick(13, 12, 4);
  CHECK(*tick(13, 12, 4).inflight_ratio == doctest::Approx(1));
  CHECK(tick(13, 12, 4).inflight == doctest::Approx(13));
  // All of theirs, and few of the others: no more than the whole is in use.
  for (int i = 0; i < 30; ++i) tick(7, 3, 4);
  CHECK(*tick(7, 3, 4).inflight_ratio == doctest::Approx(7.0 / 16));
  for (int i = 0; i < 30; ++i) tick(13, 13, 0);
  CHECK(*tick(13, 13, 0).inflight_ratio == doctest::Approx(13.0 / 16));
}

// All are answered by an upstream with room beyond the slots, of which half would be in use.
TEST_CASE("in shadow mode the load is that of the requests that would have been let in") {
  Scene scene;
  scene.settings.mode = config::Mode::shadow;
  scene.window = SignalWindow(scene.settings);
  OverloadSignals signals;
  for (int i = 0; i < 40; ++i) {
    for (int n = 0; n < 60; ++n) {
      scene.one.record_offered();
      scene.one.record_result(false, {});
      if (n % 3 == 0) scene.one.record_admitted();
    }
    signals = scene.tick(8);
  }
  CHECK(signals.completed_rate == doctest::Approx(600));
  CHECK(signals.served_rate == doctest::Approx(200));
  CHECK(*signals.offered_load == doctest::Approx(1.5));
}

TEST_CASE("a saturated first moment is not yet saturation") {
  Scene scene;
  CHECK(*scene.tick(16).inflight_ratio < 0.1);
}

TEST_CASE("inflight survives a late tick and more ticks than points") {
  Scene scene;
  for (int i = 0; i < 500; ++i) scene.tick(8, 10ms);
  CHECK(*scene.tick(8, 10ms).inflight_ratio == doctest::Approx(0.5).epsilon(0.01));
  CHECK(*scene.tick(12, 10s).inflight_ratio == doctest::Approx(0.75).epsilon(0.06));
}

TEST_CASE("the queue ratio is that of the fullest class or of the whole") {
  Scene scene;
  scene.queued = {0, 0, 64};
  for (int i = 0; i < 10; ++i) scene.tick();
  CHECK(*scene.tick().queue_ratio == doctest::Approx(0.5));
  scene.capacity = {0, 0, 0};
  for (int i = 0; i < 10; ++i) scene.tick();
  CHECK(*scene.tick().queue_ratio == 0);
}

TEST_CASE("a queue that is full for a moment is not yet full") {
  Scene scene;
  scene.queued = {0, 0, 128};
  CHECK(*scene.tick().queue_ratio == doctest::Approx(0.2));
  for (int i = 0; i < 3; ++i) CHECK(*scene.tick().queue_ratio < 0.95);
  CHECK(*scene.tick().queue_ratio == doctest::Approx(1));
  CHECK(*scene.tick(0, 3s).queue_ratio == doctest::Approx(1));
  scene.queued = {0, 0, 0};
  CHECK(*scene.tick().queue_ratio > 0.7);
  for (int i = 0; i < 10; ++i) scene.tick();
  CHECK(*scene.tick().queue_ratio == doctest::Approx(0));
}

TEST_CASE("quantiles merge the workers and forget after the window") {
  Scene scene;
  for (int i = 0; i < 90; ++i) scene.one.record_latency(10ms);
  for (int i = 0; i < 10; ++i) scene.two.record_latency(1s);
  for (int i = 0; i < 30; ++i) scene.two.record_wait(50ms);
  OverloadSignals signals = scene.tick();
  CHECK(*signals.latency_p95 == doctest::Approx(1.0).epsilon(0.03));
  CHECK(*signals.latency_p99 == doctest::Approx(1.0).epsilon(0.03));
  CHECK(*signals.queue_wait_p95 == doctest::Approx(0.05).epsilon(0.03));
  for (int i = 0; i < 19; ++i) signals = scene.tick();
  CHECK(signals.latency_p95);
  signals = scene.tick();
  CHECK_FALSE(signals.latency_p95);
  CHECK_FALSE(signals.queue_wait_p95);
}

TEST_CASE("timeouts are a part of the errors") {
  Scene scene;
  for (int i = 0; i < 40; ++i) scene.one.record_result(i < 20);
  for (int i = 0; i < 10; ++i) scene.one.record_timeout();
  const OverloadSignals signals = scene.tick();
  CHECK(*signals.error_rate == doctest::Approx(0.5));
  CHECK(*signals.timeout_rate == doctest::Approx(0.25));
  for (int i = 0; i < 19; ++i) scene.tick();
  CHECK_FALSE(scene.tick().timeout_rate);
}

TEST_CASE("fewer than twenty samples are no evidence") {
  Scene scene;
  scene.one.record_result(true);
  scene.one.record_result(false);
  scene.one.record_result(false);
  CHECK_FALSE(scene.tick().error_rate);  // one failure among three is no burst
  for (int i = 0; i < 17; ++i) scene.two.record_result(i % 2 == 0);
  CHECK(*scene.tick().error_rate == doctest::Approx(0.5));
  for (int i = 0; i < 19; ++i) scene.one.record_latency(1s);
  CHECK_FALSE(scene.tick().latency_p95);
  scene.one.record_latency(1s);
  CHECK(scene.tick().latency_p95);
}

TEST_CASE("rates are per second over the window") {
  Scene scene;
  OverloadSignals signals;
  for (int tick = 0; tick < 25; ++tick) {
    for (int i = 0; i < 30; ++i) scene.one.record_offered();
    for (int i = 0; i < 20; ++i) scene.two.record_admitted();
    for (int i = 0; i < 10; ++i) scene.two.record_result(false);
    signals = scene.tick();
  }
  CHECK(signals.offered_rate == doctest::Approx(300));
  CHECK(signals.admitted_rate == doctest::Approx(200));
  CHECK(signals.completed_rate == doctest::Approx(100));
  CHECK(*signals.error_rate == 0);
}

TEST_CASE("counts from before the first tick are not a burst") {
  SignalShard shard;
  for (int i = 0; i < 1000; ++i) shard.record_result(true);
  const SignalShard* shards[] = {&shard};
  SignalWindow window{config::Overload{}};
  CHECK_FALSE(window.tick({.shards = shards, .concurrency = 16}, TimePoint{} + 1h).error_rate);
}

TEST_CASE("a stalled upstream shows in the latency though it completes nothing") {
  Scene scene;
  const std::vector<Duration> stuck(30, 5s);
  scene.one.publish_ages(stuck);
  CHECK(*scene.tick().latency_p95 == doctest::Approx(5.0).epsilon(0.03));

  Scene healthy_until_now;  // completions alone would still look healthy
  for (int i = 0; i < 100; ++i) healthy_until_now.one.record_latency(10ms);
  CHECK(*healthy_until_now.tick().latency_p95 < 0.011);
  healthy_until_now.two.publish_ages(stuck);
  CHECK(*healthy_until_now.tick().latency_p95 > 4.8);
  healthy_until_now.two.publish_ages({});
  CHECK(*healthy_until_now.tick().latency_p95 < 0.011);
}

TEST_CASE("young requests in flight do not flatter the latency") {
  Scene scene;
  for (int i = 0; i < 100; ++i) scene.one.record_latency(i < 90 ? 10ms : 100ms);
  const std::vector<Duration> young(900, 1ms);
  scene.one.publish_ages(young);
  CHECK(*scene.tick().latency_p95 == doctest::Approx(0.1).epsilon(0.03));
}

TEST_CASE("a window of very many ticks keeps its length in fewer slices") {
  Scene scene;
  scene.settings.tick = 10ms;
  scene.settings.window = 10s;
  SignalWindow window(scene.settings);
  const SignalShard* shards[] = {&scene.one};
  TimePoint now = scene.now;
  const auto tick = [&] {
    now += 10ms;
    return window.tick({.shards = shards, .concurrency = 16}, now);
  };
  tick();
  for (int i = 0; i < 50; ++i) scene.one.record_latency(20ms);
  for (int i = 0; i < 980; ++i) tick();
  CHECK(tick().latency_p95);
  for (int i = 0; i < 50; ++i) tick();
  CHECK_FALSE(tick().latency_p95);
}

TEST_CASE("old samples leave the window smoothly") {
  Scene scene;
  for (int tick = 0; tick < 20; ++tick) {
    for (int i = 0; i < 10; ++i) scene.one.record_latency(1s);
    scene.tick();
  }
  // From now on fast ones: p95 falls when nineteen of twenty slices are fast, not at once.
  int fell_at = 0;
  for (int tick = 1; tick <= 25 && fell_at == 0; ++tick) {
    for (int i = 0; i < 10; ++i) scene.one.record_latency(10ms);
    if (*scene.tick().latency_p95 < 0.011) fell_at = tick;
  }
  CHECK(fell_at == 19);
  // And with no more samples the evidence dwindles to the last twenty.
  int lost_at = 0;
  for (int tick = 1; tick <= 25 && lost_at == 0; ++tick)
    if (!scene.tick().latency_p95) lost_at = tick;
  CHECK(lost_at == 19);
}

TEST_CASE("an empty window has no evidence of anything but the queue and the slots") {
  Scene scene;
  OverloadSignals signals;
  for (int i = 0; i < 30; ++i) signals = scene.tick();
  CHECK_FALSE(signals.latency_p95);
  CHECK_FALSE(signals.latency_p99);
  CHECK_FALSE(signals.queue_wait_p95);
  CHECK_FALSE(signals.error_rate);
  CHECK_FALSE(signals.event_loop_lag);
  CHECK(*signals.inflight_ratio == 0);
  CHECK(*signals.queue_ratio == 0);
  CHECK(signals.offered_rate == 0);
}

TEST_CASE("a stream counts with its head and not with its length") {
  Scene scene;
  // Thirty streams whose heads came after 10 ms are still being read an hour later: they are not
  // among the ages, which are of requests that wait for their head.
  for (int i = 0; i < 30; ++i) scene.one.record_latency(10ms);
  scene.one.publish_ages({});
  OverloadSignals signals = scene.tick(16);
  CHECK(*signals.latency_p95 == doctest::Approx(0.01).epsilon(0.03));
  for (int i = 0; i < 600; ++i) signals = scene.tick(16);
  CHECK_FALSE(signals.latency_p95);
  CHECK(*signals.inflight_ratio == doctest::Approx(1));  // the slots that they hold are held
}

TEST_CASE("a stalled upstream stays slow for as long as it is stalled") {
  Scene scene;
  for (int i = 0; i < 100; ++i) scene.one.record_latency(10ms);
  scene.tick();
  Duration age = 0ms;
  for (int tick = 0; tick < 100; ++tick) {
    age += 100ms;
    scene.one.publish_ages(std::vector<Duration>(16, age));
    scene.two.publish_ages(std::vector<Duration>(16, age));
    const OverloadSignals signals = scene.tick(16);
    if (tick < 3) continue;
    REQUIRE(signals.latency_p95);
    REQUIRE(*signals.latency_p95 > 0.9 * to_seconds(age));
  }
}

TEST_CASE("few requests in flight and no completions are no evidence") {
  Scene scene;
  scene.one.publish_ages(std::vector<Duration>(19, 10s));
  CHECK_FALSE(scene.tick().latency_p95);
  scene.two.publish_ages(std::vector<Duration>(1, 10s));
  CHECK(scene.tick().latency_p95);
}

TEST_CASE("errors leave with the window and count as a rate of finished requests") {
  Scene scene;
  for (int i = 0; i < 30; ++i) scene.one.record_result(i < 15);
  CHECK(*scene.tick().error_rate == doctest::Approx(0.5));
  for (int tick = 0; tick < 20; ++tick) {
    for (int i = 0; i < 5; ++i) scene.two.record_result(false);
    scene.tick();
  }
  CHECK(*scene.tick().error_rate == 0);
}

TEST_CASE("the tail latency is compared with that at low load, whatever the mix of routes") {
  Scene scene;
  const auto answer = [&](double times, int answers) {
    for (int i = 0; i < answers; ++i) scene.one.record_relative_latency(times);
    return scene.tick().latency_p95_ratio;
  };
  for (int i = 0; i < 99; ++i) CHECK_FALSE(answer(2, 10));  // 9.9 s: not known what is usual
  answer(2, 10);
  CHECK(*answer(2, 10) == doctest::Approx(1).epsilon(0.04));
  for (int i = 0; i < 20; ++i) answer(8, 10);
  CHECK(*answer(8, 10) == doctest::Approx(4).epsilon(0.04));
  // Two hundred of the quiet ten seconds' samples are now in question, and are not the p95.
  for (int i = 0; i < 20; ++i) answer(2, 2);
  CHECK_FALSE(answer(2, 2));  // of 42 answers
}

TEST_CASE("requests without an answer raise the ratio, too") {
  Scene scene;
  for (int i = 0; i < 120; ++i) {
    for (int j = 0; j < 10; ++j) scene.one.record_relative_latency(1);
    scene.tick();
  }
  for (int i = 0; i < 25; ++i) scene.tick();
  const std::vector<Duration> ages(70, 10s);
  scene.two.publish_ages(ages, std::vector<double>(70, 100.0));
  CHECK(*scene.tick().latency_p95_ratio == doctest::Approx(100).epsilon(0.04));
  scene.two.publish_ages(ages);  // of routes whose usual latency is not known
  CHECK_FALSE(scene.tick().latency_p95_ratio);
}
