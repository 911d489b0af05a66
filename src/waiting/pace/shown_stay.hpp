// How long sessions last, estimated also while most of them are still open (censored): the time
// spent by all over the number that have ended is the maximum likelihood estimate of an exponential
// law. It rests on the last ends, and on sessions of a room that lets visitors in.
#pragma once

#include <algorithm>
#include <cstddef>

#include "waiting/ticket/archive.hpp"

namespace spillway::waiting {

class ShownStay {
 public:
  // A longer step is an outage, in which no session could end.
  static constexpr double kLongestStep = 5;

  void observe(double seconds, std::size_t sessions, double ended) {
    if (seconds > kLongestStep) return;
    spent_ += seconds * static_cast<double>(sessions);
    ended_ += ended;
    // Sessions that began together end together: of two generations half of one may be missing.
    const double last = std::max(kLast, 2 * static_cast<double>(sessions));
    if (ended_ <= last) return;
    spent_ *= last / ended_;
    ended_ = last;
  }

  // `guess`: the value assumed before, counted as one session of that length that has ended; it
  // counts the less, the more the sessions have shown.
  double seconds(double guess) const { return (guess + spent_) / (1 - evidence(guess) + ended_); }
  bool has_shown() const { return spent_ > 0; }
  // Weight of the sessions against the guess: 0 to 1.
  double evidence(double guess) const { return spent_ / (guess + spent_); }
  // Variance of the observed mean length over its square.
  double doubt() const { return 1 / (1 + ended_); }

 private:
  friend struct Archived;
  template <class Self, class Archive>
  static void fields(Self& self, Archive& archive) {
    archive(self.spent_, self.ended_);
  }

  // Low, so that it adapts soon to a crowd that stays longer or shorter than visitors before.
  static constexpr double kLast = 100;

  double spent_ = 0;  // seconds
  double ended_ = 0;
};

}  // namespace spillway::waiting
