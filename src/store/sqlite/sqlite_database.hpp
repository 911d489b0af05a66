// A connection to SQLite and its prepared statements, as RAII objects.
//
// Errors are sticky: after the first one in a transaction nothing is executed, rows are absent, and
// the code that ends the transaction checks failed() once. So commands need no error paths.
#pragma once

#include <sqlite3.h>

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "store/contract/job_store.hpp"

namespace spillway::store {

// Another process, such as the sqlite3 shell, may hold a lock for a short time.
inline constexpr int kBusyMilliseconds = 2000;

class Database {
 public:
  Database() = default;
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  bool open(const std::string& file);  // an existing file
  void close();                        // all statements must be destroyed before
  sqlite3* handle() const { return handle_; }

  // For statements without result rows that are executed once, or rarely.
  bool run(const char* sql);
  // The first column of the first row of a PRAGMA or SELECT.
  std::optional<std::int64_t> number(const char* sql);
  std::string text(const char* sql);

  bool failed() const { return code_ != SQLITE_OK; }
  void fail(int code);
  void forgive() { code_ = SQLITE_OK; }
  Failure failure() const;  // the first error

 private:
  sqlite3* handle_ = nullptr;
  int code_ = SQLITE_OK;
  int system_error_ = 0;
  std::string file_;
  std::string message_;
};

// Bytes to bind or read as a BLOB; a std::string_view is TEXT.
struct Blob {
  const void* data = nullptr;
  std::size_t size = 0;
};
inline Blob blob(std::string_view bytes) { return {bytes.data(), bytes.size()}; }
template <std::size_t Size>
Blob blob(const std::array<std::uint8_t, Size>& bytes) {
  return {bytes.data(), bytes.size()};
}

// One execution of a statement. Values bound by reference must outlive it.
class Rows {
 public:
  Rows(Database& database, sqlite3_stmt* statement);
  ~Rows();
  Rows(Rows&& other) noexcept;
  Rows(const Rows&) = delete;
  Rows& operator=(const Rows&) = delete;

  // Binds the parameters after those already bound.
  template <class... Values>
  void add(const Values&... values) {
    (bind(++bound_, values), ...);
  }
  bool next();
  // For a statement without result rows.
  void finish() {
    while (next()) {
    }
  }
  std::int64_t number(int column) const;
  bool is_null(int column) const;
  std::string text(int column) const;  // TEXT or BLOB
  template <std::size_t Size>
  void read(int column, std::array<std::uint8_t, Size>& bytes) const {
    copy(column, bytes);
  }

 private:
  void bind(int at, std::int64_t value);
  void bind(int at, std::optional<std::int64_t> value);
  void bind(int at, std::string_view text);
  void bind(int at, Blob bytes);
  void bind(int at, const std::optional<Blob>& bytes);
  void copy(int column, std::span<std::uint8_t> bytes) const;

  Database* database_;
  sqlite3_stmt* statement_;
  int bound_ = 0;
};

// Prepared on first use, and kept.
class Statement {
 public:
  Statement(Database& database, std::string sql) : database_(database), sql_(std::move(sql)) {}
  ~Statement() { sqlite3_finalize(statement_); }
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;

  template <class... Values>
  Rows with(const Values&... values) {
    Rows rows(database_, prepared());
    rows.add(values...);
    return rows;
  }
  // For statements without result rows.
  template <class... Values>
  void execute(const Values&... values) {
    with(values...).finish();
  }

 private:
  sqlite3_stmt* prepared();

  Database& database_;
  std::string sql_;
  sqlite3_stmt* statement_ = nullptr;
};

}  // namespace spillway::store
