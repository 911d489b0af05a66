// The store in one SQLite file, for one process at a time (an flock(2) on FILE.lock). WAL with
// synchronous=FULL: what execute() has acknowledged survives a loss of power.
#pragma once

#include <filesystem>
#include <string_view>

#include "store/contract/job_store.hpp"
#include "store/contract/key.hpp"

namespace spillway::store {

// In the directory of the store, unless its URL names another one.
inline constexpr std::string_view kDefaultFile = "spillway.db";

// Whether another process has it open. It may have been opened or closed since.
bool is_in_use(const std::filesystem::path& file);

Opened open_sqlite(const std::filesystem::path& file, const KeyMark& mark);

}  // namespace spillway::store
