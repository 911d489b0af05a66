// Idempotency-Keys of a SQLite store: tables that are rotated by time, and into which keys go
// later.
#include <doctest/doctest.h>
#include <sqlite3.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "store/sqlite/sqlite_keys.hpp"
#include "support/temporary_directory.hpp"
#include "unit/store/under_test.hpp"

namespace spillway::store {
namespace {

// Its clock is the test's.
class Keyed {
 public:
  explicit Keyed(bool has_keys = true)
      : has_keys_(has_keys), opened_(open_store("sqlite:jobs.db", directory_.path())) {
    REQUIRE(opened_.store);
  }

  // As of a client that chooses its keys by their hashes: each is behind all before.
  void ascend() { spread_ = 1; }
  void pass(std::chrono::milliseconds time) { now_ += time; }
  void execute(std::vector<Command>& batch) { store::execute(*opened_.store, batch, now_); }
  template <class Verb>
  Verb ask(Verb verb) {
    return store::ask(*opened_.store, std::move(verb), now_);
  }

  // Jobs [from, to), each with its key.
  void accept(std::uint64_t from, std::uint64_t to, std::chrono::milliseconds ttl) {
    std::vector<Command> batch;
    for (std::uint64_t n = from; n < to; ++n) batch.emplace_back(enqueue(n, ttl));
    execute(batch);
    for (const Command& command : batch)
      REQUIRE(std::get<Enqueue>(command).result == Enqueue::Result::accepted);
  }
  // Each of them ends.
  void cancel(std::uint64_t from, std::uint64_t to) {
    std::vector<Command> batch;
    for (std::uint64_t n = from; n < to; ++n) {
      Cancel cancel;
      cancel.id = job_id(n);
      batch.emplace_back(cancel);
    }
    execute(batch);
  }
  Enqueue enqueue(std::uint64_t n, std::chrono::milliseconds ttl) const {
    Enqueue enqueue;
    enqueue.job.id = job_id(n);
    enqueue.job.lane = {3, "orders", TenantId{1}};
    enqueue.job.accepted = now_;
    enqueue.job.expires = now_ + ttl;
    enqueue.job.kept = 1h;
    if (has_keys_) enqueue.job.idempotency = jobs::IdempotencyKey{scope(n), {1}};
    enqueue.max_pending = 1'000'000;
    return enqueue;
  }
  bool knows(std::uint64_t n) { return ask(KnowsKey{.scope = scope(n)}).is_known; }
  Sweep sweep() { return ask(Sweep{100'000}); }
  // How many it takes until nothing is left to do.
  std::size_t sweep_all() {
    std::size_t sweeps = 1;
    while (sweep().has_more) REQUIRE(++sweeps < 1000);
    return sweeps;
  }
  // In each window, as the file says. With those that were accepted last.
  std::vector<std::uint64_t> keys() const {
    std::vector<std::uint64_t> keys;
    for (std::size_t n = 0; n < SqliteKeys::kWindows; ++n) {
      std::string all = "SELECT scope FROM keys_" + std::to_string(n);
      for (const char* recent : {"recent_keys_0", "recent_keys_1"})
        all += std::string(" UNION SELECT scope FROM ") + recent +
               " WHERE window = " + std::to_string(n);
      keys.push_back(number("SELECT count(*) FROM (" + all + ")"));
    }
    return keys;
  }
  std::uint64_t in_table(const std::string& table) const {
    return number("SELECT count(*) FROM " + table);
  }
  std::uint64_t recent() const { return in_table("recent_keys_0") + in_table("recent_keys_1"); }
  // Of the duplicates of jobs [0, to), each `step`-th: how many are told of their jobs.
  std::uint64_t duplicates(std::uint64_t to, std::uint64_t step) {
    std::uint64_t told = 0;
    for (std::uint64_t n = 0; n < to; n += step) {
      Enqueue again = enqueue(n, 1h);
      again.job.id = job_id(1'000'000'000 + n);
      again = ask(std::move(again));
      if (again.result == Enqueue::Result::duplicate && again.id == job_id(n)) ++told;
    }
    return told;
  }
  std::uint64_t all_keys() const {
    std::uint64_t all = 0;
    for (const std::uint64_t of_window : keys()) all += of_window;
    return all;
  }
  void reopen() {
    opened_.store.reset();
    opened_ = open_store("sqlite:jobs.db", directory_.path());
    REQUIRE(opened_.store);
  }

 private:
  // Spread over the table, as hashes are.
  jobs::Digest scope(std::uint64_t n) const {
    jobs::Digest scope{};
    const std::uint64_t spread = n * spread_;
    for (std::size_t at = 0; at < 8; ++at) {
      scope[at] = static_cast<std::uint8_t>(spread >> (56 - 8 * at));
      scope[8 + at] = static_cast<std::uint8_t>(n >> 8 * at);
    }
    return scope;
  }
  std::uint64_t number(const std::string& sql) const {
    sqlite3* database = nullptr;
    REQUIRE(sqlite3_open((directory_.path() / "jobs.db").c_str(), &database) == SQLITE_OK);
    std::uint64_t found = 0;
    sqlite3_exec(
        database, sql.c_str(),
        [](void* into, int, char** values, char**) {
          *static_cast<std::uint64_t*>(into) = std::stoull(values[0]);
          return 0;
        },
        &found, nullptr);
    sqlite3_close(database);
    return found;
  }

  const bool has_keys_;
  std::uint64_t spread_ = 0x9e3779b97f4a7c15;
  support::TemporaryDirectory directory_;
  jobs::WallTime now_{std::chrono::milliseconds(1'800'000'000'000)};
  Opened opened_;
};

}  // namespace

TEST_CASE("the keys of a window are deleted in steps, and all of them") {
  Keyed store;
  constexpr auto kStep = static_cast<std::uint64_t>(SqliteKeys::kForgottenAtOnce);
  constexpr std::uint64_t kJobs = 6 * kStep;
  for (std::uint64_t n = 0; n < kJobs; n += kStep / 2) {
    store.accept(n, n + kStep / 2, 1h);
    store.cancel(n, n + kStep / 2);
  }
  store.pass(2h);
  store.sweep_all();
  CHECK(store.all_keys() == kJobs);
  store.pass(23h);
  const std::uint64_t in_window = store.in_table("keys_0");
  REQUIRE(in_window > 2 * kStep);
  REQUIRE(in_window < kJobs);
  CHECK(store.sweep().has_more);
  CHECK(store.all_keys() == in_window - kStep);
  CHECK(store.recent() == 0);
  store.reopen();
  CHECK(store.sweep_all() == in_window / kStep);
  CHECK(store.all_keys() == 0);
  CHECK_FALSE(store.knows(1));
}

TEST_CASE("a job with a key that waits for weeks does not gather all new keys in its window") {
  Keyed store;
  constexpr std::uint64_t kDays = 20;
  store.accept(0, 1, 24h * 30);
  std::uint64_t most = 0;
  for (std::uint64_t n = 1; n <= 24 * kDays; ++n) {
    store.pass(1h);
    store.accept(n, n + 1, 24h);
    store.cancel(n, n + 1);
    store.sweep_all();
    most = std::max(most, std::ranges::max(store.keys()));
    REQUIRE(store.knows(0));
  }
  CHECK(most <= 8);  // of six hours, and the one
  CHECK(store.all_keys() <= 48 + 8);
  // Its own is known for a day after its end, and not for ever.
  store.cancel(0, 1);
  for (const bool is_known : {true, false}) {
    store.pass(is_known ? 23h : 2h);
    store.sweep_all();
    CHECK(store.knows(0) == is_known);
  }
}

TEST_CASE("keys of jobs that wait are moved in steps, and stay theirs") {
  Keyed store;
  constexpr auto kStep = static_cast<std::uint64_t>(SqliteKeys::kLookedAtAtOnce);
  constexpr std::uint64_t kJobs = 3 * kStep;
  store.accept(0, kJobs, 24h * 30);
  store.pass(1h);
  store.cancel(0, kStep / 2);
  store.pass(5h);
  // The newest window is another one. Keys of the first go into its table meanwhile, also after a
  // restart.
  std::uint64_t all = kJobs;
  for (; store.recent() > 0; ++all) {
    REQUIRE(all < kJobs + 20);
    CHECK(store.knows(all % kJobs));
    store.accept(all, all + 1, 24h * 30);
    if (all == kJobs + 2) store.reopen();
    if (store.in_table("keys_0") == kJobs) break;
  }
  ++all;
  CHECK(store.keys()[0] == kJobs);
  CHECK(store.keys()[1] == all - kJobs);
  store.accept(all, all + 1, 24h * 30);
  ++all;
  CHECK_MESSAGE(store.recent() == 1, "new ones are recent again, of the newest window");
  store.pass(18h);
  CHECK(store.sweep().has_more);
  std::vector<std::uint64_t> keys = store.keys();
  CHECK(keys[0] > kStep);
  CHECK(keys[1] > all - kJobs);
  CHECK(keys[1] <= kStep + all - kJobs);
  store.reopen();
  CHECK(store.sweep_all() >= 3);
  keys = store.keys();
  CHECK_MESSAGE(keys[0] == kStep / 2, "those whose jobs have ended");
  CHECK(keys[1] == all - kStep / 2);
  for (std::uint64_t n = 0; n < kJobs; n += 97) {
    const Enqueue again = store.ask(store.enqueue(n, 1h));
    CHECK(again.result == Enqueue::Result::accepted);  // the same job, sent again
    CHECK(store.knows(n));
  }
  store.pass(1h);
  CHECK_MESSAGE(store.sweep_all() == 1, "the jobs of the first window have ended");
  CHECK(store.keys()[0] == 0);
  store.cancel(kStep / 2, all);
  store.pass(25h);
  store.sweep_all();
  CHECK(store.all_keys() == 0);
}

namespace {

constexpr std::uint64_t kMost = SqliteRecentKeys::kMost;

// What this thread has written since the machine of accounting began: the log, not what the thread
// of the checkpoint moves.
std::uint64_t written_bytes() {
  std::ifstream io("/proc/thread-self/io");
  std::string word;
  std::uint64_t bytes = 0;
  while (io >> word)
    if (word == "wchar:") io >> bytes;
  return bytes;
}

}  // namespace

TEST_CASE("a key is known while it goes into the table of its window, and after a restart") {
  Keyed store;
  constexpr std::uint64_t kBatch = 1024;
  std::uint64_t accepted = 0;
  std::uint64_t most_recent = 0;
  bool has_moved_some = false;
  const auto accept_until = [&](std::uint64_t to) {
    for (; accepted < to; accepted += kBatch) {
      store.accept(accepted, accepted + kBatch, 24h);
      most_recent = std::max(most_recent, store.recent());
      const std::uint64_t in_window = store.in_table("keys_0");
      has_moved_some = has_moved_some || (in_window > 0 && in_window < accepted);
    }
  };
  SUBCASE("without a restart") { accept_until(6 * kMost); }
  SUBCASE("before any is moved") {
    accept_until(kMost / 2);
    CHECK(store.in_table("keys_0") == 0);
    store.reopen();
    CHECK(store.duplicates(accepted, 97) == (accepted + 96) / 97);
    accept_until(4 * kMost);
  }
  SUBCASE("amid a round, twice") {
    for (const std::uint64_t to : {kMost + kMost / 2, 2 * kMost + kMost / 4}) {
      accept_until(to);
      CHECK(store.in_table("recent_keys_0") > 0);
      CHECK(store.in_table("recent_keys_1") > 0);
      store.reopen();
      CHECK(store.duplicates(accepted, 97) == (accepted + 96) / 97);
    }
    accept_until(6 * kMost);
  }
  CHECK(has_moved_some);
  CHECK(most_recent > kMost);
  CHECK(most_recent < 6 * kMost);
  CHECK(store.all_keys() == accepted);
  CHECK(store.duplicates(accepted, 97) == (accepted + 96) / 97);
  store.reopen();
  CHECK(store.duplicates(accepted, 97) == (accepted + 96) / 97);
  CHECK_FALSE(store.knows(accepted));
}

TEST_CASE("few keys are outside the tables of windows in whichever order they come") {
  Keyed store;
  constexpr std::uint64_t kBatch = 256;
  std::uint64_t accepted = 0, most_recent = 0;
  const auto accept_one_batch = [&] {
    store.accept(accepted, accepted + kBatch, 24h);
    accepted += kBatch;
  };
  SUBCASE("each behind all before") { store.ascend(); }
  SUBCASE("after four restarts amid rounds") {
    for (int n = 0; n < 4; ++n) {
      do {
        accept_one_batch();
      } while (store.in_table("recent_keys_0") == 0 || store.in_table("recent_keys_1") < kMost / 2);
      store.reopen();
    }
    for (const std::uint64_t from = accepted; accepted < from + 2 * kMost;) accept_one_batch();
  }
  for (const std::uint64_t from = accepted; accepted < from + 6 * kMost;) {
    accept_one_batch();
    most_recent = std::max(most_recent, store.recent());
  }
  CHECK(most_recent < 4 * kMost);
  CHECK(store.duplicates(accepted, 997) == (accepted + 996) / 997);
}

TEST_CASE("a key costs the log little") {
  constexpr std::uint64_t kBatch = 64, kBefore = 2 * kMost, kCounted = 16 * kBatch;
  std::uint64_t bytes[2] = {};
  for (const bool has_keys : {false, true}) {
    Keyed store(has_keys);
    store.accept(0, kBefore, 24h);
    const std::uint64_t before = written_bytes();
    for (std::uint64_t n = kBefore; n < kBefore + kCounted; n += kBatch)
      store.accept(n, n + kBatch, 24h);
    bytes[has_keys ? 1 : 0] = written_bytes() - before;
  }
  CAPTURE(bytes[0]);
  CAPTURE(bytes[1]);
  REQUIRE(bytes[0] > 0);
  // A page for each key would be 64 of 4 KiB.
  CHECK(bytes[1] - bytes[0] < kCounted / kBatch * 24 * 4096);
}

}  // namespace spillway::store
