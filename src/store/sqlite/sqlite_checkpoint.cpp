#include "store/sqlite/sqlite_checkpoint.hpp"

namespace spillway::store {
namespace {

bool is_failed_flush(int extended, int code) {
  return code != SQLITE_OK && (extended == SQLITE_IOERR_FSYNC || code == SQLITE_IOERR_FSYNC);
}

}  // namespace

SqliteCheckpoint::SqliteCheckpoint(Database& writer) : writer_(writer) {}

SqliteCheckpoint::~SqliteCheckpoint() {
  {
    const std::lock_guard lock(mutex_);
    is_ending_ = true;
  }
  wake_.notify_one();
  if (thread_.joinable()) thread_.join();
  if (!has_failed_) return;
  for (Database* const each : {&writer_, &connection_})
    sqlite3_db_config(each->handle(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
}

bool SqliteCheckpoint::start(const std::string& file) {
  connection_.open(file);
  connection_.run("PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 0");
  page_bytes_ = connection_.number("PRAGMA page_size").value_or(page_bytes_);
  if (connection_.failed()) return false;
  sqlite3_wal_hook(
      writer_.handle(),
      [](void* pages, sqlite3*, const char*, int count) {
        *static_cast<std::int64_t*>(pages) = count;
        return SQLITE_OK;
      },
      &log_pages_);
  thread_ = std::thread([this] { work(); });
  return true;
}

void SqliteCheckpoint::wrote() {
  if (log_pages_ < reported_pages_) reported_pages_ = tried_pages_ = 0;  // the log was restarted
  if (log_pages_ - reported_pages_ < kPages) return;
  reported_pages_ = log_pages_;
  {
    const std::lock_guard lock(mutex_);
    has_work_ = true;
  }
  wake_.notify_one();
}

void SqliteCheckpoint::keep_short() {
  const std::int64_t most = kMostBytes / page_bytes_;
  if (log_pages_ < most && !wants_space_) return;
  // A reader in another process may block it; retrying at each commit would be slow.
  if (!wants_space_ && log_pages_ - tried_pages_ < most / 8) return;
  wants_space_ = false;
  tried_pages_ = log_pages_;
  const std::lock_guard lock(working_);
  if (has_failed_) return;
  sqlite3_busy_timeout(writer_.handle(), 0);
  const int code = sqlite3_wal_checkpoint_v2(writer_.handle(), nullptr, SQLITE_CHECKPOINT_RESTART,
                                             nullptr, nullptr);
  sqlite3_busy_timeout(writer_.handle(), kBusyMilliseconds);
  if (is_failed_flush(sqlite3_extended_errcode(writer_.handle()), code)) has_failed_ = true;
  if (code == SQLITE_OK) log_pages_ = tried_pages_ = reported_pages_ = 0;
}

void SqliteCheckpoint::move_pages() {
  const std::lock_guard working(working_);
  if (has_failed_) return;
  const int code = sqlite3_wal_checkpoint_v2(connection_.handle(), nullptr,
                                             SQLITE_CHECKPOINT_PASSIVE, nullptr, nullptr);
  if (is_failed_flush(sqlite3_extended_errcode(connection_.handle()), code)) has_failed_ = true;
  // Other errors here occur again where they are handled: in a commit, or at the cap.
  if (code != SQLITE_OK) return;
  // SQLite does not report whether it flushed the file: it did not if there were commits meanwhile.
  sqlite3_file* file = nullptr;
  sqlite3_file_control(connection_.handle(), "main", SQLITE_FCNTL_FILE_POINTER, &file);
  if (file == nullptr || file->pMethods == nullptr) return;
  if (file->pMethods->xSync(file, SQLITE_SYNC_NORMAL | SQLITE_SYNC_DATAONLY) != SQLITE_OK)
    has_failed_ = true;
}

void SqliteCheckpoint::work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    wake_.wait(lock, [this] { return has_work_ || is_ending_; });
    if (is_ending_) return;
    has_work_ = false;
    lock.unlock();
    move_pages();
    lock.lock();
  }
}

}  // namespace spillway::store
