// Announcements to other proxies on the store: lanes in which this proxy has stored jobs that it
// may not have room for, and cancels of jobs that another proxy has in hand. Lanes that it has room
// for are not announced, so a proxy that keeps up is silent, and none race for the same job.
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
  // Other proxies use the store too. Without them nothing is announced.
  void share() { is_shared_ = true; }
  // A job was stored in the lane.
  void wrote(const jobs::Lane& lane);
  // Returns the lanes to announce now and forgets them, and also lanes that have no jobs any more;
  // lanes for which there is room wait until it is clear what happens to them.
  std::vector<jobs::Lane> take(const jobs::Rotor& rotor, const jobs::Rotor::Room& room,
                               TimePoint now, jobs::WallTime wall);
  void cancelled(const store::AskedCancel& cancel);
  std::vector<store::AskedCancel> take_cancels(TimePoint now);
  // When there may be some to take; nullopt: there is nothing to announce.
  std::optional<TimePoint> next_due() const;

  // Between two announcements: commits with one wait for each other, across all proxies. With only
  // such commits four connections did 40 % of what they do without.
  static constexpr Milliseconds kEvery{100};
  static constexpr std::size_t kMostLanes = 256;
  static constexpr std::size_t kMostCancels = 64;  // at a time; their clients may try again

 private:
  bool is_shared_ = false;
  std::set<jobs::Lane> lanes_;
  TimePoint next_{};
  std::vector<store::AskedCancel> cancels_;
  TimePoint next_cancels_{};
};

}  // namespace spillway::proxy
