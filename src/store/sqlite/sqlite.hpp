// The store in one SQLite file, for one process at a time (an flock(2) on FILE.lock). WAL with
// synchronous=FULL: acknowledged batches survive a loss of power.
#pragma once

#include <filesystem>
#include <string_view>

#include "store/contract/job_store.hpp"
#include "store/contract/key.hpp"

namespace spillway::store {

// In the directory of the store, unless the URL names another.
inline constexpr std::string_view kDefaultFile = "spillway.db";

// Whether another process has the file open. This may change at any time.
bool is_in_use(const std::filesystem::path& file);

Opened open_sqlite(const std::filesystem::path& file, const KeyMark& mark);

}  // namespace spillway::store
