// Settle on PostgreSQL: records how attempts of jobs have ended.
#include <map>

#include "store/postgres/postgres_batch.hpp"

namespace spillway::store {
namespace {

using enum PostgresType;

// The columns of kSettle, in their order.
struct SettleColumns {
  PostgresColumn id{uuid}, epoch{int8}, state{int2}, due{int8}, attempts{int4}, recoveries{int4};
  PostgresColumn cause{int2}, ended{int8}, status{int2}, fields{bytea}, body{bytea},
      is_cut{boolean};
  PostgresColumn counted{int4}, attempt_began{int8}, attempt_ended{int8}, attempt_cause{int2};
  PostgresColumn attempt_status{int2}, detail{bytea};

  void add(const Settle& settle) {
    id.add(settle.id.bytes);
    epoch.add(settle.epoch);
    const jobs::Progress& progress = settle.progress;
    state.add(static_cast<std::int16_t>(progress.state));
    due.add(progress.due);
    attempts.add(static_cast<std::int32_t>(progress.attempts));
    recoveries.add(static_cast<std::int32_t>(progress.recoveries));
    cause.add(static_cast<std::int16_t>(progress.cause));
    ended.add(progress.ended);
    add_answer(settle.answer);
    add_attempt(settle.attempt);
  }

  void add_answer(const std::optional<jobs::StoredAnswer>& answer) {
    if (!answer) {
      for (PostgresColumn* column : {&status, &fields, &body}) column->add_null();
      is_cut.add(false);
      return;
    }
    status.add(static_cast<std::int16_t>(answer->status));
    fields.add(std::string_view(answer->fields));
    body.add(std::string_view(answer->body));
    is_cut.add(answer->is_cut);
  }

  void add_attempt(const std::optional<jobs::Attempt>& attempt) {
    if (!attempt) {
      for (PostgresColumn* column :
           {&counted, &attempt_began, &attempt_ended, &attempt_cause, &attempt_status, &detail}) {
        column->add_null();
      }
      return;
    }
    counted.add(static_cast<std::int32_t>(attempt->number));
    attempt_began.add(attempt->began);
    attempt_ended.add(attempt->ended);
    attempt_cause.add(static_cast<std::int16_t>(attempt->cause));
    attempt_status.add(static_cast<std::int16_t>(attempt->status));
    detail.add(std::string_view(attempt->detail));
  }

  PostgresParameters take() {
    PostgresParameters all;
    for (PostgresColumn* column :
         {&id, &epoch, &state, &due, &attempts, &recoveries, &cause, &ended, &status, &fields,
          &body, &is_cut, &counted, &attempt_began, &attempt_ended, &attempt_cause, &attempt_status,
          &detail}) {
      all.add(std::move(*column));
    }
    return all;
  }
};

}  // namespace

void add_settles(PostgresBatch& batch, std::span<Settle* const> group) {
  if (group.empty()) return;
  SettleColumns columns;
  std::map<jobs::JobId, Settle*> by_id;
  for (Settle* each : group) {
    columns.add(*each);
    by_id[each->id] = each;
    if (jobs::has_ended(each->progress.state)) batch.ends_jobs = true;
  }
  batch.add(PostgresStatement::settle, columns.take(),
            [&batch, by_id = std::move(by_id)](const PostgresRows& rows) {
              for (const auto& [id, settle] : by_id) settle->is_lost = true;
              for (int row = 0; row < rows.size(); ++row) {
                const auto found = by_id.find(rows.id(row, 0));
                if (found == by_id.end()) continue;
                Settle& settle = *found->second;
                settle.is_lost = false;
                if (!jobs::waits(settle.progress.state)) continue;
                batch.hints.appeared(settle.progress.due);
                if (settle.progress.recoveries > 0) batch.hints.recovered();
                jobs::Lane lane;
                lane.route = rows.text(row, 1);
                lane.tenant = static_cast<TenantId>(rows.number<std::uint64_t>(row, 2));
                batch.hints.changed(lane, 1);
              }
            });
  for (Settle* each : group)
    if (each->is_sent_again) add_is_settled(batch, *each);
}

}  // namespace spillway::store
