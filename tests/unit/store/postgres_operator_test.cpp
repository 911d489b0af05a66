// What the operator asks of PostgreSQL: others wait behind it, so it has an end.
#include <doctest/doctest.h>
#include <libpq-fe.h>

#include <chrono>
#include <memory>

#include "unit/store/postgres_contract.hpp"
#include "unit/store/under_test.hpp"

namespace spillway::store {
namespace {

// Dead from the beginning; those whose number `is_rare` are of another route.
template <class IsRare>
void bury(UnderTest& store, std::uint64_t jobs, IsRare is_rare) {
  std::vector<Command> letters;
  for (std::uint64_t n = 0; n < jobs; ++n) {
    Bury bury{.job = store.job(n), .cause = jobs::Cause::expired_in_queue};
    if (is_rare(n)) bury.job.lane.route = "rare";
    letters.emplace_back(std::move(bury));
    if (letters.size() < 200 && n + 1 < jobs) continue;
    store.execute(letters);
    letters.clear();
  }
}

// What each step has counted, to the end.
std::vector<std::uint64_t> counts_of(UnderTest& store, Purge purge) {
  std::vector<std::uint64_t> counts;
  const std::size_t most = purge.limit;
  do {
    purge = store.ask(purge);
    counts.push_back(purge.count);
    purge.limit -= purge.count;
    purge.after = purge.next;
  } while (purge.next && purge.limit > 0 && counts.size() <= most);
  return counts;
}

using Counts = std::vector<std::uint64_t>;

TEST_CASE("a purge in PostgreSQL finds what is rare step by step, and looks at no more than that") {
  PostgresContract contract;
  UnderTest store(contract);
  bury(store, kMostLookedAt + 1, [](std::uint64_t n) { return n == 1 || n == kMostLookedAt; });
  for (const auto state : {std::optional<jobs::JobState>{}, std::optional(jobs::JobState::dead)}) {
    Purge rare{.filter = {.state = state, .route = "rare"}, .limit = 5, .is_dry_run = true};
    CHECK(counts_of(store, rare) == Counts{1, 1});
    rare.limit = 1;
    CHECK(counts_of(store, rare) == Counts{1});
  }
  Purge one{.filter = {.id = job_id(kMostLookedAt)}, .limit = 1};
  CHECK(counts_of(store, one) == Counts{1});
  CHECK(counts_of(store, one) == Counts{0});
  Purge rare{.filter = {.route = "rare"}, .limit = 5};
  CHECK(counts_of(store, rare) == Counts{1, 0});
  CHECK_FALSE(store.find(1));
  CHECK(store.state(0) == "dead");
}

TEST_CASE("a purge in PostgreSQL deletes a thousand jobs a step, up to its limit") {
  PostgresContract contract;
  UnderTest store(contract);
  bury(store, 2600, [](std::uint64_t) { return false; });
  CHECK(counts_of(store, {.limit = 2500, .is_dry_run = true}) == Counts{1000, 1000, 500});
  CHECK(counts_of(store, {.limit = 2500}) == Counts{1000, 1000, 500});
  CHECK(store.count(jobs::JobState::dead) == 100);
  CHECK_FALSE(store.find(0));
  CHECK(store.find(2599));
  CHECK(counts_of(store, {.limit = 2500}) == Counts{100});
}

TEST_CASE("a purge in PostgreSQL that takes long is given up, a dry run too, and changes nothing") {
  PostgresContract contract;
  UnderTest store(contract);
  bury(store, 2, [](std::uint64_t) { return false; });
  const std::unique_ptr<PGconn, decltype(&PQfinish)> other(PQconnectdb(contract.url().c_str()),
                                                           PQfinish);
  const auto say = [&](const char* sql) { PQclear(PQexec(other.get(), sql)); };
  say("BEGIN; LOCK TABLE spillway.ended");
  for (const bool is_dry_run : {true, false}) {
    Command purge = Purge{.limit = 10, .is_dry_run = is_dry_run};
    Command* const batch[] = {&purge};
    const auto began = std::chrono::steady_clock::now();
    CHECK(store.store().execute(batch, {}));
    CHECK(std::chrono::steady_clock::now() - began < 3s);
  }
  say("COMMIT");
  CHECK(counts_of(store, {.limit = 10}) == Counts{2});
}

}  // namespace
}  // namespace spillway::store
