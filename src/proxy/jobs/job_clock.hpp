// The time at which jobs are accepted, due and ended. A store that several proxies share has its
// own clock, and times written to it use that, whatever the machine's clock says: a proxy that is
// an hour ahead would retry an hour late. With any other store it is the machine's clock.
// Thread-safe except for follow() and learn(), which are for one thread.
#pragma once

#include <atomic>

#include "base/time.hpp"
#include "jobs/believed_time.hpp"
#include "jobs/job.hpp"

namespace spillway::proxy {

class JobClock {
 public:
  JobClock();

  jobs::WallTime now() const;
  // The time that the store returned between these two; kNoTime: it has no clock. An answer that
  // took long is imprecise, and does not replace what is known.
  void learn(jobs::WallTime told, TimePoint asked, TimePoint answered);
  // The time of the machine's clock. Its steps forward count once they have lasted, so a wrong time
  // lets no job expire. To be called at least each second; ignored once a store's time is known.
  void follow(jobs::WallTime machine, TimePoint now);

 private:
  jobs::WallTime at(TimePoint time) const;
  void set(jobs::WallTime wall, TimePoint at);

  std::atomic<Milliseconds::rep> zero_{0};  // the time at which the steady clock was 0
  bool is_of_store_ = false;
  jobs::BelievedTime believed_;
};

}  // namespace spillway::proxy
