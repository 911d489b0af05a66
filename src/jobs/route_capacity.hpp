// The job settings of a route's `defer`, and how many of its jobs may be pulled now. Used by the
// proxy and the simulator.
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

// For all routes together: at most this many jobs are pulled and have not ended. An upstream gets
// at most as many as are left (dynamic thresholds: Choudhury and Hahne, IEEE/ACM ToN 1998): one
// alone half of all, two a third each, so that one that does not answer leaves room for others.
inline constexpr std::size_t kMostInHand = 1024;

// Why a held job got no slot.
enum class NoSlot : std::uint8_t {
  refused,  // like a live request of the class that its route names for jobs
  waited,   // it waited for a spare slot as long as it may
};

// A job that is refused like a live request of its class uses, like jobs without a class, a slot
// that no request wants, and waits this long for one: live requests wait less time than jobs run,
// so that slots would be unused in spite of a backlog. While its upstream refuses live requests,
// there are no spare slots.
inline constexpr Milliseconds kSpareWait{1000};
inline bool has_spare_slots(State state) { return state == State::normal; }

// Room for jobs of one route. A few more are pulled than run at its upstream, so that a freed slot
// finds one waiting at the gate: at least 8, at most as many as run. Jobs of a lower rank that wait
// there do not count: the gate lets those of a higher rank pass, so they would only keep these in
// the store. Nor do jobs that wait for the rate of their route.
class RouteCapacity {
 public:
  struct Upstream {
    State state = State::normal;
    std::size_t in_hand = 0;         // jobs that were pulled and have not ended
    std::size_t running = 0;         // of these, the jobs that have a slot
    std::size_t passed = 0;          // of these, the jobs that this route's jobs need not wait for
    std::size_t asked = 0;           // jobs that are being claimed from the store
    std::size_t left = kMostInHand;  // of kMostInHand, besides all upstreams' held and claimed jobs
  };

  // For the route, if the proxy has a share of its caps.
  struct Caps {
    std::optional<std::size_t> concurrency{};  // nullopt: the whole cap
    std::size_t soon = kMostInHand;            // how many more may begin soon (BeginRate)
    std::size_t running = 0;                   // jobs that have begun
  };

  // Also 0 while the route pauses or rests, and while its upstream refuses live requests: then
  // there is no spare room, unless the route names a class for its jobs.
  std::size_t room(const config::Defer& defer, const Upstream& upstream, TimePoint now,
                   const Caps& caps) const;
  std::size_t room(const config::Defer& defer, const Upstream& upstream, TimePoint now) const {
    return room(defer, upstream, now, {});
  }
  // Jobs of the route that are held, or are being claimed from the store.
  std::size_t in_use() const { return in_hand_ + asked_; }
  // Of these, the jobs that have not begun.
  std::size_t ahead(std::size_t running) const;
  // When to call room() again: due jobs that were not pulled lack room for a reason whose end is
  // not signalled, such as a freed slot.
  static constexpr Milliseconds kLookAgain{20};
  TimePoint room_from(TimePoint now) const;

  // The store is asked for this many jobs, whose room is now taken; it has returned this many.
  void ask(std::size_t jobs) { asked_ += jobs; }
  void answered(std::size_t asked, std::size_t pulled);
  // A held job has ended, or waits again.
  void ended() { --in_hand_; }

  // Nothing can be sent: pauses for a second, then doubled each time, up to 30 s. Longer if `until`
  // is later, but no longer than these 30 s. During a pause, calls change nothing.
  void pause(TimePoint now, TimePoint until);
  // The upstream has refused a job of the route, and asks for no requests until then (503 with
  // Retry-After). That may be about this job alone, so the route goes on if another has succeeded
  // since the previous refusal. Otherwise it pauses until then: 30 s at most, and no longer than
  // the last success is ago, so that a few such jobs in a row do not stop it for long.
  void refused(TimePoint now, TimePoint until);
  bool pauses(TimePoint now) const { return now < paused_until_; }
  // A job got no slot: for a while there is no room, so that jobs given back do not return at once.
  // After a refusal: 100 ms, then doubled each time, up to a second, until a job is tried. After
  // waiting in vain: a second, so that another proxy can get the job, unless a slot becomes free
  // here. During a rest, calls change nothing. The operator is not shown a pause, since others wait
  // for room as well.
  void rest(TimePoint now, NoSlot how);
  // An attempt has ended: the next rest is short again, and a slot may be worth waiting for.
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
  bool rests_for_slot_ = false;  // a job waited for a slot in vain
  Duration last_rest_{};
  Duration last_pause_{};
  TimePoint last_success_{};
  TimePoint last_refusal_{};
};

}  // namespace spillway::jobs
