// Upgrades a database's schema. Versioned, forward only, by one process at a time.
#pragma once

#include <libpq-fe.h>

#include <optional>
#include <string>
#include <string_view>

#include "store/contract/job_store.hpp"

namespace spillway::store {

// Puts the store's schema first in the session's search_path and creates what is missing. Does not
// touch other schemas. With a newer version, or tables that are not a store's, it fails and changes
// nothing.
std::optional<Failure> migrate_postgres(PGconn* connection);

// The store's failure for an SQLSTATE.
Failure postgres_failure(const PGresult* result);
// libpq's and the server's messages as one sentence.
std::string one_line(std::string_view message);

}  // namespace spillway::store
