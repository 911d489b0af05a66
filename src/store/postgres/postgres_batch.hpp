// One transaction: collects steps and sends them together. A command whose result determines the
// next steps calls flush() in between; the others share one round trip from BEGIN to COMMIT.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "store/contract/command.hpp"
#include "store/postgres/postgres_connection.hpp"
#include "store/postgres/postgres_hints.hpp"

namespace spillway::store {

// How long an Idempotency-Key outlives its job, at least.
inline constexpr std::chrono::milliseconds kKeyKept = std::chrono::hours{24};

class PostgresBatch {
 public:
  using Read = std::function<void(const PostgresRows&)>;

  // `carefully`: used after a unique violation.
  PostgresBatch(PostgresConnection& connection, PostgresHints& known, bool carefully)
      : hints(known), is_careful(carefully), connection_(connection) {}

  void add(PostgresStatement statement, PostgresParameters parameters = {}, Read read = {}) {
    steps_.push_back({statement, std::move(parameters), std::move(read)});
  }
  // Sends the added steps and reads the results. False if it failed; later steps then fail too.
  bool flush();

  const std::optional<PostgresFailure>& failure() const { return failure_; }

  PostgresHints& hints;
  const bool is_careful;
  bool ends_jobs = false;    // if so, lines must be advanced before COMMIT
  bool scans_fully = false;  // one of the claims has no watermark
  // Neither stored nor found: the other job was just deleted, or the key released.
  std::vector<Enqueue*> undecided;

 private:
  PostgresConnection& connection_;
  std::vector<PostgresStep> steps_;
  std::optional<PostgresFailure> failure_;
};

// Add the steps of each command, or of a group that is executed together.
void add_enqueues(PostgresBatch& batch, std::span<Enqueue* const> group);
// All from one proxy.
void add_knows_keys(PostgresBatch& batch, std::span<KnowsKey* const> group);
void add_let_go(PostgresBatch& batch, const LetGo& let_go);
void add_has_unfinished(PostgresBatch& batch, HasUnfinished& asked);
void add_buries(PostgresBatch& batch, std::span<Bury* const> group);
void add_settles(PostgresBatch& batch, std::span<Settle* const> group);
// All of one epoch, and each of a different lane.
void add_claims(PostgresBatch& batch, std::span<Claim* const> group);
void add_lanes(PostgresBatch& batch, Lanes& lanes);
void add_announce(PostgresBatch& batch, const Announce& announce);

void add_join(PostgresBatch& batch, Join& join);
void add_renew(PostgresBatch& batch, Renew& renew);
void do_leave(PostgresBatch& batch, Leave& leave);
void do_release(PostgresBatch& batch, Release& release);
void do_sweep(PostgresBatch& batch, Sweep& sweep);

void do_cancel(PostgresBatch& batch, Cancel& cancel);
void do_replay(PostgresBatch& batch, Replay& replay);
void add_purge(PostgresBatch& batch, Purge& purge);

void add_find(PostgresBatch& batch, Find& find);
// After its settle, which was sent again: clears is_lost if the job is in the requested state.
void add_is_settled(PostgresBatch& batch, Settle& settle);
void add_read_answer(PostgresBatch& batch, ReadAnswer& read);
void add_inspect(PostgresBatch& batch, Inspect& inspect);
void add_list(PostgresBatch& batch, List& list);

// Limits the duration of the following statements: they scan tables for an operator while enqueues
// wait.
inline void hurry(PostgresBatch& batch) { batch.add(PostgresStatement::hurry); }

// A limit in the type that SQL takes.
inline std::int64_t sql_limit(std::uint64_t limit) {
  return static_cast<std::int64_t>(std::min<std::uint64_t>(limit, 1ULL << 40));
}

// $1 to $8 of the statements with a filter.
void add_filter(PostgresParameters& parameters, const Filter& filter);

// Waiting jobs, by their numbers, and the states in which they end.
struct EndingWaiting {
  std::int64_t number = 0;
  jobs::Progress progress;
};
void add_endings(PostgresBatch& batch, std::span<const EndingWaiting> endings);

// Before the transaction: marks enqueues as full if there is no room. False: see failure().
bool admit(PostgresBatch& batch, std::span<Enqueue* const> enqueues);
// Takes the locks of all lines that the batch may change; must be the first step.
void add_lock_lines(PostgresBatch& batch, std::span<Command* const> commands);

}  // namespace spillway::store
