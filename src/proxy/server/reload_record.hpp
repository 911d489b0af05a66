// The number of reloads, and why the last one failed. Thread-safe: the reload thread writes, the
// admin pages read.
#pragma once

#include <mutex>

#include "observe/snapshot/snapshot.hpp"
#include "proxy/generation/reload_result.hpp"

namespace spillway::proxy {

class ReloadRecord {
 public:
  void add(const ReloadResult& result) {
    const std::lock_guard lock(mutex_);
    ++(result.problems.empty() ? reloads_.done : reloads_.failed);
    reloads_.problems.clear();
    for (const config::Problem& each : result.problems)
      reloads_.problems.push_back(each.path + ": " + each.message);
  }
  // Does not fill in generations.
  observe::Reloads read() const {
    const std::lock_guard lock(mutex_);
    return reloads_;
  }

 private:
  mutable std::mutex mutex_;
  observe::Reloads reloads_;
};

}  // namespace spillway::proxy
