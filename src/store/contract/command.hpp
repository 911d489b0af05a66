// The commands of a job store. Each command carries its arguments and, once executed, its results.
// The terms are those of the domain; no implementation's query language shows here.
//
// How a command changes a job's state is defined by jobs/life.hpp; tests/unit/store checks all
// implementations against it.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/time.hpp"
#include "jobs/cap_shares.hpp"
#include "jobs/job.hpp"

namespace spillway::store {

// A proxy's registration, under which it holds its jobs. Grows with each Join; every
// acknowledgement names it, so that a late one changes nothing (a fencing token).
using Epoch = std::int64_t;

// Registers the proxy: in a shared store for as long as it renews, in any other until the next
// Join, whatever the clock says. A job leased by no registered proxy is recovered by Sweep. `name`:
// for the operator; two proxies may have the same one. `former`: an earlier registration of the
// same proxy, which ends now, since the proxy holds nothing under it any more.
struct Join {
  std::string name;
  std::chrono::milliseconds lease{};
  Epoch former = 0;  // 0: none
  Epoch epoch = 0;
  jobs::WallTime now = jobs::kNoTime;  // by the store's own clock; kNoTime: it has no clock
};

// Extends the lease, by the database's clock, even if it is over, unless the proxy has been
// declared ended (Sweep). Proxies that share the store use this to exchange how fast they end jobs,
// in thousandths of a job per second, and how much they hold of the routes' caps.
struct Renew {
  Epoch epoch = 0;
  std::chrono::milliseconds lease{};
  std::int64_t rate = 0;
  // Grows with each Renew: one that is executed after a later one, over an abandoned connection,
  // changes nothing.
  std::int64_t number = 0;
  jobs::CapParts parts{};
  bool is_lost = false;                // its jobs may have gone to another proxy
  jobs::WallTime now = jobs::kNoTime;  // as in Join, unless it is lost
  std::int64_t rate_of_others = 0;     // of all together, as of their last Renew
  // By epoch, as of their last Renew before this one: of all proxies that have not been declared
  // ended, even if their lease is over.
  jobs::CapShares::Others others{};
};

// Gives back all jobs leased under this epoch, and ends the registration.
struct Leave {
  Epoch epoch = 0;
};

// Gives back the jobs leased under the epoch, except these: after a claim whose results were lost,
// so that the proxy does not know which jobs it got.
struct Release {
  Epoch epoch = 0;
  std::vector<jobs::JobId> kept{};
};

// Stores a job. One whose id exists already is the same job, sent again after a failure: it is
// accepted, and nothing changes. An Idempotency-Key is known for 24 hours after the end of its job,
// and at least as long as the job is kept, or would be kept if it had not been purged.
struct Enqueue {
  enum class Result : std::uint8_t {
    accepted,
    duplicate,   // the same request has been accepted before: `id` is its job
    mismatch,    // the same Idempotency-Key, but another request
    in_hand,     // another proxy holds its Idempotency-Key (KnowsKey)
    full,        // max_pending jobs of the route are waiting
    share_full,  // its tenant has its full share of these (jobs::tenant_has_room)
  };
  jobs::NewJob job;
  std::uint64_t max_pending = 0;
  Epoch asker = 0;           // 0: not registered
  bool is_in_share = false;  // its tenant may take no more of these than its share
  Result result = Result::accepted;
  jobs::JobId id;  // of the new or existing job for the request
};

// Whether a request with this Idempotency-Key was accepted, and its key is still known.
//
// `takes`: the request is answered live. In a shared store the asking proxy then holds its key
// until LetGo or until that proxy is declared ended. Only the first of several proxies gets it, and
// the others store no job with it. Requests of the same proxy settle this among themselves. A
// database crash loses the keys held.
struct KnowsKey {
  jobs::Digest scope{};
  bool takes = false;
  Epoch asker = 0;  // 0: not registered, and holds no key
  bool is_known = false;
  bool is_in_hand = false;  // held by another proxy
};

// Releases these keys. In a batch it runs first, then those that take keys; neither is rolled back.
struct LetGo {
  Epoch epoch = 0;
  std::vector<jobs::Digest> scopes{};
};

// Whether a job of this order on the route has not ended: a request of the same order that is
// forwarded now would overtake it.
struct HasUnfinished {
  std::string route;
  jobs::Digest order{};
  bool has_any = false;
};

// Stores a request that is forwarded only if it is replayed: it is dead from the start, without an
// attempt. One whose id exists already is the same one, and nothing changes. Its Idempotency-Key is
// not stored: its client was refused, and may try again with the same key.
struct Bury {
  jobs::NewJob job;  // idempotency is not used
  jobs::Cause cause = jobs::Cause::none;
};

// The lanes with jobs that may be pulled now, or will be due within `ahead`. There may be as many
// lanes as jobs: examines `limit` of them, in an order of the store's own, and the next command
// continues after the last of these, so that none is left out.
struct Lanes {
  struct One {
    jobs::Lane lane;
    jobs::WallTime oldest_due{};
  };
  std::size_t limit = 0;
  std::chrono::milliseconds ahead{};
  std::optional<jobs::Lane> after{};  // `next` of the previous command; may have gone
  std::vector<One> found{};
  std::optional<jobs::Lane> next{};  // nullopt: these were the last
};

// A Sweep, a Purge, or all claims of a batch together stop after the job with which they have
// processed this much content (heads, bodies, answers), so that no other command waits long.
// PostgreSQL divides it among the lanes claimed from; the first job of each may exceed its part.
// Content that a Sweep forgets there does not count: it is dropped with its period.
inline constexpr std::uint64_t kStepBytes = 4 << 20;

// Leases up to `limit` jobs of a lane, in the order of due times. Skips expired jobs, jobs
// with an unfinished predecessor in their order, and jobs with more than `most_recoveries`:
// these stay in place, and `least_left` is the fewest recoveries of those before the last job
// leased (of all due jobs, if fewer than `limit` were leased and not `is_cut`). PostgreSQL may
// report the first of them in a lane two seconds late. Consecutive claims cost little more
// than one.
struct Claim {
  Epoch epoch = 0;
  jobs::Lane lane;
  std::size_t limit = 0;
  std::uint32_t most_recoveries = std::numeric_limits<std::uint32_t>::max();
  std::vector<jobs::LeasedJob> jobs{};
  // kStepBytes was reached: there may be more jobs. No jobs at all: earlier claims used it up.
  bool is_cut = false;
  std::optional<std::uint32_t> least_left{};  // nullopt: no job was skipped for its recoveries
};

// A job to be cancelled before it is sent.
struct AskedCancel {
  jobs::JobId id;
  jobs::Cause cause = jobs::Cause::cancelled_by_client;

