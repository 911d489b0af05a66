// After a restart: tickets and sessions that the former process may not have stored in time. A
// visitor's token is signed and has a time, so that a token from the last moments is enough to
// continue, unless its ticket or session is known to have ended.
#pragma once

#include <algorithm>
#include <set>

#include "waiting/ticket/archive.hpp"
#include "waiting/ticket/ticket.hpp"

namespace spillway::waiting {

class Recovery {
 public:
  // Tokens of that time are accepted for this long. Waiting visitors poll much more often.
  static constexpr Milliseconds kOpen{600'000};
  // It closes after more ends than this, since it keeps each of them.
  static constexpr std::size_t kMostEnded = 100'000;

  // Changes from `from` on may be missing; from `until` to `now` there was no process to make any.
  void begin(Time from, Time until, Time now) {
    from_ = from;
    began_ = now;
    down_ = std::max(now - until, Milliseconds(0));
    until_ = now + kOpen;
  }
  void ended(const TicketId& id, Time now) {
    if (now >= until_) return;
    ended_.insert(id);
    if (ended_.size() > kMostEnded) close();
  }
  // `time`: of the token.
  bool covers(const TicketId& id, Time time, Time now) const {
    return now < until_ && time >= from_ && time < began_ && !ended_.contains(id);
  }
  // How long ago `time` was, counting only time in which there was a process.
  Milliseconds age(Time time, Time now) const { return now - time - down_; }
  bool has_ended(const TicketId& id) const { return ended_.contains(id); }
  void tick(Time now) {
    if (!ended_.empty() && now >= until_) close();
  }

 private:
  friend struct Archived;
  template <class Self, class Archive>
  static void fields(Self& self, Archive& archive) {
    archive(self.from_, self.began_, self.until_, self.down_, self.ended_);
  }

  void close() {
    until_ = {};
    ended_.clear();
  }

  Time from_{};
  Time began_{};
  Time until_{};
  Milliseconds down_{0};
  std::set<TicketId> ended_;
};

}  // namespace spillway::waiting
