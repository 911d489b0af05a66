// The operator's commands that change jobs, on PostgreSQL: Cancel, Replay and Purge.
#include "jobs/life.hpp"
#include "store/postgres/postgres_batch.hpp"

namespace spillway::store {
namespace {

using enum PostgresType;

// A job that has ended and may be replayed.
struct Dead {
  std::int64_t number = 0;
  jobs::Progress progress;
  jobs::JobId id;
  bool has_order = false;
  jobs::WallTime now{};
};

// The columns of pick_dead.
Dead dead_job(const PostgresRows& rows, int row) {
  Dead dead;
  dead.number = rows.number<std::int64_t>(row, 0);
  dead.progress.state = rows.state(row, 1);
  dead.progress.due = rows.time(row, 2);
  dead.progress.attempts = rows.number<std::uint32_t>(row, 3);
  dead.progress.recoveries = rows.number<std::uint32_t>(row, 4);
  dead.progress.cause = rows.cause(row, 5);
  dead.progress.ended = rows.time(row, 6);
  dead.id = rows.id(row, 7);
  dead.has_order = rows.flag(row, 8);
  dead.now = rows.time(row, 9);
  return dead;
}

// In their order of acceptance, `spacing` apart, the first one after `delay`.
void add_replays(PostgresBatch& batch, const std::vector<Dead>& dead, Replay& replay) {
  PostgresColumn number(int8), state(int2), due(int8), attempts(int4), recoveries(int4),
      cause(int2);
  PostgresColumn ids(uuid);
  bool has_order = false;
  for (const Dead& each : dead) {
    const auto place = static_cast<std::int64_t>(replay.jobs.size());
    const auto after =
        jobs::replayed(each.progress, each.now + replay.delay + place * replay.spacing);
    if (!after) continue;
    replay.jobs.push_back(each.id);
    number.add(each.number);
    state.add(static_cast<std::int16_t>(after->state));
    due.add(after->due);
    attempts.add(static_cast<std::int32_t>(after->attempts));
    recoveries.add(static_cast<std::int32_t>(after->recoveries));
    cause.add(static_cast<std::int16_t>(after->cause));
    batch.hints.appeared(after->due);
    if (!each.has_order) continue;
    has_order = true;
    ids.add(each.id.bytes);
  }
  if (replay.is_dry_run || replay.jobs.empty()) return;
  if (has_order) {
    PostgresParameters lock;
    lock.add(PostgresColumn(text)).add(PostgresColumn(uuid)).add(PostgresColumn(uuid));
    lock.add(std::move(ids));
    batch.add(PostgresStatement::lock_lines, std::move(lock));
  }
  PostgresParameters parameters;
  parameters.add(std::move(number)).add(std::move(state)).add(std::move(due));
  parameters.add(std::move(attempts)).add(std::move(recoveries)).add(std::move(cause));
  parameters.add(static_cast<std::int64_t>(replay.ttl.count()));
  batch.add(PostgresStatement::replay, std::move(parameters));
}

bool is_of_other_state(const Filter& filter) {
  return filter.state && *filter.state != jobs::JobState::dead &&
         *filter.state != jobs::JobState::expired;
}

}  // namespace

void add_filter(PostgresParameters& parameters, const Filter& filter) {
  std::optional<std::int16_t> state, cause;
  if (filter.state) state = static_cast<std::int16_t>(*filter.state);
  if (filter.cause) cause = static_cast<std::int16_t>(*filter.cause);
  std::optional<std::string_view> route;
  if (filter.route) route = *filter.route;
  parameters.add(state).add(route).add(cause);
  parameters.add(filter.accepted_from).add(filter.accepted_before);
  parameters.add(filter.ended_from).add(filter.ended_before);
  parameters.add(filter.id ? std::optional(filter.id->bytes) : std::nullopt);
}

void add_endings(PostgresBatch& batch, std::span<const EndingWaiting> endings) {
  if (endings.empty()) return;
  PostgresColumn number(int8), state(int2), due(int8), attempts(int4), recoveries(int4);
  PostgresColumn cause(int2), ended(int8);
  for (const EndingWaiting& each : endings) {
    number.add(each.number);
    state.add(static_cast<std::int16_t>(each.progress.state));
    due.add(each.progress.due);
    attempts.add(static_cast<std::int32_t>(each.progress.attempts));
    recoveries.add(static_cast<std::int32_t>(each.progress.recoveries));
    cause.add(static_cast<std::int16_t>(each.progress.cause));
    ended.add(each.progress.ended);
  }
  PostgresParameters parameters;
  parameters.add(std::move(number)).add(std::move(state)).add(std::move(due));
  parameters.add(std::move(attempts)).add(std::move(recoveries)).add(std::move(cause));
  parameters.add(std::move(ended));
  batch.add(PostgresStatement::end_waiting, std::move(parameters));
  batch.ends_jobs = true;
}

void do_cancel(PostgresBatch& batch, Cancel& cancel) {
  Find find{cancel.id, {}};
  std::optional<EndingWaiting> ending;
  cancel.was.reset();
  cancel.is_done = false;
  PostgresParameters parameters;
  parameters.add(cancel.id.bytes);
  // The row is locked first, so that it does not change before the next statement reads it.
  batch.add(PostgresStatement::pick_waiting, std::move(parameters), [&](const PostgresRows& rows) {
    ending.reset();
    if (rows.size() == 0) return;
    jobs::Progress before{rows.state(0, 1),
                          rows.time(0, 2),
                          rows.number<std::uint32_t>(0, 3),
                          rows.number<std::uint32_t>(0, 4),
                          rows.cause(0, 5),
                          {}};
    if (const auto after = jobs::cancelled(before, cancel.cause, rows.time(0, 6))) {
      ending = {rows.number<std::int64_t>(0, 0), *after};
    }
  });
  add_find(batch, find);
  if (!batch.flush()) return;
  if (find.job) cancel.was = find.job->progress.state;
  if (!ending) return;
  cancel.is_done = true;
  if (find.job)
    batch.hints.changed(find.job->lane, -1);
  else
    batch.hints.forget_counts();
  add_endings(batch, {&*ending, 1});
  batch.flush();
}

void do_replay(PostgresBatch& batch, Replay& replay) {
  replay.jobs.clear();
  replay.next.reset();
  if (is_of_other_state(replay.filter)) return;
  std::vector<Dead> dead;
  PostgresParameters parameters;
  add_filter(parameters, replay.filter);
  parameters.add(sql_limit(replay.limit));
  hurry(batch);
  batch.add(replay.filter.id ? PostgresStatement::pick_dead_one : PostgresStatement::pick_dead,
            std::move(parameters), [&dead](const PostgresRows& rows) {
              dead.clear();
              for (int row = 0; row < rows.size(); ++row) dead.push_back(dead_job(rows, row));
            });
  if (!batch.flush()) return;
  add_replays(batch, dead, replay);
  batch.hints.forget_counts();
}

void add_purge(PostgresBatch& batch, Purge& purge) {
  purge.next.reset();
  PostgresStatement statement = PostgresStatement::purge;
  if (purge.filter.state && !is_of_other_state(purge.filter)) {
    statement = PostgresStatement::purge_dead;
  }
  if (purge.filter.id) statement = PostgresStatement::purge_one;
  PostgresParameters parameters;
  add_filter(parameters, purge.filter);
  parameters.add(sql_limit(purge.limit)).add(purge.is_dry_run);
  parameters.add(static_cast<std::int64_t>(kKeyKept.count()));
  parameters.add(purge.after ? purge.after->number : 0);
  parameters.add(sql_limit(kMostLookedAt)).add(sql_limit(kStepBytes));
  hurry(batch);
  batch.add(PostgresStatement::hold_history);
  batch.add(statement, std::move(parameters), [&purge](const PostgresRows& rows) {
    purge.count = static_cast<std::uint64_t>(rows.number<std::int64_t>(0, 0));
    if (!rows.is_null(0, 1)) purge.next = Cursor{.number = rows.number<std::int64_t>(0, 1)};
  });
}

}  // namespace spillway::store
