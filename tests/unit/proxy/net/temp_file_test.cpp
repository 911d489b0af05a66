#include "proxy/net/temp_file.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include "support/temporary_directory.hpp"

namespace spillway::proxy {
namespace {

using Appended = TempFile::Appended;

constexpr std::uint64_t kRoomy = std::uint64_t{1} << 30;

// Lowers a soft limit of this process for as long as it lives.
class LowLimit {
 public:
  LowLimit(__rlimit_resource what, rlim_t most) : what_(what) {
    REQUIRE(::getrlimit(what_, &before_) == 0);
    rlimit low = before_;
    low.rlim_cur = most;
    REQUIRE(::setrlimit(what_, &low) == 0);
  }
  LowLimit(const LowLimit&) = delete;
  LowLimit& operator=(const LowLimit&) = delete;
  ~LowLimit() { ::setrlimit(what_, &before_); }

 private:
  __rlimit_resource what_;
  rlimit before_{};
};

std::string read_all(TempFile& file) {
  std::string all, piece(5000, '\0');
  while (const std::size_t bytes = file.read(piece)) all.append(piece, 0, bytes);
  return all;
}

struct Opened {
  support::TemporaryDirectory directory;
  TempSpace space;
  TempFile file{space};

  Opened() { REQUIRE(file.open(directory.path()) == 0); }
};

}  // namespace

TEST_CASE("a temporary file gives back what was appended, whatever the sizes") {
  std::mt19937 random(7);
  Opened opened;
  std::string expected, got;
  for (int step = 0; step < 2000; ++step) {
    const std::size_t size = random() % 3 == 0 ? random() % 40'000 : random() % 50;
    if (random() % 2 == 0) {
      std::string bytes(size, '\0');
      for (char& c : bytes) c = static_cast<char>(random());
      CHECK(opened.file.append(bytes, kRoomy).status == Appended::Status::done);
      expected += bytes;
    } else {
      std::string into(size, '\0');
      const std::size_t bytes = opened.file.read(into);
      CHECK(bytes == std::min<std::size_t>(size, expected.size() - got.size()));
      got.append(into, 0, bytes);
    }
    CHECK(opened.file.size() == expected.size() - got.size());
    CHECK(opened.space.taken() == opened.file.space());
  }
  got += read_all(opened.file);
  CHECK((got == expected));
  CHECK(opened.space.taken() == 0);
}

TEST_CASE("a temporary file has no name, is its owner's only, and is gone when it is closed") {
  Opened opened;
  CHECK(opened.file.append("secret", kRoomy).status == Appended::Status::done);
  CHECK(std::filesystem::is_empty(opened.directory.path()));
  struct stat its {};
  int found = -1;  // by the inode's size: no other file of this process has it
  for (int descriptor = 0; descriptor < 1024 && found < 0; ++descriptor) {
    if (::fstat(descriptor, &its) == 0 && S_ISREG(its.st_mode) && its.st_size == 6 &&
        its.st_nlink == 0)
      found = descriptor;
  }
  REQUIRE(found >= 0);
  CHECK((its.st_mode & 0777) == 0600);
  CHECK((::fcntl(found, F_GETFD) & FD_CLOEXEC) != 0);
  opened.file.close();
  CHECK_FALSE(opened.file);
  CHECK(::fstat(found, &its) != 0);
  CHECK(opened.space.taken() == 0);
}

TEST_CASE("temporary files share a bound") {
  const support::TemporaryDirectory directory;
  TempSpace space;
  TempFile one(space), other(space);
  REQUIRE(one.open(directory.path()) == 0);
  REQUIRE(other.open(directory.path()) == 0);
  CHECK(one.append(std::string(600, 'a'), 1000).status == Appended::Status::done);
  CHECK(other.append(std::string(401, 'b'), 1000).status == Appended::Status::over_limit);
  CHECK(other.size() == 0);
  CHECK(other.append(std::string(400, 'b'), 1000).status == Appended::Status::done);
  CHECK(one.append("x", 1000).status == Appended::Status::over_limit);
  CHECK(read_all(other) == std::string(400, 'b'));
  CHECK(one.append("x", 1000).status == Appended::Status::done);
  CHECK(one.append("x", 1).status == Appended::Status::over_limit);  // the bound was lowered
  CHECK(read_all(one) == std::string(600, 'a') + "x");
  CHECK(space.taken() == 0);
}

TEST_CASE("a temporary file that cannot be written keeps what it has") {
  std::signal(SIGXFSZ, SIG_IGN);  // as the server does
  Opened opened;
  const std::string first(5000, 'a');
  CHECK(opened.file.append(first, kRoomy).status == Appended::Status::done);
  {
    const LowLimit full(RLIMIT_FSIZE, 8000);  // the first 3000 bytes of the next piece fit
    const TempFile::Appended appended = opened.file.append(std::string(4000, 'b'), kRoomy);
    CHECK(appended.status == Appended::Status::failed);
    CHECK(appended.error == EFBIG);
  }
  CHECK(opened.space.taken() == 5000);
  CHECK(opened.file.append("c", kRoomy).status == Appended::Status::done);
  CHECK((read_all(opened.file) == first + "c"));
}

TEST_CASE("a temporary file that cannot be made says why") {
  TempSpace space;
  TempFile file(space);
  CHECK(file.open("/no/such/directory") == ENOENT);
  CHECK_FALSE(file);
  CHECK(file.open("/dev/null") == ENOTDIR);
  CHECK(file.open("/proc/self") != 0);  // nothing can be made there, even by root
  CHECK_FALSE(file);
}

TEST_CASE("no more temporary files are open than may be, whatever else has descriptors") {
  const support::TemporaryDirectory directory;
  TempSpace space;
  space.set_most_files(1);
  std::vector<int> others;  // the numbers below half of the limit, which others were given first
  for (int n = 0; n < 40; ++n) others.push_back(::dup(0));
  TempFile one(space), other(space);
  {
    const LowLimit few(RLIMIT_NOFILE, static_cast<rlim_t>(others.back()) + 20);
    CHECK(one.open(directory.path()) == 0);
    CHECK(other.open(directory.path()) == EMFILE);
    CHECK_FALSE(other);
    one.close();
    CHECK(other.open("/no/such/directory") == ENOENT);
    CHECK(other.open(directory.path()) == 0);
    other.close();
    space.set_most_files(0);
    CHECK(one.open(directory.path()) == EMFILE);
  }
  for (const int each : others) ::close(each);
}

}  // namespace spillway::proxy
