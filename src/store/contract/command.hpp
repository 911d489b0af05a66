// What can be asked of a job store. Each command carries its question and, once it was executed,
// its answer. The words are those of the domain; no implementation's query language shows here.
//
// What a command does to a job's state is what jobs/life.hpp says; tests/unit/store holds all
// implementations to it.
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

// A proxy's hold on its jobs. Grows with each join(); every acknowledgement names it, so that a
// late one changes nothing (a fencing token).
using Epoch = std::int64_t;

// Registers the proxy: in a store that several share for as long as it renews, in another one until
// the next Join, whatever the clock says. A job that is leased by no registered proxy is recovered
// by Sweep. `name`: for the operator; two proxies may have the same one. `former`: a registration
// of the same proxy, under which it has nothing in hand any more: it has ended.
struct Join {
  std::string name;
  std::chrono::milliseconds lease{};
  Epoch former = 0;  // 0: none
  Epoch epoch = 0;
  jobs::WallTime now = jobs::kNoTime;  // by the store's own clock; kNoTime: it has none
};

// Prolongs the lease, by the database's clock: also one that is over, unless its proxy is held to
// have ended (Sweep). Proxies that share the store tell each other in thousandths of a job per
// second how fast they end jobs, and what they hold of the caps of routes.
struct Renew {
  Epoch epoch = 0;
  std::chrono::milliseconds lease{};
  std::int64_t rate = 0;
  // Grows with each: one that is carried out after a later one, over a connection that was given
  // up, changes nothing.
  std::int64_t number = 0;
  jobs::CapParts parts{};
  bool is_lost = false;                // its jobs may be another proxy's
  jobs::WallTime now = jobs::kNoTime;  // as Join's, unless it is lost
  std::int64_t rate_of_others = 0;     // of all together, as they have renewed last
  // By epoch, as they have renewed last, before this one is carried out: of all that are not held
  // to have ended, also of those whose lease is over.
  jobs::CapShares::Others others{};
};

// Gives back all jobs that are leased (as GiveBack), and the registration.
struct Leave {
  Epoch epoch = 0;
};

// Gives back what is leased under the epoch, but for these jobs: after a claim whose answer was
// lost, so that nothing is known of it.
struct Release {
  Epoch epoch = 0;
  std::vector<jobs::JobId> kept{};
};

// Writes a job down. One whose id is there already is the same job, sent again after a failure: it
// is accepted, and nothing changes. An Idempotency-Key is known for 24 hours after the end of its
// job, and at least as long as the job is kept, or would be if it had not been purged.
struct Enqueue {
  enum class Result : std::uint8_t {
    accepted,
    duplicate,   // the same request is accepted already: `id` is that job's
    mismatch,    // the same Idempotency-Key, another request
    in_hand,     // another proxy has its Idempotency-Key in hand (KnowsKey)
    full,        // max_pending jobs of the route wait
    share_full,  // its tenant has all that it may have of these (jobs::tenant_has_room)
  };
  jobs::NewJob job;
  std::uint64_t max_pending = 0;
  Epoch asker = 0;           // 0: not registered
  bool is_in_share = false;  // its tenant may take no more of these than its share
  Result result = Result::accepted;
  jobs::JobId id;  // of the job that stands for the request
};

// Whether a request with this Idempotency-Key was accepted, and its key is known still.
//
// `takes`: the request is answered live. Where proxies share the store its key is from now on in
// the asker's hand, until LetGo or until the asker is held to have ended. Only the first of several
// proxies has it, and the others write down no job with it. Those of one proxy agree themselves.
// A database that crashes forgets what is in hand.
struct KnowsKey {
  jobs::Digest scope{};
  bool takes = false;
  Epoch asker = 0;  // 0: not registered, and takes none
  bool is_known = false;
  bool is_in_hand = false;  // another proxy's
};

// These keys are free again. In a batch it comes first, then what takes keys; neither is undone.
struct LetGo {
  Epoch epoch = 0;
  std::vector<jobs::Digest> scopes{};
};

// Whether a job of this order on the route has not ended: a request of the order that is forwarded
// now overtakes it.
struct HasUnfinished {
  std::string route;
  jobs::Digest order{};
  bool has_any = false;
};

