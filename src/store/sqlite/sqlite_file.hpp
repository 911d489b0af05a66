// The file of a SQLite store before SQLite sees it: is it free, is it ours, is there one at all.
#pragma once

#include <filesystem>
#include <optional>

#include "store/contract/failure.hpp"
#include "store/sqlite/sqlite_schema.hpp"

namespace spillway::store {

// An flock(2) on FILE.lock: of one process, and of one store in it. The store's file itself is left
// to SQLite, whose locks would be lost when another descriptor of it is closed.
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

// Makes the file if there is none, or an empty one; refuses one that is not ours. A new one is made
// beside and renamed, so that it is there whole or not at all. Its mode is 0600.
std::optional<Failure> prepare_file(const std::filesystem::path& file, const Schema& schema);

}  // namespace spillway::store
