// Commands of proxies and their leases on PostgreSQL: Join, Renew, Leave, Release and Sweep.
#include <optional>
#include <set>
#include <utility>

#include "jobs/life.hpp"
#include "store/postgres/postgres_batch.hpp"

namespace spillway::store {
namespace {

struct Held {
  jobs::JobId id;
  Epoch epoch = 0;
  jobs::Progress progress;
  jobs::WallTime now{};
};

// The columns of kOfLeased.
PostgresBatch::Read read_held(std::vector<Held>& into) {
  return [&into](const PostgresRows& rows) {
    into.clear();
    for (int row = 0; row < rows.size(); ++row) {
      Held held;
      held.id = rows.id(row, 0);
      held.epoch = rows.number<Epoch>(row, 1);
      held.progress.state = jobs::JobState::leased;
      held.progress.due = rows.time(row, 2);
      held.progress.attempts = rows.number<std::uint32_t>(row, 3);
      held.progress.recoveries = rows.number<std::uint32_t>(row, 4);
      held.progress.cause = rows.cause(row, 5);
      held.now = rows.time(row, 6);
      into.push_back(held);
    }
  };
}

struct Expiring {
  std::int64_t number = 0;
  jobs::Progress progress;
  jobs::JobId id;
  jobs::WallTime now{};
};

PostgresBatch::Read read_expiring(std::vector<Expiring>& into) {
  return [&into](const PostgresRows& rows) {
    into.clear();
    for (int row = 0; row < rows.size(); ++row) {
      Expiring each;
      each.number = rows.number<std::int64_t>(row, 0);
      each.progress.state = rows.state(row, 1);
      each.progress.due = rows.time(row, 2);
      each.progress.attempts = rows.number<std::uint32_t>(row, 3);
      each.progress.recoveries = rows.number<std::uint32_t>(row, 4);
      each.progress.cause = rows.cause(row, 5);
      each.now = rows.time(row, 6);
      each.id = rows.id(row, 7);
      into.push_back(each);
    }
  };
}

// Collects the new states of held jobs, and settles them under the epochs that held them.
class Settling {
 public:
  void add(const Held& held, const jobs::Progress& progress,
           std::optional<jobs::Attempt> attempt = std::nullopt) {
    Settle settle;
    settle.epoch = held.epoch;
    settle.id = held.id;
    settle.progress = progress;
    settle.attempt = std::move(attempt);
    settles_.push_back(std::move(settle));
  }
  // Call it once; this object must live until the batch has been flushed.
  void send(PostgresBatch& batch) {
    std::vector<Settle*> group;
    for (Settle& each : settles_) group.push_back(&each);
    add_settles(batch, group);
  }

