#include "overload/control/relief_trial.hpp"

#include <doctest/doctest.h>

#include <array>

#include "base/random.hpp"

using namespace spillway;
using namespace spillway::overload;
using namespace std::chrono_literals;

namespace {

using Verdict = ReliefTrial::Verdict;

// Of three classes, while they are refused and while all are let in.
struct Upstream {
  struct One {
    double rate;    // answers per second
    double errors;  // part of them
  };
  std::array<One, 3> refused, let_in;
};

// What fails is P1's: a third of its requests, whatever the load. Half of P1 is refused, and all of
// P2: so a sixth of the answers are errors in place of a fifth.
constexpr Upstream kFailingRequests{
    .refused = {{{100, 0}, {155, 11.0 / 31}, {0, 0}}},
    .let_in = {{{100, 0}, {310, 11.0 / 31}, {140, 0}}},
};

// A fifth of each class fails for want of capacity, which refusing nearly ends.
constexpr Upstream kOverloaded{
    .refused = {{{100, 0.1}, {155, 0.1}, {0, 0}}},
    .let_in = {{{100, 0.2}, {310, 0.2}, {140, 0.2}}},
};

class Trial {
 public:
  explicit Trial(std::uint64_t seed) : random_(seed) {}

  // Until a trial has ended, with so many seconds of refusing before it.
  Verdict next(const Upstream& upstream) {
    refused_ = let_in_ = 0s;
    for (;;) {
      const bool lets_in = trial_.lets_in();
      for (std::size_t i = 0; i < 3; ++i) {
        const Upstream::One& one = (lets_in ? upstream.let_in : upstream.refused)[i];
        for (int n = 0; n < int(one.rate / 10); ++n) {
          const bool fails = random_.uniform() < one.errors;
          ++(fails ? answers_.by[i].failed : answers_.by[i].succeeded);
        }
      }
      now_ += 100ms;
      (lets_in ? let_in_ : refused_) += 100ms;
      const Verdict verdict = trial_.step(answers_, true, now_);
      const bool has_ended = lets_in && !trial_.lets_in();
      if (has_ended || refused_ > 1h) return verdict;
    }
  }

  ReliefTrial& operator*() { return trial_; }
  Duration refused() const { return refused_; }
  Duration let_in() const { return let_in_; }
  ClassAnswers& answers() { return answers_; }
  TimePoint& now() { return now_; }

 private:
  ReliefTrial trial_;
  ClassAnswers answers_;
  TimePoint now_ = TimePoint{} + 1h;
  Random random_;
  Duration refused_{0}, let_in_{0};
};

}  // namespace

TEST_CASE("requests that fail whatever the load are no reason to refuse") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    CAPTURE(seed);
    Trial trial(seed);
    CHECK(trial.next(kFailingRequests) == Verdict::futile);
    CHECK(to_seconds(trial.refused()) == doctest::Approx(14).epsilon(0.02));
    CHECK(to_seconds(trial.let_in()) == doctest::Approx(6).epsilon(0.04));
    CHECK_FALSE((*trial).lets_in());
  }
}

TEST_CASE("errors for want of capacity are, which is seen soon and asked ever more seldom") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    CAPTURE(seed);
    Trial trial(seed);
    Duration let_in{0};
    for (const double interval : {14, 28, 56, 112, 224, 320, 320}) {
      CHECK(trial.next(kOverloaded) == Verdict::relieves);
      CHECK(to_seconds(trial.refused()) == doctest::Approx(interval).epsilon(0.02));
      let_in += trial.let_in();
    }
    CHECK(let_in < 7 * 3s);  // on average
    // And when it has become the other, once more.
    CHECK(trial.next(kFailingRequests) == Verdict::futile);
    CHECK(trial.next(kFailingRequests) == Verdict::futile);
    CHECK(to_seconds(trial.refused()) == doctest::Approx(14).epsilon(0.02));
  }
}

// Of each hundred answers two: what a trial compares is a handful of errors.
TEST_CASE("a difference that may be chance is no verdict, and the trial is repeated") {
  constexpr Upstream kFewErrors{
      .refused = {{{20, 0.02}, {60, 0.02}, {0, 0}}},
      .let_in = {{{20, 0.02}, {60, 0.02}, {120, 0.02}}},
  };
  constexpr Upstream kHalved{
      .refused = {{{20, 0.06}, {60, 0.06}, {0, 0}}},
      .let_in = {{{20, 0.12}, {60, 0.12}, {120, 0.12}}},
  };
  const auto relieved = [](const Upstream& upstream, Duration& refused) {
    int count = 0;
    for (std::uint64_t seed = 1; seed <= 200; ++seed) {
      Trial trial(seed);
      Verdict verdict = Verdict::none;
      while (verdict == Verdict::none) {
        verdict = trial.next(upstream);
        refused += trial.refused();
      }
      count += verdict == Verdict::relieves ? 1 : 0;
    }
    return count;
  };
  Duration refused{0};
  CHECK(relieved(kFewErrors, refused) <= 200 / 20);
  CHECK(refused / 200 < 25s);  // on average
  CHECK(relieved(kHalved, refused) >= 200 * 0.95);
}

TEST_CASE("the classes' parts of the answers do not decide") {
  // The error rate falls from 20 to 10 %, but not that of P1, which was refused more.
  Upstream fewer = kFailingRequests;
  fewer.refused = {{{100, 0}, {40, 11.0 / 31}, {0, 0}}};
  // It rises to 22 %, since P2, which fails seldom, is refused; P0 and P1 fail half as often.
  Upstream more = kOverloaded;
  more.refused = {{{100, 0.22}, {155, 0.22}, {0, 0}}};
  more.let_in = {{{100, 0.45}, {310, 0.45}, {800, 0.05}}};
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    CAPTURE(seed);
    CHECK(Trial(seed).next(fewer) == Verdict::futile);
    CHECK(Trial(seed).next(more) == Verdict::relieves);
  }
}

TEST_CASE("without answers enough nothing is known, and it is asked ever more seldom") {
  Upstream idle = kOverloaded;
  for (auto& one : idle.refused) one.rate = 0;
  Trial trial(1);
  for (const double interval : {14, 28, 56}) {
    CHECK(trial.next(idle) == Verdict::none);
    CHECK(to_seconds(trial.refused()) == doctest::Approx(interval).epsilon(0.02));
  }
}

TEST_CASE("time without refusing and what came before the first step do not count") {
  Trial trial(1);
  trial.answers().by[0].failed = 1'000'000;
  for (int n = 0; n < 600; ++n) {
    trial.now() += 100ms;
    CHECK((*trial).step(trial.answers(), n == 0, trial.now()) == Verdict::none);
  }
  CHECK_FALSE((*trial).lets_in());
  CHECK(trial.next(kOverloaded) == Verdict::relieves);
}

TEST_CASE("counters that wrap are no trouble") {
  for (const Upstream& upstream : {kFailingRequests, kOverloaded}) {
    Trial trial(1);
    for (auto& one : trial.answers().by) one = {UINT32_MAX - 100, UINT32_MAX - 10};
    const bool is_load = upstream.refused[0].errors > 0;
    CHECK(trial.next(upstream) == (is_load ? Verdict::relieves : Verdict::futile));
  }
}
