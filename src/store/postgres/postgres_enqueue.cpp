// Enqueue and similar commands on PostgreSQL.
#include <algorithm>
#include <chrono>
#include <map>
#include <set>
#include <utility>

#include "jobs/tenant_quota.hpp"
#include "store/postgres/postgres_batch.hpp"

namespace spillway::store {
namespace {

using enum PostgresType;

// The columns of kStored, in their order.
struct JobColumns {
  PostgresColumn id{uuid}, rank{int2}, route{text}, tenant{int8}, tenant_name{bytea};
  PostgresColumn accepted{int8}, expires{int8}, kept{int8}, head{bytea}, body{bytea};
  PostgresColumn method{bytea}, target{bytea}, order{uuid}, scope{uuid}, fingerprint{uuid};

  void add(const jobs::NewJob& job, const std::optional<jobs::IdempotencyKey>& key) {
    id.add(job.id.bytes);
    rank.add(static_cast<std::int16_t>(job.lane.rank));
    route.add(std::string_view(job.lane.route));
    tenant.add(static_cast<std::int64_t>(job.lane.tenant));
    tenant_name.add(std::string_view(job.tenant_name));
    accepted.add(job.accepted);
    expires.add(job.expires);
    kept.add(static_cast<std::int64_t>(job.kept.count()));
    head.add(std::string_view(job.head));
    body.add(std::string_view(job.body));
    method.add(std::string_view(job.method));
    target.add(std::string_view(job.target));
    order.add(job.order);
    scope.add(key ? std::optional(key->scope) : std::nullopt);
    fingerprint.add(key ? std::optional(key->fingerprint) : std::nullopt);
  }

  PostgresParameters take() {
    PostgresParameters all;
    for (PostgresColumn* column :
         {&id, &rank, &route, &tenant, &tenant_name, &accepted, &expires, &kept, &head, &body,
          &method, &target, &order, &scope, &fingerprint}) {
      all.add(std::move(*column));
    }
    return all;
  }
};

PostgresParameters of_scopes(PostgresColumn scopes, PostgresColumn ids, Epoch asker) {
  PostgresParameters parameters;
  parameters.add(std::move(scopes)).add(std::move(ids)).add(asker);
  return parameters;
}

PostgresStatement statement_for(const jobs::NewJob& job) {
  return job.order ? PostgresStatement::enqueue_ordered : PostgresStatement::enqueue;
}

PostgresStatement careful(PostgresStatement statement) {
  using enum PostgresStatement;
  return statement == enqueue_ordered ? careful_enqueue_ordered : careful_enqueue;
}

bool go_together(const Enqueue& a, const Enqueue& b) {
  return statement_for(a.job) == statement_for(b.job);
}

struct Keyed {
  Enqueue* enqueue;
  bool is_counted;  // as stored by this batch
};

// The results of look_up_scopes.
struct Found {
  std::map<PostgresUuid, std::pair<jobs::JobId, PostgresUuid>> jobs;
  std::set<PostgresUuid> in_hand;  // held by other proxies

