// The tables of a SQLite file and their versions. Forward only: a later version is refused.
#pragma once

#include <cstdint>
#include <span>

#include "store/sqlite/sqlite_database.hpp"

namespace spillway::store {

struct Schema {
  // Stored in the file's header (https://www.sqlite.org/fileformat.html, offset 68).
  std::uint32_t application_id = 0;
  // Index n upgrades version n to version n + 1. Released steps must not be edited.
  std::span<const char* const> steps;

  std::int64_t newest() const { return static_cast<std::int64_t>(steps.size()); }
};

extern const Schema kJobTables;    // "SPLW"
extern const Schema kPlaceTables;  // "SPLP"

// In one transaction. Errors are left in the database.
void migrate(Database& database, const Schema& schema);

}  // namespace spillway::store
