// Figures that a waiting room learns from its past: the rate of calls, how many visitors of each
// tier come, leave, or miss their call, and how good its estimates were.
#pragma once

#include <array>
#include <cstddef>
#include <optional>

#include "waiting/pace/estimate.hpp"
#include "waiting/pace/rates.hpp"
#include "waiting/pace/shown_stay.hpp"
#include "waiting/pace/told.hpp"
#include "waiting/ticket/archive.hpp"
#include "waiting/ticket/tier.hpp"

namespace spillway::waiting {

class Learned {
 public:
  // Events since the last tick.
  struct Events {
    double calls = 0;                       // less missed ones; an absent visitor's when it comes
    double left = 0;                        // waiting tickets that left
    double ended = 0;                       // sessions
    std::array<double, kMostTiers> came{};  // new tickets, by tier

    template <class Self, class Archive>
    static void fields(Self& self, Archive& archive) {
      archive(self.calls, self.left, self.ended, self.came);
    }
  };
  // `is_used`: tickets waited, and calls were not paused. `waiting`: tickets that could leave.
  void observe(double seconds, const Events& events, bool is_used, std::size_t waiting);
  // `sessions` were open for `seconds`, and `ended` of them ended, while calls waited for ends.
  void observe_stay(double seconds, std::size_t sessions, double ended) {
    stay_.observe(seconds, sessions, ended);
  }
  const ShownStay& stay() const { return stay_; }
  // After a change of tiers: arrivals by tier are not known any more.
  void forget_tiers() { came_ = {}; }

  // Whether a called visitor came at once, or did not.
  void came() { no_shows_ -= no_shows_ * kNoShowStep; }
  void did_not_come();
  double no_shows() const { return no_shows_; }  // share of calls
  // The same for calls of visitors that were away.
  void away_came() { away_come_ += (1 - away_come_) * kNoShowStep; }
  void away_did_not_come() { away_come_ -= away_come_ * kNoShowStep; }
  double away_come() const { return away_come_; }  // share

  bool knows_calls() const { return calls_.is_known(); }
  const LearnedRate& calls() const { return calls_; }
  double dispersion() const { return dispersion_.index(); }  // of the number of calls

  // Rate of new tickets in higher tiers than this.
  double higher_per_second(std::size_t tier) const {
    double sum = 0;
    for (std::size_t higher = 0; higher < tier; ++higher) sum += came_[higher].per_second();
    return sum;
  }

  // Where a visitor stands, among the tickets that polled lately.
  struct Standing {
    std::size_t tier = 0;      // its number
    std::size_t own = 0;       // ahead in its tier
    std::size_t higher = 0;    // ahead in higher tiers
    double share = 0;          // of its tier
    double lower_shares = 0;   // of lower tiers with present tickets
    std::size_t sessions = 0;  // that make room when they end, if calls wait for that
  };
  // The course of its wait: behind all that go before, or by its tier's share alone, whichever is
  // sooner. nullopt: not known.
  struct Course {
    std::size_t ahead = 0;
    Flow flow;
  };
  std::optional<Course> course(const Standing& standing) const;

  // Calls have stopped. Estimates announced before do not count towards honesty().
  void interrupt(Time now) { interrupted_ = now; }
  // From now on calls wait for other limits, and are `times` as frequent.
  void change_pace(double times, Time now) {
    calls_.scale(times);
    dispersion_.scale(times);
    interrupt(now);
  }
  // A visitor is called; `joined`: as when the estimate was announced.
  void learn_outcome(const Told& told, Time joined, Time now) {
    if (told.at(joined) > interrupted_) honesty_.learn(told.outcome(now - joined));
  }
  const Honesty& honesty() const { return honesty_; }

 private:
  friend struct Archived;
  template <class Self, class Archive>
  static void fields(Self& self, Archive& archive) {
    archive(self.calls_, self.dispersion_, self.came_, self.leaving_, self.no_shows_,
            self.away_come_, self.stay_, self.seconds_, self.interrupted_, self.honesty_);
  }

  // How quickly the share of no-shows is learned: the last 20 calls count most.
  static constexpr double kNoShowStep = 0.05;

  double haste(std::size_t sessions) const;

  LearnedRate calls_;  // not missed ones, while tickets wait
  Dispersion dispersion_;
  std::array<LearnedRate, kMostTiers> came_;  // the same; all tiers but the lowest
  LeaveRate leaving_;
  ShownStay stay_;
  double no_shows_ = 0.1;
  double away_come_ = 0.8;
  double seconds_ = 0;  // for which calls_ was observed
  Time interrupted_{};
  Honesty honesty_;
};

}  // namespace spillway::waiting
