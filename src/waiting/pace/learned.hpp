// What a waiting room has learned of its own course: how fast calls go, how many visitors of each
// tier come, who leaves, who does not come when called, and how good its estimates were.
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
  // What has happened since the last tick.
  struct Events {
    double calls = 0;  // less those that were missed; of who was away, when it comes
    double left = 0;   // who waited
    double ended = 0;  // sessions
    std::array<double, kMostTiers> came{};  // tickets, by tier

    template <class Self, class Archive>
    static void fields(Self& self, Archive& archive) {
      archive(self.calls, self.left, self.ended, self.came);
    }
  };
  // `is_used`: somebody waited, and calls were not paused. `waiting`: who could leave.
  void observe(double seconds, const Events& events, bool is_used, std::size_t waiting);
  // So many sessions were open for so long, and some ended, while calls waited for ends.
  void observe_stay(double seconds, std::size_t sessions, double ended) {
    stay_.observe(seconds, sessions, ended);
  }
  const ShownStay& stay() const { return stay_; }
  // Other tiers: who came of which is not known any more.
  void forget_tiers() { came_ = {}; }

  // A call after which somebody came at once, or nobody.
  void came() { no_shows_ -= no_shows_ * kNoShowStep; }
  void did_not_come();
  double no_shows() const { return no_shows_; }  // share of calls
  // Likewise of calls of visitors that were away.
  void away_came() { away_come_ += (1 - away_come_) * kNoShowStep; }
  void away_did_not_come() { away_come_ -= away_come_ * kNoShowStep; }
  double away_come() const { return away_come_; }  // share

  bool knows_calls() const { return calls_.is_known(); }
  const LearnedRate& calls() const { return calls_; }
  double dispersion() const { return dispersion_.index(); }  // of their number

  // Tickets that are made in higher tiers than this.
  double higher_per_second(std::size_t tier) const {
    double sum = 0;
    for (std::size_t higher = 0; higher < tier; ++higher) sum += came_[higher].per_second();
    return sum;
  }

  // Where a visitor stands, of those who were heard of lately.
  struct Standing {
    std::size_t tier = 0;      // its number
    std::size_t own = 0;       // before it in its tier
    std::size_t higher = 0;    // in higher tiers
    double share = 0;          // of its tier
    double lower_shares = 0;   // of lower tiers that have somebody
    std::size_t sessions = 0;  // that end and make room, if they are what calls wait for
  };
  // What its wait follows: the line of all who go before, or the share of its tier alone, whichever
  // is sooner. nullopt: it is not known.
  struct Course {
    std::size_t ahead = 0;
    Flow flow;
  };
  std::optional<Course> course(const Standing& standing) const;

  // Calls stand still. What was told before does not say how good estimates are.
  void interrupt(Time now) { interrupted_ = now; }
  // The bounds that calls wait for are other ones from now on, and calls so many times as frequent.
  void change_pace(double times, Time now) {
    calls_.scale(times);
    dispersion_.scale(times);
    interrupt(now);
  }
  // It is called; `joined` as when it was told.
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

  LearnedRate calls_;  // that are not missed, while somebody waits
  Dispersion dispersion_;
  std::array<LearnedRate, kMostTiers> came_;  // likewise; of all but the lowest
  LeaveRate leaving_;
  ShownStay stay_;
  double no_shows_ = 0.1;
  double away_come_ = 0.8;
  double seconds_ = 0;  // that calls_ was observed
  Time interrupted_{};
  Honesty honesty_;
};

}  // namespace spillway::waiting
