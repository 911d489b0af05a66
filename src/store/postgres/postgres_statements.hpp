// The prepared statements of the PostgreSQL store. What is repeated often is one statement for a
// whole batch, its columns as arrays.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace spillway::store {

enum class PostgresStatement : std::uint8_t {
  begin,
  commit,
  rollback,
  join,
  renew,
  leave,
  condemn,         // proxies whose lease is over
  end_sessions,    // of those proxies, and of those that could not be condemned
  see_leases,      // of the others
  forget_proxies,  // those of them that hold no job any more
  lock_lines,
  enqueue,
  enqueue_ordered,
  careful_enqueue,
  careful_enqueue_ordered,
  bury,
  let_go_keys,
  take_keys,
  clear_keys,  // of proxies that are gone
  look_up_scopes,
  look_up_line,
  claim,
  claim_and_tell,
  settle,
  advance_lines,
  end_waiting,
  pick_waiting,  // one job, by its id
  pick_expired,
  pick_held,     // by a proxy
  pick_orphans,  // held by a proxy that is over
  forget,
  forget_keys,
  turn_periods,
  keep_history,
  hold_history,  // nothing of it is moved till the end of the transaction
  lanes,
  announce,
  count_waiting,
  count_tenants,
  find,
  position,
  read_answer,
  inspect,
  read_attempts,
  list_all,
  list_waiting,
  list_leased,
  list_ended,
  list_dead,
  list_one,
  pick_dead,
  pick_dead_one,
  replay,
  purge,
  purge_dead,
  purge_one,
  totals,
  sizes,
  hurry,
  keep_mark,
  room_write,
  room_rows,
  room_snapshot,
  room_keep,
  room_secret,
  room_secrets,
  room_replace,
  room_restore,
  room_forget_former,
  room_forget,
};

struct PostgresStatementText {
  PostgresStatement statement;
  std::string text;
};

// What moves jobs; what watches over them; what is read or done for clients and operators.
std::vector<PostgresStatementText> postgres_queue_statements();
std::vector<PostgresStatementText> postgres_lease_statements();
std::vector<PostgresStatementText> postgres_view_statements();
// Of waiting rooms.
std::vector<PostgresStatementText> postgres_room_statements();

// All of them; each statement stands there once.
std::vector<PostgresStatementText> postgres_statements();

// What it is prepared as.
std::string prepared_name(PostgresStatement statement);

}  // namespace spillway::store
