// What is refused for errors, in a closed loop with the upstream and its clients.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <functional>
#include <utility>

#include "base/random.hpp"
#include "overload/control/share_regulator.hpp"

using namespace spillway;
using namespace spillway::overload;
using namespace std::chrono_literals;

namespace {

constexpr std::size_t kHighest = 0, kMiddle = 1, kLowest = 2;

// An upstream and its clients in closed loop with the regulator: what fails, by class, and what is
// refused.
class FailingSite {
 public:
  using Errors = std::function<double(std::size_t traffic_class, double requests_per_second)>;

  FailingSite(Errors errors, std::uint64_t seed, bool knows_classes = true)
      : errors_(std::move(errors)), random_(seed), knows_classes_(knows_classes) {}

  void run(Duration time) {
    for (const TimePoint end = now_ + time; now_ < end; now_ += 100ms) tick();
  }

  // The part of its requests since the beginning.
  double refused(std::size_t traffic_class) const {
    return refused_[traffic_class] / asked_[traffic_class];
  }
  bool is_futile() const { return regulator_.is_futile(); }

 private:
  static constexpr std::array<double, 3> kRates{100, 310, 140};

  void tick() {
    std::array<double, 3> let_in;
    double load = 0;
    for (std::size_t i = 0; i < 3; ++i) {
      let_in[i] = kRates[i] * (1 - regulator_.share(i));
      asked_[i] += kRates[i] / 10;
      refused_[i] += kRates[i] / 10 * regulator_.share(i);
      load += let_in[i];
    }
    ClassAnswers::One slice;
    for (std::size_t i = 0; i < 3; ++i) {
      for (int n = 0; n < int(let_in[i] / 10); ++n) {
        const bool fails = random_.uniform() < errors_(i, load);
        ++(fails ? slice.failed : slice.succeeded);
        ++(fails ? answers_.by[i].failed : answers_.by[i].succeeded);
      }
    }
    window_[ticks_++ % window_.size()] = slice;
    ClassAnswers::One sum;
    for (const auto& each : window_) {
      sum.failed += each.failed;
      sum.succeeded += each.succeeded;
    }
    OverloadSignals signals;
    if (sum.all() >= kEnoughSamples) signals.error_rate = sum.error_rate();
    if (knows_classes_) signals.class_answers = answers_;
    signals.inflight = 30;
    regulator_.step(signals, Reason::error_burst, now_);
  }

  Errors errors_;
  Random random_;
  bool knows_classes_;
  ShareRegulator regulator_{config::Overload{}, 3};
  TimePoint now_ = TimePoint{} + 1h;
  ClassAnswers answers_;
  std::array<ClassAnswers::One, 20> window_{};
  std::size_t ticks_ = 0;
  std::array<double, 3> asked_{}, refused_{};
};

}  // namespace

TEST_CASE("requests that fail whatever the load cost others little, of however many sources") {
  const auto of_p1 = [](std::size_t traffic_class, double) {
    return traffic_class == kMiddle ? 0.36 : 0;
  };
  for (const std::uint64_t seed : {1, 2, 3}) {
    CAPTURE(seed);
    FailingSite site(of_p1, seed);
    site.run(600s);
    CHECK(site.refused(kLowest) < 0.15);
    CHECK(site.refused(kMiddle) < 0.1);
    // Without regard to classes the share settles where what is refused is what fails.
    FailingSite blind(of_p1, seed, false);
    blind.run(600s);
    CHECK(blind.refused(kLowest) > 0.7);
    CHECK(blind.refused(kMiddle) > 0.2);
  }
}

TEST_CASE("nor do errors that come in turns begin it anew each time") {
  for (const std::uint64_t seed : {1, 2, 3}) {
    CAPTURE(seed);
    bool fails = false;
    FailingSite site([&](std::size_t traffic_class,
                         double) { return traffic_class == kMiddle && fails ? 0.5 : 0; },
                     seed);
    for (int n = 0; n < 60; ++n) {
      fails = true;
      site.run(8s);
      fails = false;
      site.run(2s);
    }
    CHECK(site.refused(kLowest) < 0.2);
  }
}

TEST_CASE("for want of capacity the lowest class goes on to be refused") {
  // What exceeds 400 requests a second fails, of all classes alike.
  const auto by_load = [](std::size_t, double load) { return std::max(0.0, 1 - 400 / load); };
  for (const std::uint64_t seed : {1, 2, 3}) {
    CAPTURE(seed);
    FailingSite site(by_load, seed);
    site.run(600s);
    CHECK(site.refused(kLowest) > 0.4);
    CHECK(site.refused(kHighest) == 0);
    CHECK_FALSE(site.is_futile());
  }
}
