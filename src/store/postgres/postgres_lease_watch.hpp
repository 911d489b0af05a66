// How long each proxy's lease has had the same end, by this proxy's own clock. A lease that is over
// by the database's clock may only mean that this clock was set forward: a live proxy renews its
// lease, and so moves its end.
#pragma once

#include <map>
#include <vector>

#include "base/time.hpp"
#include "store/contract/command.hpp"

namespace spillway::store {

class PostgresLeaseWatch {
 public:
  struct One {
    Epoch epoch = 0;
    jobs::WallTime lease_end{};

    bool operator==(const One&) const = default;
  };

  // All registered proxies, as of `at`.
  void see(const std::vector<One>& leases, TimePoint at) {
    std::map<Epoch, Seen> seen;
    for (const One& one : leases) {
      const auto before = seen_.find(one.epoch);
      const bool is_same = before != seen_.end() && before->second.lease_end == one.lease_end;
      seen[one.epoch] = is_same ? before->second : Seen{one.lease_end, at};
    }
    seen_ = std::move(seen);
  }

  // Proxies whose lease end had not changed for this long when last seen, whatever the end is.
  std::vector<One> silent_for(Duration time, TimePoint at) const {
    std::vector<One> silent;
    for (const auto& [epoch, seen] : seen_) {
      if (at - seen.since >= time) silent.push_back({epoch, seen.lease_end});
    }
    return silent;
  }

 private:
  struct Seen {
    jobs::WallTime lease_end{};
    TimePoint since{};
  };

  std::map<Epoch, Seen> seen_;
};

}  // namespace spillway::store