// Writes down a request that is not to be forwarded unless it is replayed: it is dead from its
// acceptance on, without an attempt. One whose id is there already is the same one, and nothing
// changes. Its Idempotency-Key is not kept: its client was refused, and may try again with it.
struct Bury {
  jobs::NewJob job;  // idempotency is not used
  jobs::Cause cause = jobs::Cause::none;
};

// The lanes with jobs that may be pulled now, or will be due within `ahead`. There may be as many
// as jobs: looks at `limit` of them, in an order of the store's own, and the next question goes on
// behind the last of these, so that none is left out.
struct Lanes {
  struct One {
    jobs::Lane lane;
    jobs::WallTime oldest_due{};
  };
  std::size_t limit = 0;
  std::chrono::milliseconds ahead{};
  std::optional<jobs::Lane> after{};  // `next` of the question before; it may be gone
  std::vector<One> found{};
  std::optional<jobs::Lane> next{};  // nullopt: these were the last
};

// A Sweep, a Purge, or all claims of a batch together end with the job with which they have gone
// through so much content (heads, bodies, answers), so that no other command waits long. PostgreSQL
// divides that among the lanes that are asked; of each the first job may be longer. What a Sweep
// forgets there does not count: its content goes with its period.
inline constexpr std::uint64_t kStepBytes = 4 << 20;

// Leases up to `limit` jobs of a lane, those that are due first. Not expired ones, none that has an
// unfinished predecessor in its order, and none with more than `most_recoveries`: these stay where
// they are, and the answer says of those before the last job that was leased (of all that are due,
// if fewer than `limit` were and it `is_cut` not) what the fewest recoveries are. PostgreSQL may
// tell of the first of them in a lane two seconds late. Claims that follow each other cost little
// more than one.
struct Claim {
  Epoch epoch = 0;
  jobs::Lane lane;
  std::size_t limit = 0;
  std::uint32_t most_recoveries = std::numeric_limits<std::uint32_t>::max();
  std::vector<jobs::LeasedJob> jobs{};
  // At kStepBytes: there may be more jobs. Without any job: the claims before it took all of them.
  bool is_cut = false;
  std::optional<std::uint32_t> least_left{};  // nullopt: none was left for its recoveries
};

// A job that is to be cancelled before it is sent.
struct AskedCancel {
  jobs::JobId id;
  jobs::Cause cause = jobs::Cause::cancelled_by_client;

  bool operator==(const AskedCancel&) const = default;
};

// Tells the other proxies on the store (JobStore::heard) that there are jobs in these lanes which
// this one cannot take now, and which of the jobs that they have in hand were cancelled here. A
// hint: it may be lost.
struct Announce {
  std::vector<jobs::Lane> lanes{};
  std::vector<AskedCancel> cancels{};
};

// Ends an attempt: stores what jobs/life.hpp has made of it. Nothing happens, and is_lost is set,
// unless the job is leased under this epoch. One that is sent again, since it is not known whether
// the store has executed it, is not lost either if the job stands as it asks.
struct Settle {
  Epoch epoch = 0;
  jobs::JobId id;
  jobs::Progress progress;               // queued or retrying: it waits again. Never leased
  std::optional<jobs::Attempt> attempt;  // for its history
  std::optional<jobs::StoredAnswer> answer;
  bool is_sent_again = false;
  bool is_lost = false;
};

// Cancels a job that has not begun: one that is queued or retrying.
struct Cancel {
  jobs::JobId id;
  jobs::Cause cause = jobs::Cause::cancelled_by_client;
  std::optional<jobs::JobState> was;  // before; nullopt: there is no such job
  bool is_done = false;
  // It is in the hand of another proxy, which is told (Announce). Not the store's answer.
  bool is_elsewhere = false;
};

// A position is told up to this one; a job behind it is far behind.
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

// For the operator: the job as it was accepted, and its last kMostAttempts attempts. `max_attempts`
// may be as many, so a job has more only if it was replayed, or if proxies ended that had it.
inline constexpr std::size_t kMostAttempts = 1000;
struct Inspect {
  jobs::JobId id;
  std::size_t body_limit = 0;  // first bytes of the body
  std::optional<jobs::JobView> job;
  std::string head;
  std::string body;
  std::vector<jobs::Attempt> attempts;
};

