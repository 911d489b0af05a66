#include "overload/control/relief_trial.hpp"

#include <cmath>
#include <utility>

namespace spillway::overload {
namespace {

using namespace std::chrono_literals;

constexpr Duration kLongestRefusing = 320s;
// Only the end of the refusing counts: before that the share was still growing.
constexpr Duration kCountedRefusing = 8s;
// By then the requests let in are at work, and the earlier errors have been answered.
constexpr Duration kLetInSettles = 1s;
constexpr Duration kLetIn = 5s;
// Refusing relieves if the error rate is at most this share of the rate without it.
constexpr double kRelief = 0.8;
// Answers in all while all are let in; of a class while it is refused.
constexpr std::uint64_t kEnoughLetIn = 20, kEnoughOfClass = 10;
// Standard deviations of a difference: to end a trial early, and not to be taken for chance.
constexpr double kClear = 3;
constexpr double kSure = 2;

struct Rates {
  double refused = 0, let_in = 0;
  double deviation = 0;  // of refused / kRelief - let_in, by chance
  double by_chance = 0;  // of refused - let_in, if refusing changes nothing
  std::uint64_t answers = 0;
};

// Over the classes with enough answers while they are refused.
Rates rates_of(const ClassAnswers& refused, const ClassAnswers& let_in) {
  Rates rates;
  double failed = 0, expected = 0, variance = 0, of_equals = 0;
  for (std::size_t i = 0; i < refused.by.size(); ++i) {
    const ClassAnswers::One& with = refused.by[i];
    const ClassAnswers::One& without = let_in.by[i];
    if (with.all() < kEnoughOfClass) continue;
    const double part = double(without.all());
    const auto spread = [](const ClassAnswers::One& one) {
      return one.error_rate() * (1 - one.error_rate()) / std::max(1.0, double(one.all()));
    };
    failed += without.failed;
    expected += with.error_rate() * part;
    variance += part * part * (spread(with) / (kRelief * kRelief) + spread(without));
    // The test of two proportions for each class: both have the error rate of all its answers.
    const double both = double(with.failed + without.failed) / double(with.all() + without.all());
    of_equals += part * both * (1 - both) * (part / double(with.all()) + 1);
    rates.answers += without.all();
  }
  if (rates.answers == 0) return rates;
  const auto all = double(rates.answers);
  rates.let_in = failed / all;
  rates.refused = expected / all;
  rates.deviation = std::sqrt(variance) / all;
  rates.by_chance = std::sqrt(of_equals) / all;
  return rates;
}

}  // namespace

ReliefTrial::Verdict ReliefTrial::step(const ClassAnswers& answers, bool is_refusing,
                                       TimePoint now) {
  const ClassAnswers growth = last_at_ ? answers.since(last_) : ClassAnswers{};
  const Duration passed = last_at_ ? now - *last_at_ : Duration{0};
  last_ = answers;
  last_at_ = now;
  if (released_) return count_let_in(growth, now);
  if (is_refusing) count_refused(growth, passed, now);
  return Verdict::none;
}

void ReliefTrial::count_refused(const ClassAnswers& growth, Duration passed, TimePoint now) {
  refused_for_ += passed;
  if (refused_for_ > interval_ - kCountedRefusing) refused_ += growth;
  if (refused_for_ >= interval_) released_ = now;
}

ReliefTrial::Verdict ReliefTrial::count_let_in(const ClassAnswers& growth, TimePoint now) {
  const Duration passed = now - *released_;
  if (passed <= kLetInSettles) return Verdict::none;
  let_in_ += growth;
  const Rates rates = rates_of(refused_, let_in_);
  const bool is_known = rates.answers >= kEnoughLetIn && rates.let_in > 0;
  const bool relieves = rates.refused <= kRelief * rates.let_in;
  const bool is_clear =
      is_known && rates.let_in - rates.refused / kRelief > kClear * rates.deviation;
  if (!is_clear && passed < kLetInSettles + kLetIn) return Verdict::none;
  released_.reset();
  refused_for_ = Duration{0};
  const bool is_sure = is_clear || rates.let_in - rates.refused > kSure * rates.by_chance;
  if (is_known && relieves && !is_sure) {
    interval_ = kFirstRefusing;
    return Verdict::none;
  }
  refused_ = let_in_ = {};
  interval_ = relieves || !is_known ? std::min(2 * interval_, kLongestRefusing) : kFirstRefusing;
  if (is_known) last_verdict_ = relieves ? Verdict::relieves : Verdict::futile;
  return is_known ? last_verdict_ : Verdict::none;
}

}  // namespace spillway::overload
