#include "store/sqlite/sqlite_file.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <string>
#include <string_view>
#include <utility>

#include "store/sqlite/sqlite.hpp"
#include "store/sqlite/sqlite_database.hpp"

namespace spillway::store {

namespace {

using std::filesystem::path;

Failure because_of_errno(const path& file) {
  const int error = errno;
  const bool no_room = error == ENOSPC || error == EDQUOT;
  return {no_room ? Failure::Kind::full : Failure::Kind::unavailable,
          file.string() + ": " + std::strerror(error)};
}

path beside(const path& file, std::string_view ending) {
  path other = file;
  other += ending;
  return other;
}

std::uintmax_t size_of(const path& file) {
  std::error_code ignored;
  const std::uintmax_t size = std::filesystem::file_size(file, ignored);
  return ignored ? 0 : size;
}

// https://www.sqlite.org/fileformat.html#the_database_header
std::optional<Failure> check_header(const path& file, const Schema& schema) {
  std::array<char, 100> header{};
  std::ifstream in(file, std::ios::binary);
  if (!in) return because_of_errno(file);
  in.read(header.data(), header.size());
  const std::string_view read(header.data(), static_cast<std::size_t>(in.gcount()));
  constexpr std::string_view kMagic("SQLite format 3\0", 16);
  if (read.size() < header.size() || !read.starts_with(kMagic)) {
    return Failure{
        Failure::Kind::corrupt,
        file.string() + " is not a SQLite file, or is damaged; nothing was written to it"};
  }
  std::uint32_t application = 0;
  for (std::size_t at = 68; at < 72; ++at) {
    application = application << 8 | static_cast<std::uint8_t>(header[at]);
  }
  if (application == schema.application_id) return std::nullopt;
  return Failure{Failure::Kind::corrupt, file.string() +
                                             " is a SQLite file of another program; nothing was "
                                             "written to it"};
}

bool sync_file(const path& file, int flags) {
  const int descriptor = ::open(file.c_str(), flags | O_CLOEXEC);
  if (descriptor < 0) return false;
  const bool is_synced = ::fsync(descriptor) == 0;
  ::close(descriptor);
  return is_synced;
}

std::optional<Failure> create(const path& file, const Schema& schema) {
  for (const char* ending : {"-wal", "-journal"}) {
    if (size_of(beside(file, ending)) == 0) continue;
    return Failure{Failure::Kind::corrupt, file.string() + " is missing, but " +
                                               beside(file, ending).string() +
                                               " is there; nothing was written"};
  }
  const path made = beside(file, ".new");
  for (const char* ending : {"", "-wal", "-shm", "-journal"}) {
    ::unlink(beside(made, ending).c_str());  // left by a process that ended here
  }
  const int descriptor = ::open(made.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
  if (descriptor < 0) return because_of_errno(made);
  ::close(descriptor);
  {
    Database database;
    database.open(made.string());
    // A page of 8 KiB holds seven jobs of 1 KiB, a page of 4 KiB three: so fewer writes for each
    // commit.
    database.run("PRAGMA page_size = 8192");
    migrate(database, schema);
    database.run("PRAGMA journal_mode = WAL");
    if (database.failed()) {
      const Failure failure = database.failure();
      ::unlink(made.c_str());
      return failure;
    }
  }
  path directory = file.parent_path();
  if (directory.empty()) directory = ".";
  if (!sync_file(made, O_RDONLY) || ::rename(made.c_str(), file.c_str()) != 0 ||
      !sync_file(directory, O_RDONLY | O_DIRECTORY)) {
    return because_of_errno(file);
  }
  return std::nullopt;
}

}  // namespace

FileLock::~FileLock() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

FileLock::FileLock(FileLock&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}

std::optional<Failure> FileLock::take(const path& file) {
  const path lock = beside(file, ".lock");
  descriptor_ = ::open(lock.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600);
  if (descriptor_ < 0) return because_of_errno(lock);
  if (::flock(descriptor_, LOCK_EX | LOCK_NB) == 0) return std::nullopt;
  if (errno != EWOULDBLOCK) return because_of_errno(lock);
  return Failure{Failure::Kind::in_use,
                 file.string() +
                     " is in use by another process: end that one, or give this one a "
                     "file of its own in store.url (sqlite:FILE)"};
}

bool is_in_use(const path& file) {
  const int lock = ::open(beside(file, ".lock").c_str(), O_RDWR | O_CLOEXEC);
  if (lock < 0) return false;
  const bool is_taken = ::flock(lock, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  ::close(lock);
  return is_taken;
}

std::optional<Failure> prepare_file(const path& file, const Schema& schema) {
  struct stat found {};
  if (::stat(file.c_str(), &found) != 0) {
    if (errno != ENOENT) return because_of_errno(file);
    return create(file, schema);
  }
  if (!S_ISREG(found.st_mode)) {
    return Failure{Failure::Kind::corrupt, file.string() + " is not a regular file"};
  }
  if (found.st_size == 0) return create(file, schema);
  if (auto failure = check_header(file, schema)) return failure;
  for (const char* ending : {"", "-wal", "-shm"}) {
    const path part = beside(file, ending);
    if (::chmod(part.c_str(), 0600) != 0 && errno != ENOENT) return because_of_errno(part);
  }
  return std::nullopt;
}

}  // namespace spillway::store
