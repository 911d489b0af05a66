#include "unit/store/postgres_contract.hpp"

#include <stdexcept>

namespace spillway::store {

support::Postgres& postgres_server() {
  static support::Postgres server;
  return server;
}

std::unique_ptr<JobStore> PostgresContract::make() {
  url_ = postgres_server().create_database();
  return reopen();
}

std::unique_ptr<JobStore> PostgresContract::reopen() {
  Opened opened = open_store(url_, {}, key_);
  if (!opened.store) throw std::runtime_error(opened.failure.text);
  set_clock();
  return std::move(opened.store);
}

void PostgresContract::pass(std::chrono::milliseconds time) {
  Contract::pass(time);
  if (!url_.empty()) set_clock();
}

// All that the store knows of time comes from this function.
void PostgresContract::set_clock() const {
  support::Postgres::ask(url_,
                         "CREATE OR REPLACE FUNCTION spillway.now_ms() RETURNS bigint "
                         "LANGUAGE sql VOLATILE AS 'SELECT " +
                             std::to_string(now().time_since_epoch().count()) + "::bigint'");
}

}  // namespace spillway::store
