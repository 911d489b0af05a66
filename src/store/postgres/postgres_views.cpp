// Commands that read jobs, on PostgreSQL: Find, ReadAnswer, Inspect and List.
#include "store/postgres/postgres_batch.hpp"

namespace spillway::store {
namespace {

// The columns of kView.
jobs::JobView job_view(const PostgresRows& rows, int row) {
  jobs::JobView view;
  view.id = rows.id(row, 0);
  view.lane.rank = static_cast<std::uint8_t>(rows.number<std::int16_t>(row, 1));
  view.lane.route = rows.text(row, 2);
  view.lane.tenant = static_cast<TenantId>(rows.number<std::uint64_t>(row, 3));
  view.tenant_name = rows.text(row, 4);
  view.method = rows.text(row, 5);
  view.target = rows.text(row, 6);
  view.accepted = rows.time(row, 7);
  view.expires = rows.time(row, 8);
  view.progress.state = rows.state(row, 9);
  view.progress.due = rows.time(row, 10);
  view.progress.attempts = rows.number<std::uint32_t>(row, 11);
  view.progress.recoveries = rows.number<std::uint32_t>(row, 12);
  view.progress.cause = rows.cause(row, 13);
  view.progress.ended = rows.time(row, 14);
  view.body_bytes = rows.number<std::uint64_t>(row, 15);
  view.status = rows.number<std::uint16_t>(row, 16);
  return view;
}
constexpr int kViewColumns = 17;

// Added after the view itself.
void add_position(PostgresBatch& batch, const jobs::JobId& id, std::optional<jobs::JobView>& view) {
  PostgresParameters parameters;
  parameters.add(id.bytes).add(static_cast<std::int64_t>(kLastPosition) + 1);
  batch.add(PostgresStatement::position, std::move(parameters), [&view](const PostgresRows& rows) {
    const auto position = rows.number<std::uint64_t>(0, 0);
    if (view) view->position = position <= kLastPosition ? position : 0;
  });
}

PostgresStatement list_from(const Filter& filter) {
  if (filter.id) return PostgresStatement::list_one;
  if (!filter.state) return PostgresStatement::list_all;
  switch (*filter.state) {
    case jobs::JobState::queued:
    case jobs::JobState::retrying: return PostgresStatement::list_waiting;
    case jobs::JobState::leased: return PostgresStatement::list_leased;
    case jobs::JobState::dead:
    case jobs::JobState::expired: return PostgresStatement::list_dead;
    case jobs::JobState::succeeded:
    case jobs::JobState::cancelled: break;
  }
  return PostgresStatement::list_ended;
}

}  // namespace

void add_find(PostgresBatch& batch, Find& find) {
  PostgresParameters parameters;
  parameters.add(find.id.bytes);
  batch.add(PostgresStatement::find, std::move(parameters), [&find](const PostgresRows& rows) {
    find.job.reset();
    if (rows.size() > 0) find.job = job_view(rows, 0);
  });
  add_position(batch, find.id, find.job);
}

void add_is_settled(PostgresBatch& batch, Settle& settle) {
  PostgresParameters parameters;
  parameters.add(settle.id.bytes);
  batch.add(PostgresStatement::find, std::move(parameters), [&settle](const PostgresRows& rows) {
    if (!settle.is_lost || rows.size() == 0) return;
    settle.is_lost = job_view(rows, 0).progress != settle.progress;
  });
}

void add_read_answer(PostgresBatch& batch, ReadAnswer& read) {
  PostgresParameters parameters;
  parameters.add(read.id.bytes);
  batch.add(PostgresStatement::read_answer, std::move(parameters),
            [&read](const PostgresRows& rows) {
              read.state.reset();
              read.answer.reset();
              if (rows.size() == 0) return;
              read.state = rows.state(0, 0);
              if (rows.is_null(0, 1)) return;
              read.answer = jobs::StoredAnswer{rows.number<std::uint16_t>(0, 1), rows.text(0, 3),
                                               rows.text(0, 4), rows.flag(0, 2)};
            });
}

void add_inspect(PostgresBatch& batch, Inspect& inspect) {
  PostgresParameters parameters;
  parameters.add(inspect.id.bytes)
      .add(static_cast<std::int32_t>(std::min<std::size_t>(inspect.body_limit, 1 << 30)));
  batch.add(PostgresStatement::inspect, std::move(parameters),
            [&inspect](const PostgresRows& rows) {
              inspect.job.reset();
              if (rows.size() == 0) return;
              inspect.job = job_view(rows, 0);
              inspect.head = rows.text(0, kViewColumns);
              inspect.body = rows.text(0, kViewColumns + 1);
            });
  add_position(batch, inspect.id, inspect.job);
  PostgresParameters of_job;
  of_job.add(inspect.id.bytes).add(sql_limit(kMostAttempts));
  batch.add(PostgresStatement::read_attempts, std::move(of_job),
            [&inspect](const PostgresRows& rows) {
              inspect.attempts.clear();
              for (int row = 0; row < rows.size(); ++row) {
                inspect.attempts.push_back({rows.number<std::uint32_t>(row, 0), rows.time(row, 1),
                                            rows.time(row, 2), rows.cause(row, 3),
                                            rows.number<std::uint16_t>(row, 4), rows.text(row, 5)});
              }
            });
}

void add_list(PostgresBatch& batch, List& list) {
  PostgresParameters parameters;
  add_filter(parameters, list.filter);
  parameters.add(list.after ? std::optional(list.after->bytes) : std::nullopt);
  parameters.add(sql_limit(list.limit));
  hurry(batch);
  batch.add(list_from(list.filter), std::move(parameters), [&list](const PostgresRows& rows) {
    list.jobs.clear();
    list.next.reset();
    for (int row = 0; row < rows.size(); ++row) list.jobs.push_back(job_view(rows, row));
    if (!list.jobs.empty() && list.jobs.size() >= list.limit) list.next = list.jobs.back().id;
  });
}

}  // namespace spillway::store