  explicit Found(const PostgresRows& rows) {
    for (int row = 0; row < rows.size(); ++row) {
      if (rows.is_null(row, 1))
        in_hand.insert(rows.uuid(row, 0));
      else
        jobs[rows.uuid(row, 0)] = {rows.id(row, 1), rows.uuid(row, 2)};
    }
  }
};

void decide(PostgresBatch& batch, const Found& found, const Keyed& keyed) {
  Enqueue& each = *keyed.enqueue;
  const jobs::IdempotencyKey& key = *each.job.idempotency;
  const auto job = found.jobs.find(key.scope);
  const bool has_job = job != found.jobs.end();
  if (has_job) each.id = job->second.first;
  if (has_job && each.id == each.job.id) return;
  if (keyed.is_counted) batch.hints.changed(each.job.lane, -1);
  if (has_job)
    each.result = job->second.second == key.fingerprint ? Enqueue::Result::duplicate
                                                        : Enqueue::Result::mismatch;
  else if (found.in_hand.contains(key.scope))
    each.result = Enqueue::Result::in_hand;
  else
    batch.undecided.push_back(&each);
}

// Looks up the job that each key belongs to now.
void look_up(PostgresBatch& batch, const std::vector<Keyed>& keyed, Epoch asker) {
  PostgresColumn scopes(uuid);
  for (const auto& [each, is_counted] : keyed) scopes.add(each->job.idempotency->scope);
  batch.add(PostgresStatement::look_up_scopes,
            of_scopes(std::move(scopes), PostgresColumn(uuid), asker),
            [&batch, keyed](const PostgresRows& rows) {
              const Found found(rows);
              for (const Keyed& each : keyed) decide(batch, found, each);
            });
}

// All are written by one statement. If several have the same key, only the first is written.
void add_alike(PostgresBatch& batch, std::span<Enqueue* const> alike) {
  JobColumns columns;
  std::vector<Enqueue*> stored;
  std::vector<Keyed> keyed;
  std::set<PostgresUuid> keys;
  for (Enqueue* each : alike) {
    each->result = Enqueue::Result::accepted;
    each->id = each->job.id;
    const bool is_first =
        !each->job.idempotency || keys.insert(each->job.idempotency->scope).second;
    if (each->job.idempotency) keyed.push_back({each, is_first});
    if (!is_first) continue;
    columns.add(each->job, each->job.idempotency);
    stored.push_back(each);
  }
  PostgresParameters parameters = columns.take();
  const Epoch asker = alike[0]->asker;
  parameters.add(asker);
  const PostgresStatement statement = statement_for(alike[0]->job);
  batch.add(batch.is_careful ? careful(statement) : statement, std::move(parameters),
            [&batch, stored = std::move(stored)](const PostgresRows&) {
              for (const Enqueue* each : stored) {
                batch.hints.changed(each->job.lane, 1);
                batch.hints.appeared(each->job.accepted);
              }
            });
  if (!keyed.empty()) look_up(batch, keyed, asker);
}

struct Wanted {
  std::uint64_t jobs = 0;
  std::uint64_t most = 0;
  bool is_in_share = false;  // at least one of them
};

void add_count(PostgresBatch& batch, const std::string& route, std::uint64_t most,
               TimePoint began) {
  PostgresParameters parameters;
  parameters.add(std::string_view(route)).add(sql_limit(most) + 1);
  batch.add(PostgresStatement::count_waiting, std::move(parameters),
            [&batch, route, began](const PostgresRows& rows) {
              const TimePoint now = Clock::now();
              batch.hints.counted(route,
                                  static_cast<std::uint64_t>(rows.number<std::int64_t>(0, 0)), now,
                                  now - began);
            });
}

void add_tenants(PostgresBatch& batch, const std::string& route, TimePoint began) {
  PostgresParameters parameters;
  parameters.add(std::string_view(route)).add(sql_limit(PostgresHints::kMostTenants));
  batch.add(PostgresStatement::count_tenants, std::move(parameters),
            [&batch, route, began](const PostgresRows& rows) {
              PostgresHints::Tenants tenants;
              for (int row = 0; row < rows.size(); ++row)
                tenants[static_cast<TenantId>(rows.number<std::int64_t>(row, 0))] =
                    rows.number<std::int64_t>(row, 1);
              const TimePoint now = Clock::now();
              batch.hints.counted(route, std::move(tenants), now, now - began);
            });
}

// Tenants of the route may have reached their share.
bool is_scarce(const PostgresHints& hints, const std::string& route, const Wanted& want) {
  return want.is_in_share && jobs::is_room_scarce(hints.waiting(route) + want.jobs, want.most);
}

// Waiting jobs, plus those already accepted from this batch.
class Room {
 public:
  explicit Room(const PostgresHints& hints) : hints_(hints) {}

  // Takes a place if there is one left.
  Enqueue::Result take(const Enqueue& enqueue) {
    const jobs::Lane& lane = enqueue.job.lane;
    std::uint64_t& more = of_routes_[lane.route];
    std::uint64_t& its_more = of_tenants_[{lane.route, lane.tenant}];
    const std::uint64_t waiting = hints_.waiting(lane.route) + more;
    if (waiting >= enqueue.max_pending) return Enqueue::Result::full;
    const std::uint64_t its = hints_.waiting_of(lane) + its_more;
    if (enqueue.is_in_share && jobs::is_room_scarce(waiting, enqueue.max_pending) &&
        !jobs::tenant_has_room(its, waiting, enqueue.max_pending))
      return Enqueue::Result::share_full;
    ++more;
    ++its_more;
    return Enqueue::Result::accepted;
  }

 private:
  const PostgresHints& hints_;
  std::map<std::string, std::uint64_t> of_routes_;
  std::map<std::pair<std::string, TenantId>, std::uint64_t> of_tenants_;
};

// Keys and ids that are already in the store: those requests are not new, so they need no
// room.
struct Known {
  std::set<PostgresUuid> scopes, ids;

