// The tables of a SQLite store and their versions. Forward only: a later version is refused.
#pragma once

#include <cstdint>

#include "store/sqlite_database.hpp"

namespace spillway::store {

// "SPLW": in the header of the file (https://www.sqlite.org/fileformat.html, offset 68).
inline constexpr std::uint32_t kApplicationId = 0x53504c57;

std::int64_t newest_schema();
// In one transaction. A failure is the database's.
void migrate(Database& database);

}  // namespace spillway::store
