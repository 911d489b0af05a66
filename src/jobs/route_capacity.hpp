// What a route's `defer` says of its jobs, and how many of them may be pulled now. The proxy and
// the simulator ask these.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/state.hpp"
#include "base/time.hpp"
#include "config/defer.hpp"
#include "jobs/life.hpp"

namespace spillway::jobs {

// The rank of jobs below all classes.
inline constexpr std::uint8_t kLowestRank = 255;

inline std::uint8_t rank_of(const config::Defer& defer) {
  return defer.traffic_class ? static_cast<std::uint8_t>(*defer.traffic_class) : kLowestRank;
}

inline Policy policy_of(const config::Defer& defer) {
  return {.max_attempts = defer.max_attempts,
          .backoff_base = defer.backoff.base,
          .backoff_max = defer.backoff.max,
          .retry_unanswered = defer.retry_unanswered};
}

// Of all routes together: not more jobs than that are pulled and have not ended. An upstream has at
// most as many of them as are left (dynamic thresholds: Choudhury and Hahne, IEEE/ACM ToN 1998):
// one alone half of all, two a third each, so that one that answers nothing leaves room to others.
inline constexpr std::size_t kMostInHand = 1024;

// How a job in hand got no slot.
enum class NoSlot : std::uint8_t {
  refused,  // as a live request of the class that its route names for jobs
  waited,   // for a spare one, for as long as it may
};

// A job that is refused as a live request of its class takes, as jobs without a class do, a slot
// that no request wants, and waits for one so long: live requests wait for less time than jobs run,
// so that slots would be left unused beside a backlog. While its upstream refuses live requests
// there is none to spare.
inline constexpr Milliseconds kSpareWait{1000};
inline bool has_spare_slots(State state) { return state == State::normal; }

// Room for jobs of one route. A few more are pulled than run at its upstream, so that a slot that
// gets free finds one waiting at the gate: at least 8, at most as many as run. Jobs of a lower rank
// that wait there do not count: the gate lets those of a higher one pass, so they would keep these
// in the store for nothing. Nor do those that wait for the rate of their route.
class RouteCapacity {
 public:
  struct Upstream {
    State state = State::normal;
    std::size_t in_hand = 0;         // jobs that were pulled and have not ended
    std::size_t running = 0;         // of these, those that have a slot
    std::size_t passed = 0;          // of these, those that this route's jobs need not wait for
    std::size_t asked = 0;           // jobs that the store is being asked for
    std::size_t left = kMostInHand;  // of those, beside what all upstreams have or are asked for
  };

  // Of the route, where the proxy has a share of its caps.
  struct Caps {
    std::optional<std::size_t> concurrency{};  // nullopt: all of it
    std::size_t soon = kMostInHand;            // so many more may begin soon (BeginRate)
    std::size_t running = 0;                   // those that have begun
  };

  // 0 as well while the route pauses or rests, and while its upstream refuses live requests: then
  // there is no room to spare, unless the route names a class for its jobs.
  std::size_t room(const config::Defer& defer, const Upstream& upstream, TimePoint now,
                   const Caps& caps) const;
  std::size_t room(const config::Defer& defer, const Upstream& upstream, TimePoint now) const {
    return room(defer, upstream, now, {});
  }
  // Jobs of the route that are in hand, or for which the store is being asked.
  std::size_t in_use() const { return in_hand_ + asked_; }
  // Of these, those that have not begun.
  std::size_t ahead(std::size_t running) const;
  // When that is to be asked again: what is due and was not pulled has no room for a reason of
  // which nobody tells when it ends, as a slot that gets free.
  static constexpr Milliseconds kLookAgain{20};
  TimePoint room_from(TimePoint now) const;

  // The store is asked for so many jobs, which have no room twice; and has answered with so many.
  void ask(std::size_t jobs) { asked_ += jobs; }
  void answered(std::size_t asked, std::size_t pulled);
  // One of them has ended, or waits again.
  void ended() { --in_hand_; }

  // Nothing can be sent: a second, then each time twice as long, 30 s at most. Longer if `until` is
  // later, but no longer than these 30 s. While it pauses nothing changes.
  void pause(TimePoint now, TimePoint until);
  // The upstream has refused a job of the route, and asks that it be left alone until then (503
  // with Retry-After). That may be about this job alone, so the route goes on if another one has
  // succeeded since the refusal before. Else it pauses until then: 30 s at most, and no longer than
  // the last success is ago, so that a few such jobs in a row do not stop it for long.
  void refused(TimePoint now, TimePoint until);
  bool pauses(TimePoint now) const { return now < paused_until_; }
  // A job got no slot: for a while there is no room, so that those that are given back do not come
  // at once. It was refused: 100 ms, then each time twice as long, a second at most, until one is
  // tried. It waited in vain: a second, so that another proxy can have it, unless a slot gets free
  // here. While it rests nothing changes. The operator is told of no pause, since others wait for
  // room as well.
  void rest(TimePoint now, NoSlot how);
  // An attempt has ended: the next rest is short again, and there is a slot to wait for.
  void tried();
  // A job has succeeded: the next pause is short again.
  void succeeded(TimePoint now) {
    last_pause_ = {};
    last_success_ = now;
  }

 private:
  std::size_t in_hand_ = 0;
  std::size_t asked_ = 0;
  TimePoint paused_until_{};
  TimePoint rests_until_{};
  bool rests_for_slot_ = false;  // it waited in vain
  Duration last_rest_{};
  Duration last_pause_{};
  TimePoint last_success_{};
  TimePoint last_refusal_{};
};

}  // namespace spillway::jobs