  bool has(const jobs::NewJob& job) const {
    return ids.contains(job.id.bytes) ||
           (job.idempotency && scopes.contains(job.idempotency->scope));
  }
};

void add_known(PostgresBatch& batch, std::span<Enqueue* const> enqueues, Known& known) {
  PostgresColumn scopes(uuid), ids(uuid);
  for (const Enqueue* each : enqueues) {
    if (each->job.idempotency) scopes.add(each->job.idempotency->scope);
    ids.add(each->job.id.bytes);
  }
  batch.add(PostgresStatement::look_up_scopes, of_scopes(std::move(scopes), std::move(ids), 0),
            [&known](const PostgresRows& rows) {
              for (int row = 0; row < rows.size(); ++row) {
                if (rows.is_null(row, 1)) continue;
                if (!rows.is_null(row, 0)) known.scopes.insert(rows.uuid(row, 0));
                known.ids.insert(rows.uuid(row, 1));
              }
            });
}

}  // namespace

bool admit(PostgresBatch& batch, std::span<Enqueue* const> enqueues) {
  std::map<std::string, Wanted> wanted;
  bool has_closed = false;  // to all but duplicates: then no counts are needed
  for (Enqueue* each : enqueues) {
    if (each->max_pending == 0) {
      has_closed = true;
      continue;
    }
    Wanted& of_route = wanted[each->job.lane.route];
    ++of_route.jobs;
    of_route.most = std::max(of_route.most, each->max_pending);
    of_route.is_in_share = of_route.is_in_share || each->is_in_share;
  }
  const TimePoint now = Clock::now();
  for (const auto& [route, want] : wanted) {
    if (batch.hints.needs_count(route, want.jobs, want.most, now)) {
      add_count(batch, route, want.most, now);
    }
  }
  if (!batch.flush()) return false;
  for (const auto& [route, want] : wanted) {
    if (is_scarce(batch.hints, route, want) && batch.hints.needs_tenants(route, now))
      add_tenants(batch, route, now);
  }
  const bool fits = !has_closed && std::all_of(wanted.begin(), wanted.end(), [&](const auto& each) {
    const auto& [route, want] = each;
    return batch.hints.waiting(route) + want.jobs <= want.most &&
           !is_scarce(batch.hints, route, want);
  });
  Known known;
  if (!fits) add_known(batch, enqueues, known);
  if (!batch.flush()) return false;
  Room room(batch.hints);
  for (Enqueue* each : enqueues) {
    each->result = Enqueue::Result::accepted;
    if (known.has(each->job)) continue;
    each->result = room.take(*each);
    if (each->result != Enqueue::Result::accepted) continue;
    if (each->job.idempotency) known.scopes.insert(each->job.idempotency->scope);
  }
  return true;
}

void add_enqueues(PostgresBatch& batch, std::span<Enqueue* const> group) {
  std::vector<Enqueue*> accepted;
  for (Enqueue* each : group) {
    if (each->result == Enqueue::Result::accepted) accepted.push_back(each);
  }
  const std::span<Enqueue* const> all(accepted);
  for (std::size_t from = 0; from < all.size();) {
    std::size_t to = from + 1;
    while (to < all.size() && go_together(*all[from], *all[to])) ++to;
    add_alike(batch, all.subspan(from, to - from));
    from = to;
  }
}

void add_has_unfinished(PostgresBatch& batch, HasUnfinished& asked) {
  PostgresParameters parameters;
  parameters.add(asked.order).add(std::string_view(asked.route));
  batch.add(PostgresStatement::look_up_line, std::move(parameters),
            [&asked](const PostgresRows& rows) { asked.has_any = rows.flag(0, 0); });
}

void add_buries(PostgresBatch& batch, std::span<Bury* const> group) {
  if (group.empty()) return;
  JobColumns columns;
  PostgresColumn cause(int2);
  std::set<jobs::JobId> ids;
  for (const Bury* each : group) {
    if (!ids.insert(each->job.id).second) continue;
    columns.add(each->job, std::nullopt);
    cause.add(static_cast<std::int16_t>(each->cause));
  }
  PostgresParameters parameters = columns.take();
  parameters.add(Epoch{0}).add(std::move(cause));
  batch.add(PostgresStatement::bury, std::move(parameters));
}

void add_lock_lines(PostgresBatch& batch, std::span<Command* const> commands) {
  PostgresColumn routes(text), orders(uuid), held(uuid), others(uuid);
  bool is_needed = false;
  for (Command* command : commands) {
    if (const auto* enqueue = std::get_if<Enqueue>(command); enqueue && enqueue->job.order) {
      routes.add(std::string_view(enqueue->job.lane.route));
      orders.add(*enqueue->job.order);
      is_needed = true;
    } else if (const auto* settle = std::get_if<Settle>(command)) {
      held.add(settle->id.bytes);
      is_needed = true;
    } else if (const auto* cancel = std::get_if<Cancel>(command)) {
      others.add(cancel->id.bytes);
      is_needed = true;
    }
  }
  if (!is_needed) return;
  PostgresParameters parameters;
  parameters.add(std::move(routes)).add(std::move(orders));
  parameters.add(std::move(held)).add(std::move(others));
  batch.add(PostgresStatement::lock_lines, std::move(parameters));
}

}  // namespace spillway::store
