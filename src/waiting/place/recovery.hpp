// After a restart: who may have had a ticket or a session that the former process did not come to
// write down. What a visitor carries is signed and says since when, so that a token from the last
// moments is enough to go on with, unless what it stands for is known to have ended.
#pragma once

#include <algorithm>
#include <set>

#include "waiting/ticket/archive.hpp"
#include "waiting/ticket/ticket.hpp"

namespace spillway::waiting {

class Recovery {
 public:
  // Tokens of that time are accepted for so long. Who waits asks much more often.
  static constexpr Milliseconds kOpen{600'000};
  // More ends than these close it: each of them is kept.
  static constexpr std::size_t kMostEnded = 100'000;

  // What happened from `from` on may be missing; from `until` to `now` nothing could.
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
  // How long ago that was, of the time in which there was a process.
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
