// The time by which jobs are accepted, due and ended. A store that several proxies share has a
// clock of its own, and what is written into it goes by that, whatever the machine's says: a proxy
// that is an hour ahead would retry an hour late. With any other store it is the machine's.
// Thread-safe but for follow() and learn(), which are for one thread.
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
  // What the store said between these two; kNoTime: it has no clock. What took long says little,
  // and is not taken in place of what is known.
  void learn(jobs::WallTime told, TimePoint asked, TimePoint answered);
  // The machine's clock tells that. Its steps forward count once they have lasted, so that a wrong
  // time lets no job expire. To be told at least each second; of no account where a store has told.
  void follow(jobs::WallTime machine, TimePoint now);

 private:
  jobs::WallTime at(TimePoint time) const;
  void set(jobs::WallTime wall, TimePoint at);

  std::atomic<Milliseconds::rep> zero_{0};  // the time when the steady clock was 0
  bool is_of_store_ = false;
  jobs::BelievedTime believed_;
};

}  // namespace spillway::proxy
