// The prepared statements of the PostgreSQL store. Frequent commands have one statement for a whole
// batch, with its columns as arrays.
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
  end_sessions,    // of those proxies, and of others that could not be condemned
  see_leases,      // of the other proxies
  forget_proxies,  // condemned proxies that hold no jobs any more
  lock_lines,
  enqueue,
  enqueue_ordered,
  careful_enqueue,
  careful_enqueue_ordered,
  bury,
  let_go_keys,
  take_keys,
  clear_keys,  // of proxies that have ended
  look_up_scopes,
  look_up_line,
  claim,
  claim_and_tell,
  settle,
  advance_lines,
  end_waiting,
  pick_waiting,  // one job, by its id
  pick_expired,
  pick_held,     // held by a given proxy
  pick_orphans,  // held by a condemned proxy
  forget,
  forget_keys,
  turn_periods,
  keep_history,
  hold_history,  // nothing of it is moved until the end of the transaction
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

// Statements that move jobs; that monitor leases; that serve clients and operators.
std::vector<PostgresStatementText> postgres_queue_statements();
std::vector<PostgresStatementText> postgres_lease_statements();
std::vector<PostgresStatementText> postgres_view_statements();
// For waiting rooms.
std::vector<PostgresStatementText> postgres_room_statements();

// All of them, each exactly once.
std::vector<PostgresStatementText> postgres_statements();

// The name under which it is prepared.
std::string prepared_name(PostgresStatement statement);

}  // namespace spillway::store
