#include "store/sqlite/sqlite_database.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace spillway::store {

namespace {

Failure::Kind kind_of(int code, int system_error) {
  switch (code & 0xff) {
    case SQLITE_FULL: return Failure::Kind::full;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB: return Failure::Kind::corrupt;
    case SQLITE_BUSY:
    case SQLITE_LOCKED: return Failure::Kind::in_use;
    default: break;
  }
  const bool no_room = system_error == ENOSPC || system_error == EDQUOT || system_error == EFBIG;
  return no_room ? Failure::Kind::full : Failure::Kind::unavailable;
}

// The errno of a failed commit is available only from the log's file.
int last_error_of_log(sqlite3* handle) {
  sqlite3_file* log = nullptr;
  sqlite3_file_control(handle, "main", SQLITE_FCNTL_JOURNAL_POINTER, &log);
  int error = 0;
  if (log != nullptr && log->pMethods != nullptr) {
    log->pMethods->xFileControl(log, SQLITE_FCNTL_LAST_ERRNO, &error);
  }
  return error;
}

}  // namespace

Database::~Database() { close(); }

// Without memory statistics, SQLite saves locking a mutex twice per allocation. If something in the
// process has used SQLite before, this has no effect.
bool Database::open(const std::string& file) {
  [[maybe_unused]] static const int is_configured = sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
  file_ = file;
  constexpr int kFlags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
  const int code = sqlite3_open_v2(file.c_str(), &handle_, kFlags, nullptr);
  if (code != SQLITE_OK) {
    fail(code);
    return false;
  }
  sqlite3_busy_timeout(handle_, kBusyMilliseconds);
  return true;
}

void Database::close() {
  sqlite3_close(handle_);
  handle_ = nullptr;
}

bool Database::run(const char* sql) {
  if (failed()) return false;
  const int code = sqlite3_exec(handle_, sql, nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) fail(code);
  return code == SQLITE_OK;
}

std::optional<std::int64_t> Database::number(const char* sql) {
  Statement statement(*this, sql);
  Rows rows = statement.with();
  if (!rows.next()) return std::nullopt;
  return rows.number(0);
}

std::string Database::text(const char* sql) {
  Statement statement(*this, sql);
  Rows rows = statement.with();
  return rows.next() ? rows.text(0) : std::string();
}

void Database::fail(int code) {
  if (failed()) return;
  code_ = code;
  system_error_ = 0;
  if ((code & 0xff) == SQLITE_IOERR || (code & 0xff) == SQLITE_CANTOPEN) {
    system_error_ = sqlite3_system_errno(handle_);
    if (system_error_ == 0 && handle_ != nullptr) system_error_ = last_error_of_log(handle_);
  }
  message_ = handle_ != nullptr ? sqlite3_errmsg(handle_) : sqlite3_errstr(code);
}

Failure Database::failure() const {
  std::string text = file_ + ": " + message_;
  if (system_error_ != 0) text += std::string(" (") + std::strerror(system_error_) + ")";
  return {kind_of(code_, system_error_), text};
}

Rows::Rows(Database& database, sqlite3_stmt* statement)
    : database_(&database), statement_(statement) {}

Rows::~Rows() {
  if (statement_ != nullptr) sqlite3_reset(statement_);
}

Rows::Rows(Rows&& other) noexcept
    : database_(other.database_),
      statement_(std::exchange(other.statement_, nullptr)),
      bound_(other.bound_) {}

bool Rows::next() {
  if (statement_ == nullptr || database_->failed()) return false;
  const int code = sqlite3_step(statement_);
  if (code == SQLITE_ROW) return true;
  if (code != SQLITE_DONE) database_->fail(code);
  return false;
}

std::int64_t Rows::number(int column) const { return sqlite3_column_int64(statement_, column); }

bool Rows::is_null(int column) const {
  return sqlite3_column_type(statement_, column) == SQLITE_NULL;
}

std::string Rows::text(int column) const {
  const void* data = sqlite3_column_blob(statement_, column);
  const int size = sqlite3_column_bytes(statement_, column);
  return data == nullptr ? std::string() : std::string(static_cast<const char*>(data), size);
}

void Rows::copy(int column, std::span<std::uint8_t> bytes) const {
  const auto* data = static_cast<const std::uint8_t*>(sqlite3_column_blob(statement_, column));
  const auto size = static_cast<std::size_t>(sqlite3_column_bytes(statement_, column));
  if (data != nullptr) std::copy_n(data, std::min(size, bytes.size()), bytes.begin());
}

void Rows::bind(int at, std::int64_t value) {
  if (statement_ != nullptr) sqlite3_bind_int64(statement_, at, value);
}

void Rows::bind(int at, std::optional<std::int64_t> value) {
  if (value) return bind(at, *value);
  if (statement_ != nullptr) sqlite3_bind_null(statement_, at);
}

// A null pointer would be bound as NULL, but an empty text is not absent.
void Rows::bind(int at, std::string_view text) {
  if (statement_ == nullptr) return;
  const char* data = text.data() != nullptr ? text.data() : "";
  const int code =
      sqlite3_bind_text64(statement_, at, data, text.size(), SQLITE_STATIC, SQLITE_UTF8);
  if (code != SQLITE_OK) database_->fail(code);
}

void Rows::bind(int at, Blob bytes) {
  if (statement_ == nullptr) return;
  const void* data = bytes.data != nullptr ? bytes.data : "";
  const int code = sqlite3_bind_blob64(statement_, at, data, bytes.size, SQLITE_STATIC);
  if (code != SQLITE_OK) database_->fail(code);
}

void Rows::bind(int at, const std::optional<Blob>& bytes) {
  if (bytes) return bind(at, *bytes);
  bind(at, std::optional<std::int64_t>());
}

sqlite3_stmt* Statement::prepared() {
  if (statement_ == nullptr && !database_.failed()) {
    const int code = sqlite3_prepare_v3(database_.handle(), sql_.c_str(), -1,
                                        SQLITE_PREPARE_PERSISTENT, &statement_, nullptr);
    if (code != SQLITE_OK) database_.fail(code);
  }
  return statement_;
}

}  // namespace spillway::store