 private:
  std::vector<Settle> settles_;
};

PostgresParameters with_limit(std::size_t limit) {
  PostgresParameters parameters;
  parameters.add(sql_limit(limit));
  return parameters;
}

void recover(const Sweep& sweep, const std::vector<Held>& orphans, Settling& settling,
             Sweep& answer) {
  for (const Held& held : orphans) {
    const jobs::Progress after = jobs::recovered(held.progress, sweep.most_recoveries, held.now);
    auto& which = jobs::has_ended(after.state) ? answer.poisoned : answer.recovered;
    which.push_back(held.id);
    settling.add(held, after, jobs::cut_off(held.now));
  }
}

void expire(PostgresBatch& batch, const std::vector<Expiring>& waiting, Sweep& answer) {
  std::vector<EndingWaiting> endings;
  for (const Expiring& each : waiting) {
    const auto after = jobs::expired(each.progress, each.now);
    if (!after) continue;
    endings.push_back({each.number, *after});
    answer.expired.push_back(each.id);
  }
  add_endings(batch, endings);
}

}  // namespace

void add_join(PostgresBatch& batch, Join& join) {
  PostgresParameters parameters;
  parameters.add(std::string_view(join.name)).add(static_cast<std::int64_t>(join.lease.count()));
  parameters.add(join.former);
  batch.add(PostgresStatement::join, std::move(parameters), [&join](const PostgresRows& rows) {
    join.epoch = rows.number<Epoch>(0, 0);
    join.now = rows.time(0, 1);
  });
  batch.add(PostgresStatement::clear_keys);  // scans the whole table, so not with each sweep
}

void add_renew(PostgresBatch& batch, Renew& renew) {
  PostgresParameters parameters;
  parameters.add(renew.epoch).add(static_cast<std::int64_t>(renew.lease.count()));
  parameters.add(renew.rate);
  PostgresColumn routes(PostgresType::text), kinds(PostgresType::int2), held(PostgresType::int8),
      shares(PostgresType::boolean);
  for (const auto& [cap, part] : renew.parts) {
    routes.add(std::string_view(cap.route));
    kinds.add(static_cast<std::int16_t>(cap.kind));
    held.add(part.held);
    shares.add(part.shares);
  }
  parameters.add(std::move(routes)).add(std::move(kinds)).add(std::move(held));
  parameters.add(std::move(shares)).add(renew.number);
  batch.add(PostgresStatement::renew, std::move(parameters), [&renew](const PostgresRows& rows) {
    renew.is_lost = rows.size() == 0;
    if (renew.is_lost) return;
    renew.now = rows.time(0, 0);
    renew.rate_of_others = rows.number<std::int64_t>(0, 1);
    renew.others.clear();
    for (int row = 0; row < rows.size() && !rows.is_null(row, 2); ++row) {
      const jobs::CapId cap{rows.text(row, 3),
                            static_cast<jobs::CapKind>(rows.number<std::int16_t>(row, 4))};
      renew.others[rows.number<Epoch>(row, 2)][cap] = {rows.number<std::int64_t>(row, 5),
                                                       rows.flag(row, 6)};
    }
  });
}

void do_leave(PostgresBatch& batch, Leave& leave) {
  Release all{.epoch = leave.epoch};
  do_release(batch, all);
  PostgresParameters parameters;
  parameters.add(leave.epoch);
  batch.add(PostgresStatement::leave, std::move(parameters));
  batch.flush();
}

void do_release(PostgresBatch& batch, Release& release) {
  std::vector<Held> held;
  PostgresParameters parameters;
  parameters.add(release.epoch);
  batch.add(PostgresStatement::pick_held, std::move(parameters), read_held(held));
  if (!batch.flush()) return;
  const std::set<jobs::JobId> kept(release.kept.begin(), release.kept.end());
  Settling settling;
  for (const Held& each : held) {
    if (kept.contains(each.id)) continue;
    settling.add(each, jobs::given_back(each.progress, each.now));
  }
  settling.send(batch);
  batch.flush();
}

namespace {

// Condemns the proxies found silent so far; later sweeps use what is seen here.
void add_condemn(PostgresBatch& batch, const Sweep& sweep) {
  PostgresLeaseWatch& leases = batch.hints.leases();
  const auto silent = leases.silent_for(sweep.silence, sweep.at);
  const bool is_at_once = sweep.silence == Duration{0};
  for (const auto statement : {PostgresStatement::condemn, PostgresStatement::end_sessions}) {
    if (silent.empty() && !is_at_once) break;
    PostgresColumn epochs(PostgresType::int8), ends(PostgresType::int8);
    for (const PostgresLeaseWatch::One& one : silent) {
      epochs.add(one.epoch);
      ends.add(one.lease_end);
    }
    PostgresParameters parameters;
    parameters.add(std::move(epochs)).add(std::move(ends)).add(is_at_once);
    batch.add(statement, std::move(parameters));
  }
  // As of their arrival: a delay of this batch has not delayed the renewals.
  const auto see = [&leases, at = sweep.at, asked = Clock::now()](const PostgresRows& rows) {
    std::vector<PostgresLeaseWatch::One> seen;
    for (int row = 0; row < rows.size(); ++row)
      seen.push_back({rows.number<Epoch>(row, 0), rows.time(row, 1)});
    leases.see(seen, at + (Clock::now() - asked));
  };
  batch.add(PostgresStatement::see_leases, {}, see);
}

}  // namespace

void do_sweep(PostgresBatch& batch, Sweep& sweep) {
  std::vector<Held> orphans;
  std::vector<Expiring> expiring;
  sweep.expired.clear();
  sweep.recovered.clear();
  sweep.poisoned.clear();
  add_condemn(batch, sweep);
  batch.add(PostgresStatement::pick_orphans, with_limit(sweep.limit), read_held(orphans));
  batch.add(PostgresStatement::pick_expired, with_limit(sweep.limit), read_expiring(expiring));
  PostgresParameters forget = with_limit(sweep.limit);
  forget.add(static_cast<std::int64_t>(kKeyKept.count()));
  batch.add(PostgresStatement::forget, std::move(forget), [&sweep](const PostgresRows& rows) {
    sweep.forgotten = static_cast<std::uint64_t>(rows.number<std::int64_t>(0, 0));
  });
  batch.add(PostgresStatement::forget_keys, with_limit(sweep.limit));
  if (!batch.flush()) return;
  Settling settling;
  recover(sweep, orphans, settling, sweep);
  settling.send(batch);
  expire(batch, expiring, sweep);
  batch.add(PostgresStatement::forget_proxies);
  // Recounting a long queue takes longer than accepting thousands of jobs.
  if (!orphans.empty() || !expiring.empty()) batch.hints.forget_counts();
  sweep.has_more = orphans.size() >= sweep.limit || expiring.size() >= sweep.limit ||
                   sweep.forgotten >= sweep.limit;
  batch.flush();
}

}  // namespace spillway::store
