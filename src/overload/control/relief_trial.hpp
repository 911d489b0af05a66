// A trial that shows whether refusing requests because of an upstream's errors relieves it.
//
// A lower error rate does not show it: where some requests fail at any load, refusing a class
// refuses these too, and the rate falls with them. So after a while all requests are let in again
// for some seconds, and the error rates of each class with and without refusals are compared, both
// weighted by the classes' shares of the answers while all are let in (direct standardization:
// Neison, "On a method recently proposed for conducting inquiries into the comparative sanatory
// condition of various districts", J. Stat. Soc. London 7, 1844). Requests that fail for lack of
// capacity fail less often in each class while fewer come; those that fail anyway do not, however
// many clients, paths, tenants and routes they come from. A difference that may be chance (a test
// of two proportions with few errors) is no verdict: the trial is repeated, and earlier counts are
// kept.
//
// Pure; stepped by the control tick.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "base/time.hpp"
#include "overload/signals/class_answers.hpp"

namespace spillway::overload {

class ReliefTrial {
 public:
  enum class Verdict : std::uint8_t { none, relieves, futile };

  // Call every tick. `answers`: all so far. `is_refusing`: some are refused. `now` never goes back.
  Verdict step(const ClassAnswers& answers, bool is_refusing, TimePoint now);

  // All requests are let in at present.
  bool lets_in() const { return released_.has_value(); }

  // The last trial showed that refusing relieves the upstream.
  bool has_relieved() const { return last_verdict_ == Verdict::relieves; }

  // Keeps the results of the former trials.
  void continue_from(const ReliefTrial& former) {
    interval_ = former.interval_;
    last_verdict_ = former.last_verdict_;
  }

  // Back to the initial state: nothing is known of the upstream.
  void forget() { *this = {}; }

 private:
  void count_refused(const ClassAnswers& growth, Duration passed, TimePoint now);
  Verdict count_let_in(const ClassAnswers& growth, TimePoint now);

  ClassAnswers last_;
  std::optional<TimePoint> last_at_;
  Duration interval_ = kFirstRefusing;  // time of refusing before all are let in
  Duration refused_for_{0};             // so far, not counting times without refusals
  ClassAnswers refused_, let_in_;
  std::optional<TimePoint> released_;
  Verdict last_verdict_ = Verdict::none;

  static constexpr Duration kFirstRefusing = std::chrono::seconds(14);
};

}  // namespace spillway::overload
