// Cancels of jobs that this proxy has in hand and of which nothing was sent yet.
//
// To the store such a job has begun: it is leased. Whether its request was sent only the worker
// knows that has it. So a cancel that the store has refused waits here until that worker has told
// the store how the job ended. A job can be withdrawn until its worker closes it, once.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <map>
#include <mutex>
#include <optional>
#include <vector>

#include "base/time.hpp"
#include "jobs/job.hpp"
#include "proxy/jobs/store_call.hpp"

namespace spillway::proxy {

// After which a cancel of a job that another proxy has in hand is tried again: that one is told
// within 100 ms, and its workers look each 50 ms.
inline constexpr std::array<Milliseconds, 4> kCancelAgain{Milliseconds{100}, Milliseconds{100},
                                                          Milliseconds{200}, Milliseconds{400}};

class Withdrawals {
 public:
  // --- Of the store's thread:
  // From now on the job can be withdrawn.
  void open(const jobs::JobId& id);
  // A Cancel that came to another proxy: as wait(), without a call that waits here.
  bool ask(const jobs::JobId& id, jobs::Cause cause);
  // True: the call is a Cancel of a job that can be withdrawn, which is told to its worker. The
  // call is answered by settled() or give_up().
  bool wait(StoreCall& call);
  // The end of a job was told to the store. The cancels that have waited for it, answered.
  std::vector<StoreCall*> settled(const store::Settle& settle);
  // All that wait: it is not known when the store is told. Their jobs stay withdrawn.
  std::vector<StoreCall*> give_up();

  // --- Of workers:
  // Its request is about to be sent, or will not be: it cannot be withdrawn any more. By whom it
  // was withdrawn, if it was: then it must not be sent.
  std::optional<jobs::Cause> close(const jobs::JobId& id);
  // It was withdrawn, and is not closed.
  bool has(const jobs::JobId& id) const;

 private:
  mutable std::mutex mutex_;  // of this:
  std::map<jobs::JobId, std::optional<jobs::Cause>> open_;
  std::atomic<std::size_t> withdrawn_{0};  // of these
  // The store's thread's own.
  std::multimap<jobs::JobId, StoreCall*> waiting_;
};

}  // namespace spillway::proxy