  bool operator==(const AskedCancel&) const = default;
};

// Notifies the other proxies on the store (JobStore::heard) that there are jobs in these lanes
// which this one cannot take now, and which of the jobs they hold were cancelled here. A hint: it
// may be lost.
struct Announce {
  std::vector<jobs::Lane> lanes{};
  std::vector<AskedCancel> cancels{};
};

// Ends an attempt: stores the new state as jobs/life.hpp computed it. If the job is not leased
// under this epoch, nothing happens and is_lost is set. A Settle that is sent again, because the
// store may have executed it already, is not lost if the job is already in the requested state.
struct Settle {
  Epoch epoch = 0;
  jobs::JobId id;
  jobs::Progress progress;               // queued or retrying: it waits again. Never leased
  std::optional<jobs::Attempt> attempt;  // for its history
  std::optional<jobs::StoredAnswer> answer;
  bool is_sent_again = false;
  bool is_lost = false;
};

// Cancels a job that has not begun: a queued or retrying one.
struct Cancel {
  jobs::JobId id;
  jobs::Cause cause = jobs::Cause::cancelled_by_client;
  std::optional<jobs::JobState> was;  // its state before; nullopt: there is no such job
  bool is_done = false;
  // Another proxy holds it, and is notified (Announce). Not set by the store.
  bool is_elsewhere = false;
};

// Positions are reported up to this one; a job after it is simply far behind.
inline constexpr std::uint64_t kLastPosition = 1000;

struct Find {
  jobs::JobId id;
  std::optional<jobs::JobView> job;
};

struct ReadAnswer {
  jobs::JobId id;
  std::optional<jobs::JobState> state;  // nullopt: there is no such job
  std::optional<jobs::StoredAnswer> answer;
};

// For the operator: the job as it was accepted, and its last kMostAttempts attempts. This also
// limits `max_attempts`: a job has more only if it was replayed, or if proxies ended that held it.
inline constexpr std::size_t kMostAttempts = 1000;
struct Inspect {
  jobs::JobId id;
  std::size_t body_limit = 0;  // the first bytes of the body that are read
  std::optional<jobs::JobView> job;
  std::string head;
  std::string body;
  std::vector<jobs::Attempt> attempts;
};

// Selects jobs; an unset member excludes none.
struct Filter {
  std::optional<jobs::JobState> state;
  std::optional<std::string> route;
  std::optional<jobs::Cause> cause;
  std::optional<jobs::WallTime> accepted_from, accepted_before;
  std::optional<jobs::WallTime> ended_from, ended_before;
  std::optional<jobs::JobId> id;
};

// A store in this process examines at most this many jobs for one List, Replay or Purge, however
// few of them match the filter, so that no other command waits long. If it has not examined all,
// the result says where the next command continues (`next`, to be passed as its `after`).
inline constexpr std::size_t kMostLookedAt = 10000;

// Where a Replay or Purge continues: its meaning is up to the store.
struct Cursor {
  std::int64_t time = 0;
  std::int64_t number = 0;
};

// In the order of acceptance, without positions. A page may have fewer jobs than `limit`, or
// none.
struct List {
  Filter filter;
  std::optional<jobs::JobId> after;  // `next` of the previous page
  std::size_t limit = 0;
  std::vector<jobs::JobView> jobs{};
  std::optional<jobs::JobId> next{};  // nullopt: this is the last page
};

// Makes dead and expired jobs wait again, under the same ids, with their attempts and recoveries
// reset: the first after `delay`, the others `spacing` apart. Their history is kept. May find fewer
// than `limit` although there are more.
struct Replay {
  Filter filter;  // jobs in other states are not replayed
  std::size_t limit = 0;
  std::chrono::milliseconds delay{};
  std::chrono::milliseconds spacing{};
  std::chrono::milliseconds ttl{};  // starts now
  bool is_dry_run = false;
  std::optional<Cursor> after{};
  std::vector<jobs::JobId> jobs;  // that were replayed, or would be
  std::optional<Cursor> next{};   // nullopt: `limit` were found, or there are no more
};

// Deletes jobs that have ended. Like Replay, it may find fewer than `limit`.
struct Purge {
  Filter filter;
  std::size_t limit = 0;
  bool is_dry_run = false;
  std::optional<Cursor> after{};
  std::uint64_t count = 0;
  std::optional<Cursor> next{};
};

// Periodic: expires jobs that waited too long, forgets jobs that ended long ago, recovers jobs of
// proxies that have ended. At most `limit` of each, and content within kStepBytes; it also forgets
// a batch of Idempotency-Keys whose time is over.
//
// In a shared store, a proxy has ended if its lease is over, and the lease's end has not moved for
// `silence` by the asking proxy's own clock, which shows `at`: the database's clock may have been
// set forward.
struct Sweep {
  std::size_t limit = 0;
  std::uint32_t most_recoveries = 3;  // with more, the job is dead as poison
  Duration silence{0};
  TimePoint at{};
  std::vector<jobs::JobId> expired{}, recovered{}, poisoned{};
  std::uint64_t forgotten = 0;
  bool has_more = false;
};

// The number of jobs. In a shared store where counting takes long, it runs separately, and the
// result is the previous count.
struct Totals {
  struct Route {
    std::string route;
    std::array<std::uint64_t, jobs::kJobStateCount> by_state{};
    jobs::WallTime oldest_claimable{};  // its due time; kNoTime: none is claimable
  };
  std::chrono::milliseconds patience{};  // how long to wait for the current count
  std::vector<Route> routes{};
  // When the earliest of the dead and expired jobs was accepted; kNoTime: there is none.
  jobs::WallTime oldest_letter{};
  std::uint64_t bytes = 0;  // used by the store, as far as known
  // Rows of jobs in a later state that some transaction may keep from being vacuumed. PostgreSQL
  // only.
  std::uint64_t dead_rows = 0;
};

using Command = std::variant<Join, Renew, Leave, Release, Enqueue, KnowsKey, LetGo, HasUnfinished,
                             Bury, Lanes, Claim, Announce, Settle, Cancel, Find, ReadAnswer,
                             Inspect, List, Replay, Purge, Sweep, Totals>;

}  // namespace spillway::store
