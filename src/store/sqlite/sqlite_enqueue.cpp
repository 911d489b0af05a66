#include "store/sqlite/sqlite_enqueue.hpp"

#include "jobs/life.hpp"
#include "jobs/tenant_quota.hpp"

namespace spillway::store {

using jobs::JobState;

SqliteEnqueue::SqliteEnqueue(Database& database, SqliteLedger& ledger, SqliteKeys& keys,
                             SqliteClaimable& claimable, SqliteRecords& records)
    : ledger_(ledger),
      keys_(keys),
      records_(records),
      inserts_(database, ledger, claimable, records) {}

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
  SqliteInserts::Place place{.route = route};
  if (job.order) {
    write();
    place.is_blocked =
        records_.has_others(route, std::string(job.order->begin(), job.order->end()), 0);
  }
  // The key is stored first, since the job stores its window; an existing job already has one.
  if (job.idempotency) {
    if (is_there(job.id)) return;
    place.window = keys_.add(*job.idempotency, job.id, now);
  }
  inserts_.add(job, place);
}

Enqueue::Result SqliteEnqueue::room_for(const Enqueue& command, std::int64_t route) {
  using Result = Enqueue::Result;
  const std::uint64_t waiting = ledger_.route(route).waiting();
  const std::uint64_t most = command.max_pending;
  if (waiting >= most) return Result::full;
  if (!command.is_in_share || !jobs::is_room_scarce(waiting, most)) return Result::accepted;
  write();  // they may have to be counted now
  const auto tenant = static_cast<std::int64_t>(command.job.lane.tenant);
  const bool has_room = jobs::tenant_has_room(ledger_.waiting_of(route, tenant), waiting, most);
  return has_room ? Result::accepted : Result::share_full;
}

void SqliteEnqueue::operator()(KnowsKey& command, jobs::WallTime) {
  command.is_known = keys_.find(command.scope).has_value();
}

void SqliteEnqueue::operator()(HasUnfinished& command, jobs::WallTime) {
  write();
  const std::optional<std::int64_t> route = ledger_.find(command.route);
  const std::string order(command.order.begin(), command.order.end());
  command.has_any = route && records_.has_others(*route, order, 0);
}

// It never waits: it cannot be claimed in between. It does not block its order either, so its end
// unblocks no other job.
void SqliteEnqueue::operator()(Bury& command, jobs::WallTime now) {
  const jobs::NewJob& job = command.job;
  const std::int64_t seq =
      inserts_.add(job, {.route = ledger_.find_or_add(job.lane.route), .is_blocked = true});
  write();
  const std::optional<SqliteRecord> record = records_.find(job.id);
  if (record && record->seq == seq)
    records_.change(*record, jobs::buried(job.accepted, command.cause, now));
}

bool SqliteEnqueue::is_known(Enqueue& command) {
  const std::optional<SqliteKeys::Known> known = keys_.find(command.job.idempotency->scope);
  if (!known) return false;
  if (known->id == command.job.id) return true;  // the job exists, or existed
  command.id = known->id;
  command.result = known->fingerprint == command.job.idempotency->fingerprint
                       ? Enqueue::Result::duplicate
                       : Enqueue::Result::mismatch;
  return true;
}

bool SqliteEnqueue::is_there(const jobs::JobId& id) { return inserts_.has(id) || records_.has(id); }

}  // namespace spillway::store
