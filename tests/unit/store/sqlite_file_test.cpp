// The file of a SQLite store: whose it is, who may read it, what is not touched.
#include <doctest/doctest.h>
#include <sqlite3.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "store/contract/job_store.hpp"
#include "support/temporary_directory.hpp"
#include "unit/store/under_test.hpp"

namespace spillway::store {
namespace {

using std::filesystem::path;

const jobs::WallTime kNow{std::chrono::milliseconds(1'800'000'000'000)};

Opened open_in(const support::TemporaryDirectory& directory,
               const std::optional<Key>& key = std::nullopt) {
  return open_store("sqlite:jobs.db", directory.path(), key);
}

std::string content(const path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

void sql(const path& file, const std::string& text) {
  sqlite3* database = nullptr;
  REQUIRE(sqlite3_open(file.c_str(), &database) == SQLITE_OK);
  CHECK(sqlite3_exec(database, text.c_str(), nullptr, nullptr, nullptr) == SQLITE_OK);
  sqlite3_close(database);
}

void enqueue(JobStore& store, std::uint64_t n) {
  Enqueue enqueue;
  enqueue.job.id = job_id(n);
  enqueue.job.lane.route = "orders";
  enqueue.job.body = std::string(1024, 'b');
  enqueue.job.accepted = kNow;
  enqueue.job.expires = kNow + 1h;
  enqueue.max_pending = 1'000'000;
  Command command = enqueue;
  Command* const batch[] = {&command};
  const std::optional<Failure> failure = store.execute(batch, kNow);
  if (failure) FAIL(failure->text);
}

void check_refused(const support::TemporaryDirectory& directory, Failure::Kind kind,
                   const std::string& part) {
  const path file = directory.path() / "jobs.db";
  const std::string before = content(file);
  const Opened opened = open_in(directory);
  CHECK(opened.store == nullptr);
  CHECK(opened.failure.kind == kind);
  CAPTURE(opened.failure.text);
  CHECK(opened.failure.text.find(part) != std::string::npos);
  CHECK(opened.failure.text.find(file.string()) != std::string::npos);
  CHECK((content(file) == before));
}

}  // namespace

TEST_CASE("only the owner may read a store's files, whatever the umask and the mode before") {
  const support::TemporaryDirectory directory;
  const mode_t mask = ::umask(0);
  {
    const Opened opened = open_in(directory);
    REQUIRE(opened.store);
    enqueue(*opened.store, 1);
    for (const char* name : {"jobs.db", "jobs.db-wal", "jobs.db-shm", "jobs.db.lock"}) {
      struct stat found {};
      CAPTURE(name);
      REQUIRE(::stat((directory.path() / name).c_str(), &found) == 0);
      CHECK((found.st_mode & 0777) == 0600);
    }
  }
  ::chmod((directory.path() / "jobs.db").c_str(), 0644);
  REQUIRE(open_in(directory).store);
  struct stat found {};
  ::stat((directory.path() / "jobs.db").c_str(), &found);
  CHECK((found.st_mode & 0777) == 0600);
  ::umask(mask);
}

TEST_CASE("a store that is closed leaves one file, without a log") {
  const support::TemporaryDirectory directory;
  { enqueue(*open_in(directory).store, 1); }
  CHECK_FALSE(std::filesystem::exists(directory.path() / "jobs.db-wal"));
  CHECK_FALSE(std::filesystem::exists(directory.path() / "jobs.db.new"));
}

TEST_CASE("a second store on the same file is refused, and may have it when the first is closed") {
  const support::TemporaryDirectory directory;
  Opened first = open_in(directory);
  REQUIRE(first.store);
  check_refused(directory, Failure::Kind::in_use, "in use by another process");
  enqueue(*first.store, 1);
  first.store.reset();
  CHECK(open_in(directory).store);
}

TEST_CASE("a file that is not ours is refused and stays as it is") {
  const support::TemporaryDirectory directory;
  SUBCASE("a text") {
    directory.write("jobs.db", "dear diary, " + std::string(1000, '.'));
    check_refused(directory, Failure::Kind::corrupt, "not a SQLite file");
  }
  SUBCASE("a short text") {
    directory.write("jobs.db", "x");
    check_refused(directory, Failure::Kind::corrupt, "not a SQLite file");
  }
  SUBCASE("the database of another program") {
    sql(directory.path() / "jobs.db", "CREATE TABLE jobs (x)");
    check_refused(directory, Failure::Kind::corrupt, "another program");
  }
  SUBCASE("the log of a file that is missing") {
    directory.write("jobs.db-wal", "something");
    check_refused(directory, Failure::Kind::corrupt, "is missing");
    CHECK((content(directory.path() / "jobs.db-wal") == "something"));
  }
  SUBCASE("a directory") {
    std::filesystem::create_directory(directory.path() / "jobs.db");
    CHECK(open_in(directory).failure.kind == Failure::Kind::corrupt);
  }
  SUBCASE("but an empty file is as good as none") {
    directory.write("jobs.db", "");
    CHECK(open_in(directory).store);
  }
}

TEST_CASE("a store of a later version is refused and stays as it is") {
  const support::TemporaryDirectory directory;
  { enqueue(*open_in(directory).store, 1); }
  sql(directory.path() / "jobs.db", "PRAGMA user_version = 1000");
  check_refused(directory, Failure::Kind::newer_version, "later version");
}

TEST_CASE("a damaged file is refused at the start, though it was closed, and is not replaced") {
  const support::TemporaryDirectory directory;
  const path file = directory.path() / "jobs.db";
  {
    const Opened opened = open_in(directory);
    for (std::uint64_t n = 0; n < 100; ++n) enqueue(*opened.store, n);
  }
  const std::string whole = content(file);
  SUBCASE("its end is missing") {
    directory.write("jobs.db", whole.substr(0, whole.size() / 2));
    check_refused(directory, Failure::Kind::corrupt, "");
  }
  SUBCASE("its schema is overwritten") {
    std::string damaged = whole;
    damaged.replace(100, 3000, 3000, '\x5a');
    directory.write("jobs.db", damaged);
    check_refused(directory, Failure::Kind::corrupt, "");
  }
  SUBCASE("its tables are overwritten") {
    std::string damaged = whole;
    damaged.replace(4096 * 10, damaged.size() - 4096 * 10, damaged.size() - 4096 * 10, '\x5a');
    directory.write("jobs.db", damaged);
    check_refused(directory, Failure::Kind::corrupt, "is damaged");
  }
  SUBCASE("one page of a table is overwritten, far from where it begins") {
    std::string damaged = whole;
    constexpr std::size_t kPage = 8192;
    const std::size_t page = whole.size() / kPage / 2;
    damaged.replace(kPage * page, kPage, kPage, '\x5a');
    directory.write("jobs.db", damaged);
    check_refused(directory, Failure::Kind::corrupt, "is damaged");
  }
}

TEST_CASE("a store whose directory is missing, or whose url is unknown, says so") {
  const Opened opened = open_store("sqlite:no/such/jobs.db", "/nowhere");
  CHECK_FALSE(opened.store);
  CHECK(opened.failure.text.find("/nowhere/no/such/jobs.db") != std::string::npos);
  CHECK(open_store("oracle:x", "/").failure.text.find("oracle:x") != std::string::npos);
  CHECK_FALSE(open_store("sqlite:", "/").store);
}

TEST_CASE("a store with jobs is opened with its own key only; one without jobs takes another") {
  const support::TemporaryDirectory directory;
  const Key key{{1}}, other{{2}};
  REQUIRE(open_in(directory).store);
  { enqueue(*open_in(directory, key).store, 1); }
  CHECK(open_in(directory, other).failure.text.find("another key_file") != std::string::npos);
  CHECK_FALSE(open_in(directory).store);
  CHECK(open_in(directory, key).store);
}

}  // namespace spillway::store
