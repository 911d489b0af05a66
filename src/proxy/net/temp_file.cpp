#include "proxy/net/temp_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>

namespace spillway::proxy {

namespace {

// For file systems without O_TMPFILE, such as NFS. mkostemp(3) creates it with mode 0600.
int open_and_unlink(const std::string& directory) {
  std::string name = directory + "/spillway-XXXXXX";
  const int descriptor = ::mkostemp(name.data(), O_CLOEXEC);
  if (descriptor >= 0) ::unlink(name.c_str());
  return descriptor;
}

// False, with errno, unless all of it was written.
bool write_all(int descriptor, std::string_view bytes, std::uint64_t at) {
  while (!bytes.empty()) {
    const ssize_t written =
        ::pwrite(descriptor, bytes.data(), bytes.size(), static_cast<off_t>(at));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(written));
    at += static_cast<std::uint64_t>(written);
  }
  return true;
}

}  // namespace

bool TempSpace::try_take(std::uint64_t bytes, std::uint64_t most) {
  std::uint64_t taken = taken_.load(std::memory_order_relaxed);
  while (bytes <= most && taken <= most - bytes) {
    if (taken_.compare_exchange_weak(taken, taken + bytes, std::memory_order_relaxed)) return true;
  }
  return false;
}

int TempFile::open(const std::string& directory) {
  if (!space_.try_take_file()) return EMFILE;
  descriptor_ =
      ::open(directory.c_str(), O_TMPFILE | O_EXCL | O_RDWR | O_CLOEXEC, S_IRUSR | S_IWUSR);
  // EISDIR, ENOENT: from kernels that do not know the flag.
  if (descriptor_ < 0 && (errno == EOPNOTSUPP || errno == EISDIR || errno == ENOENT))
    descriptor_ = open_and_unlink(directory);
  if (descriptor_ >= 0) return 0;
  const int error = errno;
  space_.give_back_file();
  return error;
}

TempFile::Appended TempFile::append(std::string_view bytes, std::uint64_t most) {
  if (!space_.try_take(bytes.size(), most)) return {Appended::Status::over_limit};
  if (!write_all(descriptor_, bytes, end_)) {
    space_.give_back(bytes.size());
    return {Appended::Status::failed, errno};
  }
  end_ += bytes.size();
  return {};
}

std::size_t TempFile::read(std::span<char> into) {
  const auto most = static_cast<std::size_t>(std::min<std::uint64_t>(into.size(), size()));
  std::size_t bytes = 0;
  while (bytes < most) {
    const ssize_t got =
        ::pread(descriptor_, into.data() + bytes, most - bytes, static_cast<off_t>(begin_ + bytes));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return 0;
    bytes += static_cast<std::size_t>(got);
  }
  begin_ += bytes;
  if (begin_ == end_) clear();
  return bytes;
}

// The file will be written from its start again.
void TempFile::clear() {
  space_.give_back(end_);
  begin_ = end_ = 0;
  if (::ftruncate(descriptor_, 0) != 0) close();
}

void TempFile::close() {
  if (descriptor_ < 0) return;
  ::close(std::exchange(descriptor_, -1));
  space_.give_back_file();
  space_.give_back(std::exchange(end_, 0));
  begin_ = 0;
}

}  // namespace spillway::proxy
