// Brings a database's schema up to date. Versioned, forward only, one process at a time.
#pragma once

#include <libpq-fe.h>

#include <optional>
#include <string>
#include <string_view>

#include "store/contract/job_store.hpp"

namespace spillway::store {

// Puts the store's schema first in the session's search_path and creates what is missing. Touches
// no other schema. A newer version, or tables that are not a store's: a failure, and nothing is
// changed.
std::optional<Failure> migrate_postgres(PGconn* connection);

// What an SQLSTATE means for the store.
Failure postgres_failure(const PGresult* result);
// libpq's and the server's messages as one sentence.
std::string one_line(std::string_view message);

}  // namespace spillway::store
