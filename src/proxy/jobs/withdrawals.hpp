// Cancels of jobs that this proxy has in hand and has not sent yet.
//
// For the store such a job has begun: it is leased. Only its worker knows whether its request was
// sent. So a cancel that the store has refused waits here until that worker has reported to the
// store how the job ended. A job can be withdrawn until its worker closes it, once.
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

// Delays after which a cancel of a job that another proxy has in hand is tried again: that proxy is
// told within 100 ms, and its workers check every 50 ms.
inline constexpr std::array<Milliseconds, 4> kCancelAgain{Milliseconds{100}, Milliseconds{100},
                                                          Milliseconds{200}, Milliseconds{400}};

class Withdrawals {
 public:
  // --- For the store's thread:
  // From now on the job can be withdrawn.
  void open(const jobs::JobId& id);
  // A Cancel that came to another proxy: like wait(), but no call waits here.
  bool ask(const jobs::JobId& id, jobs::Cause cause);
  // True: the call is a Cancel of a job that can be withdrawn, and its worker will see that. The
  // call is answered by settled() or give_up().
  bool wait(StoreCall& call);
  // The store has the end of a job. Returns the cancels that waited for it, answered.
  std::vector<StoreCall*> settled(const store::Settle& settle);
  // All that wait: it is unknown when the store will be told. Their jobs stay withdrawn.
  std::vector<StoreCall*> give_up();

  // --- For workers:
  // Its request is about to be sent, or will not be: it can no longer be withdrawn. Returns by whom
  // it was withdrawn, if it was: then it must not be sent.
  std::optional<jobs::Cause> close(const jobs::JobId& id);
  // It was withdrawn, and has not been closed.
  bool has(const jobs::JobId& id) const;

 private:
  mutable std::mutex mutex_;  // guards:
  std::map<jobs::JobId, std::optional<jobs::Cause>> open_;
  std::atomic<std::size_t> withdrawn_{0};  // number of withdrawn jobs among these
  // For the store's thread only.
  std::multimap<jobs::JobId, StoreCall*> waiting_;
};

}  // namespace spillway::proxy
