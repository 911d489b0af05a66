// A disk without room: what was accepted stays, what cannot be written is refused, and it passes.
#include <doctest/doctest.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <functional>
#include <string>

#include "support/temporary_directory.hpp"
#include "unit/store/under_test.hpp"

namespace spillway::store {
namespace {

const jobs::WallTime kNow{std::chrono::milliseconds(1'800'000'000'000)};

std::optional<Failure> enqueue(JobStore& store, std::uint64_t n) {
  Enqueue enqueue;
  enqueue.job.id = job_id(n);
  enqueue.job.lane.route = "orders";
  enqueue.job.body = std::string(16 << 10, 'b');
  enqueue.job.accepted = kNow;
  enqueue.job.expires = kNow + 1h;
  enqueue.max_pending = 1'000'000;
  Command command = enqueue;
  Command* const batch[] = {&command};
  return store.execute(batch, kNow);
}

// 0: a store gets full, keeps what it has, and recovers when `make_room` was called.
int fill_and_recover(const std::filesystem::path& directory,
                     const std::function<void()>& make_room) {
  Opened opened = open_store("sqlite:jobs.db", directory);
  if (!opened.store) return 1;
  std::uint64_t accepted = 0;
  std::optional<Failure> failure;
  while (!failure && accepted < 10'000) {
    failure = enqueue(*opened.store, accepted);
    if (!failure) ++accepted;
  }
  if (!failure || failure->kind != Failure::Kind::full) return 2;
  if (accepted < 10) return 3;
  const auto holds = [&](std::uint64_t jobs) {
    Command totals = Totals{}, first = Find{job_id(0)}, last = Find{job_id(jobs - 1)};
    Command* const batch[] = {&totals, &first, &last};
    if (opened.store->execute(batch, kNow)) return false;
    return std::get<Totals>(totals).routes.at(0).by_state[0] == jobs && std::get<Find>(first).job &&
           std::get<Find>(last).job;
  };
  if (!holds(accepted)) return 4;
  make_room();
  if (enqueue(*opened.store, accepted)) return 5;
  if (!holds(accepted + 1)) return 6;
  opened.store.reset();
  opened = open_store("sqlite:jobs.db", directory);
  return opened.store && holds(accepted + 1) ? 0 : 7;
}

class SmallDisk {
 public:
  SmallDisk() {
    is_mounted_ = ::mount("tmpfs", directory_.path().c_str(), "tmpfs", 0, "size=3m,mode=0700") == 0;
  }
  ~SmallDisk() {
    if (is_mounted_) ::umount(directory_.path().c_str());
  }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;

  bool is_mounted() const { return is_mounted_; }
  const support::TemporaryDirectory& directory() const { return directory_; }

 private:
  support::TemporaryDirectory directory_;
  bool is_mounted_ = false;
};

}  // namespace

TEST_CASE("a store on a full disk refuses new jobs as full, keeps the others, and recovers") {
  const SmallDisk disk;
  if (!disk.is_mounted()) {
    MESSAGE("skipped: only root may mount a small disk");
    return;
  }
  const auto ballast = disk.directory().write("ballast", std::string(1 << 20, 'x'));
  CHECK(fill_and_recover(disk.directory().path(), [&] { std::filesystem::remove(ballast); }) == 0);
}

TEST_CASE("a file that may not grow is a full disk, too") {
  const support::TemporaryDirectory directory;
  const pid_t child = ::fork();
  if (child == 0) {
    ::signal(SIGXFSZ, SIG_IGN);
    rlimit limit{1 << 20, RLIM_INFINITY};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    ::_exit(fill_and_recover(directory.path(), [&] {
      limit.rlim_cur = RLIM_INFINITY;
      ::setrlimit(RLIMIT_FSIZE, &limit);
    }));
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
}

}  // namespace spillway::store
