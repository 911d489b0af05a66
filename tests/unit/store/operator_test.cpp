// What every store does for clients that ask after their jobs, and for the operator.
#include <doctest/doctest.h>

#include "unit/store/under_test.hpp"

namespace spillway::store {

using jobs::Cause;
using jobs::JobId;
using jobs::JobState;
using Ids = std::vector<JobId>;

namespace {

// Jobs 0 to n-1, the first of which are dead.
Epoch with_letters(UnderTest& store, std::uint64_t dead, std::uint64_t all) {
  const Epoch epoch = store.join(24h);
  for (std::uint64_t n = 0; n < all; ++n) store.enqueue(store.job(n));
  store.claim(epoch, dead);
  for (std::uint64_t n = 0; n < dead; ++n) store.die(epoch, n);
  return epoch;
}

// Job 1 fails so often, many times in a transaction.
void try_many(UnderTest& store, Epoch epoch, std::uint32_t attempts) {
  std::vector<Command> batch;
  for (std::uint32_t n = 1; n <= attempts; ++n) {
    batch.push_back(Claim{.epoch = epoch, .lane = store.job(1).lane, .limit = 1});
    Settle settle{epoch, job_id(1), {JobState::retrying, store.now(), n, 0, Cause::failed}};
    settle.attempt =
        jobs::Attempt{n, store.now(), store.now() + 1s, Cause::failed, 500, "it broke"};
    batch.push_back(settle);
    if (n % 100 != 0 && n != attempts) continue;
    store.execute(batch);
    for (const Command& one : batch)
      if (const auto* const its = std::get_if<Settle>(&one)) REQUIRE_FALSE(its->is_lost);
    batch.clear();
  }
}

}  // namespace

TEST_CASE("an answer is kept as it came, and its status is shown with the job") {
  each_store([](UnderTest& store) {
    const Epoch epoch = store.join();
    store.enqueue(store.job(1));
    store.claim(epoch);
    CHECK_FALSE(store.ask(ReadAnswer{job_id(1)}).answer);
    Settle settle{
        epoch, job_id(1), {JobState::succeeded, store.now(), 1, 0, Cause::answered, store.now()}};
    settle.answer = jobs::StoredAnswer{201, "a: b\r\n", std::string("\0body\xff", 6), false};
    CHECK_FALSE(store.ask(settle).is_lost);
    const ReadAnswer read = store.ask(ReadAnswer{job_id(1)});
    CHECK(read.state == JobState::succeeded);
    CHECK((read.answer == settle.answer));
    CHECK(store.find(1)->status == 201);
    CHECK_FALSE(store.ask(ReadAnswer{job_id(2)}).state);
  });
}

TEST_CASE("an inspection shows head, the first bytes of the body and the last attempts") {
  each_store([](UnderTest& store) {
    const Epoch epoch = store.join(1000h);
    store.enqueue(store.job(1));
    try_many(store, epoch, kMostAttempts + 5);
    Inspect inspect;
    inspect.id = job_id(1);
    inspect.body_limit = 5;
    inspect = store.ask(inspect);
    REQUIRE(inspect.job);
    CHECK(inspect.job->body_bytes == 7);
    CHECK(inspect.head == store.job(1).head);
    CHECK(inspect.body == "order");
    REQUIRE(inspect.attempts.size() == kMostAttempts);
    CHECK(inspect.attempts.front().number == 6);
    CHECK(inspect.attempts.back().number == kMostAttempts + 5);
    CHECK(inspect.attempts.back().status == 500);
    CHECK(inspect.attempts.back().detail == "it broke");
  });
}

TEST_CASE(
    "of the last attempt, and of those after a replay, no more than kMostAttempts are shown") {
  each_store([](UnderTest& store) {
    const Epoch epoch = store.join(1000h);
    store.enqueue(store.job(1));
    std::uint32_t last = 0;
    const auto try_it = [&](JobState state, std::uint32_t attempts) {
      REQUIRE(store.claim(epoch) == Ids{job_id(1)});
      Settle settle{epoch, job_id(1), {state, store.now(), attempts, 0, Cause::failed}};
      if (jobs::has_ended(state)) settle.progress.ended = store.now();
      settle.attempt = jobs::Attempt{++last, store.now(), store.now(), Cause::failed, 500, ""};
      REQUIRE_FALSE(store.ask(settle).is_lost);
    };
    const auto check_shown = [&] {
      const Inspect inspect = store.ask(Inspect{.id = job_id(1)});
      REQUIRE(inspect.attempts.size() == kMostAttempts);
      CHECK(inspect.attempts.front().number == last - kMostAttempts + 1);
      CHECK(inspect.attempts.back().number == last);
    };
    last = kMostAttempts + 5;
    try_many(store, epoch, last);
    try_it(JobState::dead, kMostAttempts + 6);
    check_shown();
    CHECK(store.find(1)->progress.attempts == kMostAttempts + 6);
    for (int replays = 0; replays < 3; ++replays) {
      REQUIRE(store.ask(Replay{.filter = {}, .limit = 1, .ttl = 1h}).jobs == Ids{job_id(1)});
      try_it(JobState::dead, 1);
      check_shown();
    }
    CHECK(store.find(1)->progress.attempts == 1);
  });
}

TEST_CASE("a list goes on where its page before has ended, in the order of acceptance") {
  each_store([](UnderTest& store) {
    with_letters(store, 5, 8);
    List list;
    list.filter.state = JobState::dead;
    list.limit = 2;
    Ids seen;
    std::size_t pages = 0;
    do {
      list.after = list.next;
      list = store.ask(list);
      for (const JobId& id : ids_of(list)) seen.push_back(id);
      REQUIRE(++pages < 10);
    } while (list.next);
    CHECK(seen == Ids{job_id(0), job_id(1), job_id(2), job_id(3), job_id(4)});
  });
}

TEST_CASE("a filter includes what all its members include") {
  each_store([](UnderTest& store) {
    with_letters(store, 1, 2);
    store.pass(10s);
    jobs::NewJob other = store.job(5);
    other.lane.route = "mails";
    store.enqueue(other);
    const auto listed = [&](const Filter& filter) {
      List list;
      list.filter = filter;
      list.limit = 10;
      return ids_of(store.ask(list));
    };
    CHECK(listed({}) == Ids{job_id(0), job_id(1), job_id(5)});
    CHECK(listed({JobState::queued}) == Ids{job_id(1), job_id(5)});
    Filter filter;
    filter.route = "orders";
    CHECK(listed(filter) == Ids{job_id(0), job_id(1)});
    filter.cause = Cause::rejected;
    CHECK(listed(filter) == Ids{job_id(0)});
    filter.cause = Cause::poison;
    CHECK(listed(filter).empty());
    filter = {};
    filter.accepted_from = store.now();
    CHECK(listed(filter) == Ids{job_id(5)});
    filter = {};
    filter.ended_before = store.now();
    CHECK(listed(filter) == Ids{job_id(0)});
    filter.ended_before = store.now() - 10s;
    CHECK(listed(filter).empty());
    filter = {};
    filter.id = job_id(1);
    CHECK(listed(filter) == Ids{job_id(1)});
  });
}

TEST_CASE("dead jobs are replayed under their ids, one after another; a dry run only names them") {
  each_store([](UnderTest& store) {
    const Epoch epoch = with_letters(store, 3, 4);
    store.pass(30min);
    Replay replay;
    replay.limit = 2;
    replay.spacing = 10s;
    replay.ttl = 2h;
    replay.is_dry_run = true;
    CHECK(store.ask(replay).jobs == Ids{job_id(0), job_id(1)});
    CHECK(store.state(0) == "dead");
    replay.is_dry_run = false;
    CHECK(store.ask(replay).jobs == Ids{job_id(0), job_id(1)});
    CHECK(store.state(0) == "queued");
    CHECK(store.state(2) == "dead");
    CHECK(store.find(0)->progress == jobs::Progress{JobState::queued, store.now()});
    CHECK(store.find(0)->expires == store.now() + 2h);
    CHECK(store.claim(epoch) == Ids{job_id(3), job_id(0)});
    store.pass(10s);
    CHECK(store.claim(epoch) == Ids{job_id(1)});
    replay.filter.state = JobState::succeeded;
    CHECK(store.ask(replay).jobs.empty());
  });
}

TEST_CASE("what is replayed has no answer until it has its next one") {
  each_store([](UnderTest& store) {
    const Epoch epoch = store.join();
    store.enqueue(store.job(1));
    store.claim(epoch);
    Settle settle{
        epoch, job_id(1), {JobState::dead, store.now(), 1, 0, Cause::rejected, store.now()}};
    settle.answer = jobs::StoredAnswer{422, "a: b\r\n", "no", false};
    CHECK_FALSE(store.ask(settle).is_lost);
    CHECK(store.find(1)->status == 422);
    store.ask(Replay{.filter = {.id = job_id(1)}, .limit = 1, .ttl = 1h, .jobs = {}});
    CHECK_FALSE(store.ask(ReadAnswer{job_id(1)}).answer);
    CHECK(store.find(1)->status == 0);
  });
}

TEST_CASE("the first of the jobs of a replay is due after its delay, and the others after it") {
  each_store([](UnderTest& store) {
    const Epoch epoch = with_letters(store, 2, 2);
    Replay replay;
    replay.limit = 2;
    replay.delay = 60s;
    replay.spacing = 10s;
    replay.ttl = 2h;
    CHECK(store.ask(replay).jobs == Ids{job_id(0), job_id(1)});
    store.pass(59s);
    CHECK(store.claim(epoch).empty());
    store.pass(1s);
    CHECK(store.claim(epoch) == Ids{job_id(0)});
    store.pass(10s);
    CHECK(store.claim(epoch) == Ids{job_id(1)});
  });
}

TEST_CASE("a purge deletes what has ended and is included, and no other") {
  each_store([](UnderTest& store) {
    with_letters(store, 3, 4);
    Purge purge;
    purge.limit = 2;
    purge.is_dry_run = true;
    CHECK(store.ask(purge).count == 2);
    CHECK(store.find(0));
    purge.is_dry_run = false;
    CHECK(store.ask(purge).count == 2);
    CHECK(store.ask(purge).count == 1);
    CHECK(store.ask(purge).count == 0);
    CHECK_FALSE(store.find(0));
    CHECK(store.state(3) == "queued");
    CHECK(store.count(JobState::dead) == 0);
  });
}

TEST_CASE("what is rare among many jobs is found step by step, and no step looks at all of them") {
  each_store([](UnderTest& store) {
    if (store.is_shared()) return;  // the database looks, and others may ask it meanwhile
    std::vector<Command> letters;
    for (std::uint64_t n = 0; n <= kMostLookedAt; ++n) {
      Bury bury{.job = store.job(n), .cause = Cause::expired_in_queue};
      bury.job.head = bury.job.body = "";
      if (n == 0 || n == kMostLookedAt) bury.job.lane.route = "rare";
      letters.emplace_back(std::move(bury));
    }
    store.execute(letters);
    Filter rare;
    rare.route = "rare";
    Replay replay{.filter = rare, .limit = 5, .ttl = 1h, .is_dry_run = true, .jobs = {}};
    for (const bool is_dry_run : {true, false}) {
      replay.is_dry_run = is_dry_run;
      replay.after.reset();
      replay = store.ask(replay);
      CHECK(replay.jobs == Ids{job_id(0)});
      REQUIRE(replay.next);
      replay.after = replay.next;
      replay = store.ask(replay);
      CHECK(replay.jobs == Ids{job_id(kMostLookedAt)});
      CHECK_FALSE(replay.next);
    }
    CHECK(store.state(kMostLookedAt) == "queued");
    REQUIRE(store.ask(Cancel{job_id(0)}).is_done);
    REQUIRE(store.ask(Cancel{job_id(kMostLookedAt)}).is_done);
    Purge purge{.filter = rare, .limit = 5};
    std::uint64_t purged = 0;
    std::size_t steps = 0;
    do {
      purge = store.ask(purge);
      purge.after = purge.next;
      purged += purge.count;
      REQUIRE(++steps <= 2);
    } while (purge.next);
    CHECK(purged == 2);
    CHECK(steps == 2);
    CHECK_FALSE(store.find(0));
    CHECK(store.state(1) == "dead");
    List list{.filter = rare, .after = {}, .limit = 5};
    list = store.ask(list);
    CHECK(list.jobs.empty());
    CHECK_FALSE(list.next);
    list.filter.route = "nobody's";
    store.ask(store.enqueue(store.job(kMostLookedAt + 1)));
    store.ask(store.enqueue(store.job(kMostLookedAt + 2)));
    CHECK_MESSAGE(store.ask(list).next, "it has not seen all");
  });
}

TEST_CASE("what is purged takes up no space any more") {
  each_store([](UnderTest& store) {
    if (store.is_shared()) return;  // the database gives space back when it vacuums
    const Epoch epoch = store.join();
    constexpr std::uint64_t kJobs = 50;
    for (std::uint64_t n = 0; n < kJobs; ++n) {
      jobs::NewJob job = store.job(n);
      job.body = std::string(16 << 10, 'b');
      store.ask(store.enqueue(job));
    }
    const std::uint64_t filled = store.ask(Totals{}).bytes;
    CHECK(filled >= kJobs * (16 << 10));
    REQUIRE(store.claim(epoch, kJobs).size() == kJobs);
    for (std::uint64_t n = 0; n < kJobs; ++n) REQUIRE(store.die(epoch, n));
    Purge purge;
    purge.limit = kJobs;
    REQUIRE(store.ask(purge).count == kJobs);
    CHECK(store.ask(Totals{}).bytes < filled / 4);
  });
}

TEST_CASE("totals know when the first of the dead and expired jobs was accepted") {
  each_store([](UnderTest& store) {
    const auto oldest = [&] { return store.ask(Totals{}).oldest_letter; };
    const jobs::WallTime begin = store.now();
    const Epoch epoch = store.join();
    store.enqueue(store.job(1));
    store.pass(10s);
    store.enqueue(store.job(2));
    store.claim(epoch);
    CHECK(oldest() == jobs::kNoTime);
    store.die(epoch, 2);
    CHECK(oldest() == begin + 10s);
    store.die(epoch, 1);
    CHECK(oldest() == begin);
    store.pass(2h);
    store.sweep();
    CHECK_MESSAGE(oldest() == jobs::kNoTime, "they are forgotten");
    const jobs::WallTime late = store.now();
    store.enqueue(store.job(3));
    store.pass(1h);
    store.sweep();
    CHECK_MESSAGE(oldest() == late, "it has expired");
    if (store.reopen()) CHECK(oldest() == late);
  });
}

TEST_CASE("totals follow every change, and know the oldest job that is due") {
  each_store([](UnderTest& store) {
    const jobs::WallTime begin = store.now();
    const Epoch epoch = with_letters(store, 1, 3);
    store.pass(10s);
    store.claim(epoch, 1);
    store.retry(epoch, 1, 1h);
    const auto total = [&] {
      for (const Totals::Route& route : store.ask(Totals{}).routes) {
        if (route.route == "orders") return route;
      }
      return Totals::Route{};
    };
    CHECK(total().by_state == std::array<std::uint64_t, jobs::kJobStateCount>{1, 0, 1, 0, 1, 0, 0});
    CHECK(total().oldest_claimable == begin);
    store.claim(epoch, 1);
    CHECK(total().by_state == std::array<std::uint64_t, jobs::kJobStateCount>{0, 1, 1, 0, 1, 0, 0});
    CHECK(total().oldest_claimable == jobs::kNoTime);  // the one that is parked does not count
    CHECK(store.ask(Totals{}).bytes > 0);
    if (store.reopen()) CHECK(total().by_state[index(JobState::dead)] == 1);
  });
}

}  // namespace spillway::store
