// Whether requests that are refused for an upstream's errors relieve it.
//
// A lower error rate does not say so: where some requests fail whatever the load, refusing a class
// refuses these too, and the rate falls with them. So after a while all requests are let in again
// for some seconds, and the error rates of each class with and without the refusing are compared,
// both with the classes' parts of the answers as they are when all are let in (direct
// standardization: Neison, "On a method recently proposed for conducting inquiries into the
// comparative sanatory condition of various districts", J. Stat. Soc. London 7, 1844). What fails
// for want of capacity fails less often in each class while fewer come; what fails anyway does not,
// from however many clients, paths, tenants and routes it comes. A difference that may be chance
// (two proportions of few errors) is no verdict: the trial is repeated, and what was seen counts
// on.
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

  // Every tick. `answers`: all so far. `is_refusing`: requests are refused. `now` never goes back.
  Verdict step(const ClassAnswers& answers, bool is_refusing, TimePoint now);

  // All requests are let in for the moment.
  bool lets_in() const { return released_.has_value(); }

  // The last trial showed that refusing relieves.
  bool has_relieved() const { return last_verdict_ == Verdict::relieves; }

  // What the former trials showed.
  void continue_from(const ReliefTrial& former) {
    interval_ = former.interval_;
    last_verdict_ = former.last_verdict_;
  }

  // As at first: nothing is known of the upstream.
  void forget() { *this = {}; }

 private:
  void count_refused(const ClassAnswers& growth, Duration passed, TimePoint now);
  Verdict count_let_in(const ClassAnswers& growth, TimePoint now);

  ClassAnswers last_;
  std::optional<TimePoint> last_at_;
  Duration interval_ = kFirstRefusing;  // of refusing, before all are let in
  Duration refused_for_{0};             // so far, with pauses where nothing was refused
  ClassAnswers refused_, let_in_;
  std::optional<TimePoint> released_;
  Verdict last_verdict_ = Verdict::none;

  static constexpr Duration kFirstRefusing = std::chrono::seconds(14);
};

}  // namespace spillway::overload