// Which jobs; a member that is not set excludes none.
struct Filter {
  std::optional<jobs::JobState> state;
  std::optional<std::string> route;
  std::optional<jobs::Cause> cause;
  std::optional<jobs::WallTime> accepted_from, accepted_before;
  std::optional<jobs::WallTime> ended_from, ended_before;
  std::optional<jobs::JobId> id;
};

// A store in this process looks at so many jobs at most for one List, Replay or Purge, whatever few
// of them the filter includes, so that no other command waits long. Where it has not seen all, the
// answer says where the next command goes on (`next`, which is its `after`).
inline constexpr std::size_t kMostLookedAt = 10000;

// Where a Replay or Purge goes on: of the store's own.
struct Cursor {
  std::int64_t time = 0;
  std::int64_t number = 0;
};

// In the order of acceptance, without positions. A page may have fewer jobs than `limit`, even
// none.
struct List {
  Filter filter;
  std::optional<jobs::JobId> after;  // `next` of the page before
  std::size_t limit = 0;
  std::vector<jobs::JobView> jobs{};
  std::optional<jobs::JobId> next{};  // nullopt: this is the last page
};

// Lets dead and expired jobs wait again, under the same ids, with no attempts and recoveries
// counted: the first after `delay`, the others `spacing` apart. Their history stays. May find fewer
// than `limit` although there are more.
struct Replay {
  Filter filter;  // of other states none is replayed
  std::size_t limit = 0;
  std::chrono::milliseconds delay{};
  std::chrono::milliseconds spacing{};
  std::chrono::milliseconds ttl{};  // from now
  bool is_dry_run = false;
  std::optional<Cursor> after{};
  std::vector<jobs::JobId> jobs;  // that were replayed, or would be
  std::optional<Cursor> next{};   // nullopt: `limit` were found, or there are no more
};

// Deletes jobs that have ended. As Replay it may find fewer.
struct Purge {
  Filter filter;
  std::size_t limit = 0;
  bool is_dry_run = false;
  std::optional<Cursor> after{};
  std::uint64_t count = 0;
  std::optional<Cursor> next{};
};

// Periodic: expires jobs that waited too long, forgets those that ended long ago, recovers those of
// proxies that ended. At most `limit` of each, and of content no more than kStepBytes says; and
// forgets Idempotency-Keys whose time is over, a step of them.
//
// Of proxies that share the store one has ended if its lease is over, and its end was seen to stay
// the same for `silence` by the asker's own clock, at which it is `at`: the store's clock may have
// been set forward.
struct Sweep {
  std::size_t limit = 0;
  std::uint32_t most_recoveries = 3;  // one more, and the job is dead as poison
  Duration silence{0};
  TimePoint at{};
  std::vector<jobs::JobId> expired{}, recovered{}, poisoned{};
  std::uint64_t forgotten = 0;
  bool has_more = false;
};

// How many jobs there are. Where many share a store and counting takes long it is done beside, and
// the figures are those of the question before.
struct Totals {
  struct Route {
    std::string route;
    std::array<std::uint64_t, jobs::kJobStateCount> by_state{};
    jobs::WallTime oldest_claimable{};  // its due time; kNoTime: none is claimable
  };
  std::chrono::milliseconds patience{};  // how long to wait for those of now
  std::vector<Route> routes{};
  // When the first of the dead and expired jobs was accepted; kNoTime: there is none.
  jobs::WallTime oldest_letter{};
  std::uint64_t bytes = 0;  // that the store takes, as far as is known
  // Of jobs that have gone on, and that some transaction may keep from being vacuumed. PostgreSQL
  // only.
  std::uint64_t dead_rows = 0;
};

using Command = std::variant<Join, Renew, Leave, Release, Enqueue, KnowsKey, LetGo, HasUnfinished,
                             Bury, Lanes, Claim, Announce, Settle, Cancel, Find, ReadAnswer,
                             Inspect, List, Replay, Purge, Sweep, Totals>;

}  // namespace spillway::store
