// Lanes in which this proxy wrote down jobs that it may not have room for. What it cannot take is
// announced to the others on the store; what it can is not, so a proxy that keeps up is silent, and
// no others run for the same job. And cancels of jobs that another proxy has in hand.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <vector>

#include "base/time.hpp"
#include "jobs/rotor.hpp"
#include "store/contract/command.hpp"

namespace spillway::proxy {

class JobNews {
 public:
  // There are others. Without them there is nothing to tell.
  void share() { is_shared_ = true; }
  // A job waits in the lane.
  void wrote(const jobs::Lane& lane);
  // The lanes to be announced now, and forgotten. Those without jobs by now are forgotten; those
  // that have room wait for what becomes of them.
  std::vector<jobs::Lane> take(const jobs::Rotor& rotor, const jobs::Rotor::Room& room,
                               TimePoint now, jobs::WallTime wall);
  void cancelled(const store::AskedCancel& cancel);
  std::vector<store::AskedCancel> take_cancels(TimePoint now);
  // When there may be some to take; nullopt: there is nothing to tell.
  std::optional<TimePoint> next_due() const;

  // Between two announcements: commits with one wait for each other, those of all proxies. With
  // nothing but such commits four connections did 40 % of what they do without.
  static constexpr Milliseconds kEvery{100};
  static constexpr std::size_t kMostLanes = 256;
  static constexpr std::size_t kMostCancels = 64;  // at a time; their clients may ask again

 private:
  bool is_shared_ = false;
  std::set<jobs::Lane> lanes_;
  TimePoint next_{};
  std::vector<store::AskedCancel> cancels_;
  TimePoint next_cancels_{};
};

}  // namespace spillway::proxy
