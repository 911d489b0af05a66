// State of the jobs handed to workers, shared with the thread with the store: which jobs are
// withdrawn, and how many jobs of a route may begin. Thread-safe as far as its parts are.
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <string>

#include "jobs/begin_rate.hpp"
#include "proxy/jobs/withdrawals.hpp"

namespace spillway::proxy {

class HandedJobs {
 public:
  Withdrawals& withdrawals() { return withdrawals_; }
  // For the route of that name, in every configuration.
  jobs::BeginRate& begin_rate(const std::string& route) const {
    const std::lock_guard lock(mutex_);
    return rates_[route];
  }

 private:
  Withdrawals withdrawals_;
  mutable std::mutex mutex_;  // guards:
  mutable std::map<std::string, jobs::BeginRate, std::less<>> rates_;
};

}  // namespace spillway::proxy
