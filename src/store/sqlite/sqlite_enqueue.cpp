#include "store/sqlite/sqlite_enqueue.hpp"

#include "jobs/life.hpp"
#include "jobs/tenant_quota.hpp"
#include "store/sqlite/sqlite_sql.hpp"
#include "store/sqlite/sqlite_time.hpp"

namespace spillway::store {

using jobs::JobState;

SqliteEnqueue::SqliteEnqueue(Database& database, SqliteLedger& ledger, SqliteKeys& keys,
                             SqliteRecords& records)
    : database_(database),
      ledger_(ledger),
      keys_(keys),
      records_(records),
      insert_job_(database, sql::kInsertJob),
      insert_request_(database, sql::kInsertRequest) {}

void SqliteEnqueue::operator()(Enqueue& command, jobs::WallTime now) {
  const jobs::NewJob& job = command.job;
  command.id = job.id;
  command.result = Enqueue::Result::accepted;
  if (job.idempotency && is_known(command)) return;
  const std::int64_t route = ledger_.find_or_add(job.lane.route);
  if (const Enqueue::Result room = room_for(command, route); room != Enqueue::Result::accepted) {
    if (!is_there(job.id)) command.result = room;
    return;
  }
  const bool is_blocked =
      job.order && records_.has_others(route, std::string(job.order->begin(), job.order->end()), 0);
  Place place{.route = route, .is_blocked = is_blocked};
  if (!is_blocked) place.ready = number_of(job.accepted);
  // The key goes first, since the job keeps its window; a job that is there already has its own.
  if (job.idempotency) {
    if (is_there(job.id)) return;
    place.window = keys_.add(*job.idempotency, job.id, now);
  }
  insert(job, place);
}

Enqueue::Result SqliteEnqueue::room_for(const Enqueue& command, std::int64_t route) {
  using Result = Enqueue::Result;
  const std::uint64_t waiting = ledger_.route(route).waiting();
  const std::uint64_t most = command.max_pending;
  if (waiting >= most) return Result::full;
  if (!command.is_in_share || !jobs::is_room_scarce(waiting, most)) return Result::accepted;
  const auto tenant = static_cast<std::int64_t>(command.job.lane.tenant);
  const bool has_room = jobs::tenant_has_room(ledger_.waiting_of(route, tenant), waiting, most);
  return has_room ? Result::accepted : Result::share_full;
}

void SqliteEnqueue::operator()(KnowsKey& command, jobs::WallTime) {
  command.is_known = keys_.find(command.scope).has_value();
}

void SqliteEnqueue::operator()(HasUnfinished& command, jobs::WallTime) {
  const std::optional<std::int64_t> route = ledger_.find(command.route);
  const std::string order(command.order.begin(), command.order.end());
  command.has_any = route && records_.has_others(*route, order, 0);
}

// It waits for no time at all: it cannot be claimed in between. It does not hold up its order
// either, so its end unblocks no other job.
void SqliteEnqueue::operator()(Bury& command, jobs::WallTime now) {
  const jobs::NewJob& job = command.job;
  if (!insert(job, {.route = ledger_.find_or_add(job.lane.route), .is_blocked = true})) return;
  if (const std::optional<SqliteRecord> record = records_.find(job.id))
    records_.change(*record, jobs::buried(job.accepted, command.cause, now));
}

// False: it failed, or the job is there already.
bool SqliteEnqueue::insert(const jobs::NewJob& job, const Place& place) {
  std::optional<Blob> ordered;
  if (job.order) ordered = blob(*job.order);
  insert_job_.execute(blob(job.id.bytes), std::int64_t{job.lane.rank}, place.route,
                      static_cast<std::int64_t>(job.lane.tenant), std::string_view(job.tenant_name),
                      static_cast<std::int64_t>(index(JobState::queued)), number_of(job.accepted),
                      place.ready, ordered, std::int64_t{place.is_blocked}, number_of(job.accepted),
                      number_of(job.expires), std::int64_t{job.kept.count()}, place.window,
                      std::string_view(job.method), std::string_view(job.target),
                      static_cast<std::int64_t>(job.body.size()));
  if (database_.failed() || sqlite3_changes(database_.handle()) == 0) return false;
  insert_request_.execute(sqlite3_last_insert_rowid(database_.handle()), blob(job.head),
                          blob(job.body));
  ledger_.moved(place.route, static_cast<std::int64_t>(job.lane.tenant), std::nullopt,
                JobState::queued);
  return true;
}

bool SqliteEnqueue::is_known(Enqueue& command) {
  const std::optional<SqliteKeys::Known> known = keys_.find(command.job.idempotency->scope);
  if (!known) return false;
  if (known->id == command.job.id) return true;  // it is there, or was
  command.id = known->id;
  command.result = known->fingerprint == command.job.idempotency->fingerprint
                       ? Enqueue::Result::duplicate
                       : Enqueue::Result::mismatch;
  return true;
}

bool SqliteEnqueue::is_there(const jobs::JobId& id) { return records_.find(id).has_value(); }

}  // namespace spillway::store
