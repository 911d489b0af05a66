// Checks of a store's file before SQLite opens it: locking, its type, and its creation.
#pragma once

#include <filesystem>
#include <optional>

#include "store/contract/failure.hpp"
#include "store/sqlite/sqlite_schema.hpp"

namespace spillway::store {

// An flock(2) on FILE.lock: held by one process, and by one store in it. The store's file itself is
// left to SQLite, whose locks would be lost when another descriptor of it is closed.
class FileLock {
 public:
  FileLock() = default;
  ~FileLock();
  FileLock(FileLock&& other) noexcept;
  FileLock& operator=(FileLock&&) = delete;

  std::optional<Failure> take(const std::filesystem::path& file);

 private:
  int descriptor_ = -1;
};

// Creates the file if it is missing or empty; refuses one that is not a Spillway store. A new one
// gets its name once it is complete, so that it is never there in part. Its mode is 0600.
std::optional<Failure> prepare_file(const std::filesystem::path& file, const Schema& schema);

}  // namespace spillway::store
