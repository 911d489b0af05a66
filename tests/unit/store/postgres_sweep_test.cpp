// A Sweep that is under way for long: past the lease of its own proxy, or past renewals of others.
#include <doctest/doctest.h>
#include <libpq-fe.h>

#include <future>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "support/event.hpp"
#include "unit/store/postgres_fleet.hpp"

namespace spillway::store {
namespace {

constexpr std::chrono::milliseconds kLeaseOfAll{9s};
constexpr Duration kSilenceOfAll = 6s;

// A table that nothing else comes to: `remnant` keeps each Sweep from its end, behind what it has
// done of others' leases and jobs, `job` a question that stands before it.
class HeldTable {
 public:
  HeldTable(const std::string& url, const std::string& name) : session_(PQconnectdb(url.c_str())) {
    PQclear(PQexec(session_, ("BEGIN; LOCK TABLE spillway." + name).c_str()));
  }
  ~HeldTable() { let_go(); }
  HeldTable(const HeldTable&) = delete;
  HeldTable& operator=(const HeldTable&) = delete;

  void let_go() { PQfinish(std::exchange(session_, nullptr)); }

 private:
  PGconn* session_;
};

struct SweepOutcome {
  std::optional<Failure> failure;
  std::vector<jobs::JobId> recovered;
};

// Jobs 1 to 3 are in the hands of a proxy that has ended, of one that will be late, which is the
// second of the fleet, and of one that renews its lease. Both stores sweep.
struct LateSweep : Fleet {
  LateSweep() {
    for (const std::uint64_t n : {1, 2, 3}) first.enqueue(first.job(n));
    REQUIRE(first.claim(gone, 1) == std::vector{job_id(1)});
    REQUIRE(ask_second(Claim{late, first.job(2).lane, 1}).jobs.size() == 1);
    REQUIRE(first.claim(lives, 1) == std::vector{job_id(3)});
    look();
    pass(6s);
    REQUIRE_FALSE(first.ask(Renew{lives, kLeaseOfAll}).is_lost);
    REQUIRE_FALSE(ask_second(Renew{late, kLeaseOfAll}).is_lost);
    look();
    pass(3s);
  }

  void pass(std::chrono::milliseconds time) {
    first.pass(time);
    at += time;
  }
  // Nothing is over yet.
  void look() {
    CHECK(sweep(first.store()).recovered.empty());
    CHECK(sweep(second()).recovered.empty());
  }
  SweepOutcome sweep(JobStore& store) const {
    Command question = KnowsKey{};
    Command command = Sweep{.limit = 100, .silence = kSilenceOfAll, .at = at};
    Command* const batch[] = {&question, &command};
    const std::optional<Failure> failure = store.execute(batch, first.now());
    return {failure, std::get<Sweep>(std::move(command)).recovered};
  }
  std::future<SweepOutcome> begin_sweep(JobStore& store) const {
    return std::async(std::launch::async, [this, &store] { return sweep(store); });
  }
  bool come_to_wait(const std::string& sessions) const {
    const support::Deadline deadline;
    while (support::Postgres::ask(
               url(),
               "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND "
               "datname = current_database()") != sessions) {
      if (deadline.passed()) return false;
    }
    return true;
  }
  // The lease of the late one is over; the other one has renewed its.
  void outlast() {
    pass(3s);
    REQUIRE_FALSE(first.ask(Renew{lives, kLeaseOfAll}).is_lost);
    pass(3s);
  }
  // Each job as it would be if the late one had ended before it began.
  void check_each_once() {
    CHECK(first.ask(Renew{late, kLeaseOfAll}).is_lost);
    CHECK_FALSE(first.succeed(gone, 1));
    CHECK_FALSE(first.succeed(late, 2));
    for (const std::uint64_t n : {1, 2}) {
      CHECK(first.state(n) == "retrying");
      CHECK(first.find(n)->progress.recoveries == 1);
    }
    CHECK(first.find(3)->progress.recoveries == 0);
    CHECK_FALSE(first.ask(Renew{lives, kLeaseOfAll}).is_lost);
    CHECK(first.succeed(lives, 3));
  }

  TimePoint at{1h};
  Epoch gone = first.join(kLeaseOfAll);
  Epoch late = ask_second(Join{"late", kLeaseOfAll}).epoch;
  Epoch lives = first.join(kLeaseOfAll);
};

}  // namespace

TEST_CASE("a sweep that ends after the lease of its proxy recovers what had to be, and no more") {
  LateSweep fleet;
  HeldTable held(fleet.url(), "remnant");
  std::future<SweepOutcome> late = fleet.begin_sweep(fleet.second());
  REQUIRE(fleet.come_to_wait("1"));
  fleet.outlast();
  held.let_go();
  const SweepOutcome swept = late.get();
  CHECK_FALSE(swept.failure);
  CHECK(swept.recovered == std::vector{job_id(1)});
  CHECK(fleet.sweep(fleet.first.store()).recovered == std::vector{job_id(2)});
  fleet.check_each_once();
}

TEST_CASE("a sweep that is under way after the lease of its proxy is ended by another's") {
  LateSweep fleet;
  HeldTable held(fleet.url(), "remnant");
  std::future<SweepOutcome> late = fleet.begin_sweep(fleet.second());
  REQUIRE(fleet.come_to_wait("1"));
  fleet.outlast();
  std::future<SweepOutcome> other = fleet.begin_sweep(fleet.first.store());
  const std::optional<Failure> failure = late.get().failure;
  REQUIRE(failure);
  CHECK_MESSAGE(failure->text.find("lock timeout") == std::string::npos, failure->text);
  held.let_go();
  const SweepOutcome swept = other.get();
  CHECK_FALSE(swept.failure);
  std::size_t recovered = swept.recovered.size();
  for (const support::Deadline deadline; recovered < 2 && !deadline.passed();)
    recovered += fleet.sweep(fleet.first.store()).recovered.size();
  CHECK(recovered == 2);
  fleet.check_each_once();
}

// The database's clock is set forward, too, so that the new end is over as well.
TEST_CASE("a sweep that was long on its way condemns none that has renewed its lease meanwhile") {
  LateSweep fleet;
  HeldTable held(fleet.url(), "job");
  std::future<SweepOutcome> late = fleet.begin_sweep(fleet.second());
  REQUIRE(fleet.come_to_wait("1"));
  CHECK_FALSE(fleet.first.ask(Renew{fleet.gone, kLeaseOfAll}).is_lost);
  fleet.first.pass(30min);
  held.let_go();
  const SweepOutcome swept = late.get();
  CHECK_FALSE(swept.failure);
  CHECK(swept.recovered.empty());
  CHECK_FALSE(fleet.first.ask(Renew{fleet.gone, kLeaseOfAll}).is_lost);
  CHECK(fleet.first.succeed(fleet.gone, 1));
}

}  // namespace spillway::store
