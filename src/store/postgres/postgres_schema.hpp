// The tables of the PostgreSQL store, in a schema of their own.
//
// A job is immutable (`job`) except for its state, which is the table it is in: it has one row in
// exactly one of `waiting`, `leased` and `ended`. A transition deletes a narrow row and inserts
// another, so that neither bodies nor the random index of ids are rewritten.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace spillway::store {

// Migrations, forward only: the n-th upgrades version n to version n + 1. Each is a sequence of SQL
// commands, executed in one transaction, with the schema first in search_path.
std::span<const std::string_view> postgres_migrations();

// The schema, unless the URL's options set a search_path: then the first schema in that.
inline constexpr std::string_view kPostgresSchema = "spillway";

}  // namespace spillway::store
