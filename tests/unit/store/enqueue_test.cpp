// What every store does: acceptance, Idempotency-Key, order.
#include <doctest/doctest.h>

#include "unit/store/under_test.hpp"

namespace spillway::store {

using jobs::JobId;
using jobs::JobState;
using Ids = std::vector<JobId>;
using Result = Enqueue::Result;

namespace {

jobs::NewJob with_key(jobs::NewJob job, std::uint8_t scope, std::uint8_t fingerprint) {
  job.idempotency = jobs::IdempotencyKey{{scope}, {fingerprint}};
  return job;
}

jobs::NewJob in_order(jobs::NewJob job, std::uint8_t order) {
  job.order = jobs::Digest{order};
  return job;
}

// A job of a route where so many may wait.
constexpr std::uint64_t kMost = 16;
Enqueue of_tenant(jobs::NewJob job, std::uint64_t tenant) {
  Enqueue enqueue;
  enqueue.job = std::move(job);
  enqueue.job.lane.tenant = TenantId{tenant};
  enqueue.max_pending = kMost;
  enqueue.is_in_share = true;
  return enqueue;
}

}  // namespace

TEST_CASE("a route takes as many waiting jobs as it may have, and more when some are leased") {
  each_store([](UnderTest& store) {
    const Epoch epoch = store.join();
    CHECK(store.enqueue(store.job(1), 2).result == Result::accepted);
    CHECK(store.enqueue(store.job(2), 2).result == Result::accepted);
    CHECK(store.enqueue(store.job(3), 2).result == Result::full);
    CHECK_FALSE(store.find(3));
    jobs::NewJob other = store.job(4);
    other.lane.route = "mails";
    CHECK(store.enqueue(other, 2).result == Result::accepted);
    store.claim(epoch, 1);
    CHECK(store.enqueue(store.job(3), 2).result == Result::accepted);
  });
}

TEST_CASE("a tenant takes three times what it leaves of a route, and another finds room") {
  each_store([](UnderTest& store) {
    const Epoch epoch = store.join();
    std::uint64_t number = 0;
    const auto ask = [&](std::uint64_t tenant, bool is_ordered = false) {
      jobs::NewJob job = store.job(++number);
      if (is_ordered) job = in_order(job, 1);
      return store.ask(of_tenant(job, tenant)).result;
    };
    const auto take_all = [&](std::uint64_t tenant, bool is_ordered = false) {
      std::uint64_t taken = 0;
      Result last{};
      while ((last = ask(tenant, is_ordered)) == Result::accepted) ++taken;
      CHECK(last == Result::share_full);
      return taken;
    };
    CHECK(take_all(1) == 12);
    CHECK(take_all(2, true) == 3);  // those that wait in an order count as well
    CHECK(ask(3) == Result::accepted);
    CHECK(ask(3) == Result::full);
    // What the proxy asks for itself is in no share; a job sent again is there already.
    store.claim(epoch, 8);
    CHECK(store.enqueue(store.job(100), kMost).result == Result::accepted);
    CHECK(store.enqueue(store.job(12), kMost).result == Result::accepted);
    CHECK(ask(1) == Result::accepted);
    // Six of ten.
    if (!store.reopen()) return;
    CHECK(take_all(1) == 3);
    CHECK(ask(4) == Result::accepted);
  });
}

TEST_CASE("a tenant whose jobs wait for another attempt takes no more for that") {
  each_store([](UnderTest& store) {
    const Epoch epoch = store.join();
    std::uint64_t number = 0;
    const auto ask = [&] { return store.ask(of_tenant(store.job(++number), 1)).result; };
    while (ask() == Result::accepted) {
    }
    jobs::Lane lane = store.job(1).lane;
    lane.tenant = TenantId{1};
    CHECK(store.claim(epoch, lane, 4) == Ids{job_id(1), job_id(2), job_id(3), job_id(4)});
    for (std::uint64_t n = 1; n <= 4; ++n) CHECK(store.retry(epoch, n, std::chrono::hours(1)));
    CHECK(ask() == Result::share_full);
  });
}

TEST_CASE("what may have no place at all is told of its duplicate, also beside what may have one") {
  each_store([](UnderTest& store) {
    store.join();
    store.enqueue(with_key(store.job(1), 7, 1));
    std::vector<Command> batch;
    for (const std::uint64_t n : {2, 3, 4, 5}) {
      Enqueue enqueue;
      enqueue.job = store.job(n);
      if (n == 2) enqueue.job = with_key(enqueue.job, 7, 1);
      if (n == 3) enqueue.job = with_key(enqueue.job, 7, 2);
      if (n == 4) enqueue.job = with_key(enqueue.job, 8, 1);
      enqueue.max_pending = n == 5 ? 2 : 0;
      batch.emplace_back(enqueue);
    }
    store.execute(batch);
    CHECK(std::get<Enqueue>(batch[0]).result == Result::duplicate);
    CHECK(std::get<Enqueue>(batch[0]).id == job_id(1));
    CHECK(std::get<Enqueue>(batch[1]).result == Result::mismatch);
    CHECK(std::get<Enqueue>(batch[2]).result == Result::full);
    CHECK(std::get<Enqueue>(batch[3]).result == Result::accepted);
    // How many wait is counted as without: two may.
    CHECK(store.enqueue(store.job(6), 2).result == Result::full);
    CHECK(store.enqueue(store.job(6), 9).result == Result::accepted);
  });
}

TEST_CASE("duplicates take no room of a route, not even for a moment") {
  each_store([](UnderTest& store) {
    store.join();
    std::uint64_t number = 0;
    for (int round = 0; round < 20; ++round) {
      CAPTURE(round);
      const auto in_round = [&](jobs::NewJob job) {
        job.lane.route = "round " + std::to_string(round);
        return store.enqueue(job, 3).result;
      };
      const auto key = static_cast<std::uint8_t>(round);
      CHECK(in_round(with_key(store.job(++number), key, 1)) == Result::accepted);
      for (int n = 0; n < 2; ++n)
        CHECK(in_round(with_key(store.job(++number), key, 1)) == Result::duplicate);
      CHECK(in_round(store.job(++number)) == Result::accepted);
      CHECK(in_round(store.job(++number)) == Result::accepted);
      CHECK(in_round(store.job(++number)) == Result::full);
    }
  });
}

TEST_CASE("the same job sent again after a failure is the same job, even to a full route") {
  each_store([](UnderTest& store) {
    store.join();
    for (int n = 0; n < 2; ++n) {
      const Enqueue again = store.enqueue(with_key(store.job(1), 7, 1), 1);
      CHECK(again.result == Result::accepted);
      CHECK(again.id == job_id(1));
      CHECK(store.enqueue(store.job(1), 1).result == Result::accepted);
    }
    CHECK(store.count(JobState::queued) == 1);
  });
}

TEST_CASE("of a batch those jobs are written down that are not there already") {
  each_store([](UnderTest& store) {
    const Epoch epoch = store.join();
    for (const std::uint64_t n : {5, 7}) store.enqueue(store.job(n));
    std::vector<Command> batch;
    std::vector<jobs::JobId> in_order{job_id(5), job_id(7)};
    for (std::uint64_t n = 1; n <= 25; ++n) {
      Enqueue enqueue;
      enqueue.job = store.job(n);
      enqueue.max_pending = 1000;
      batch.emplace_back(enqueue);
      if (n != 5 && n != 7) in_order.push_back(job_id(n));
    }
    store.execute(batch);
    for (const Command& each : batch) CHECK(std::get<Enqueue>(each).result == Result::accepted);
    CHECK(store.count(JobState::queued) == 25);
    CHECK(store.claim(epoch, 100) == in_order);
    CHECK(store.count(JobState::leased) == 25);
  });
}

TEST_CASE("jobs of one batch see each other: the second of one key is a duplicate") {
  each_store([](UnderTest& store) {
    store.join();
    std::vector<Command> batch;
    for (const std::uint64_t n : {1, 2}) {
      Enqueue enqueue;
      enqueue.job = with_key(store.job(n), 7, 1);
      enqueue.max_pending = 10;
      batch.emplace_back(enqueue);
    }
    store.execute(batch);
    CHECK(std::get<Enqueue>(batch[0]).result == Result::accepted);
    CHECK(std::get<Enqueue>(batch[1]).result == Result::duplicate);
    CHECK(std::get<Enqueue>(batch[1]).id == job_id(1));
    CHECK(store.count(JobState::queued) == 1);
  });
}

TEST_CASE("a key is known from the acceptance of its job until a day after its end") {
  each_store([](UnderTest& store) {
    const Epoch epoch = store.join(1000h);
    const auto knows = [&](std::uint8_t scope) {
      return store.ask(KnowsKey{.scope = {scope}}).is_known;
    };
    CHECK_FALSE(knows(7));
    store.enqueue(with_key(store.job(1), 7, 1));
    CHECK(knows(7));
    CHECK_FALSE(knows(8));
    store.claim(epoch);
    store.succeed(epoch, 1);
    store.pass(23h);
    store.sweep();
    CHECK(knows(7));
    store.pass(48h);
    store.sweep();
    store.sweep();
    CHECK_FALSE(knows(7));
  });
}

TEST_CASE("a duplicate of a job that was purged is of a job that is found no more") {
  each_store([](UnderTest& store) {
    const Epoch epoch = store.join();
    store.enqueue(with_key(store.job(1), 7, 1));
    store.claim(epoch);
    store.die(epoch, 1);
    REQUIRE(store.ask(Purge{.filter = {}, .limit = 1}).count == 1);
    const Enqueue again = store.enqueue(with_key(store.job(2), 7, 1));
    CHECK(again.result == Result::duplicate);
    CHECK(again.id == job_id(1));
    CHECK_FALSE(store.find(1));
    CHECK_FALSE(store.find(2));
  });
}

TEST_CASE(
    "a duplicate is answered with the first job, another request with that key is a mismatch") {
  each_store([](UnderTest& store) {
    const Epoch epoch = store.join(1000h);
    CHECK(store.enqueue(with_key(store.job(1), 7, 1)).result == Result::accepted);
    const Enqueue again = store.enqueue(with_key(store.job(2), 7, 1));
    CHECK(again.result == Result::duplicate);
    CHECK(again.id == job_id(1));
    CHECK_FALSE(store.find(2));
    CHECK(store.enqueue(with_key(store.job(3), 7, 2)).result == Result::mismatch);
    CHECK(store.enqueue(with_key(store.job(4), 8, 2)).result == Result::accepted);
    // Ended, too, and forgotten: the key is known for a day after the end.
    store.claim(epoch);
    store.succeed(epoch, 1);
    store.pass(23h);
    store.sweep();
    CHECK_FALSE(store.find(1));
    CHECK(store.enqueue(with_key(store.job(5), 7, 1)).result == Result::duplicate);
  });
}

TEST_CASE("a key is forgotten when its time is over, and not as long as its job is not done") {
  each_store([](UnderTest& store) {
    const Epoch epoch = store.join(10000h);
    jobs::NewJob ends = with_key(store.job(1), 1, 1);
    store.enqueue(ends);
    store.claim(epoch);
    store.succeed(epoch, 1);
    // Keys are forgotten by the window: one whose job has not ended is accepted in a later one.
    store.pass(7h);
    jobs::NewJob lasts = with_key(store.job(2), 2, 1);
    lasts.expires = store.now() + 5000h;
    store.enqueue(lasts);
    for (int day = 0; day < 20; ++day) {
      store.pass(24h);
      store.sweep();
    }
    CHECK(store.enqueue(with_key(store.job(3), 1, 1)).result == Result::accepted);
    CHECK(store.enqueue(with_key(store.job(4), 2, 1)).result == Result::duplicate);
  });
}

TEST_CASE("jobs of one order run one after another, across retries; those of other orders do not") {
  each_store([](UnderTest& store) {
    const Epoch epoch = store.join();
    for (const std::uint64_t n : {1, 2, 3}) store.enqueue(in_order(store.job(n), 1));
    store.enqueue(in_order(store.job(4), 2));
    store.enqueue(store.job(5));
    jobs::NewJob elsewhere = in_order(store.job(6), 1);
    elsewhere.lane.route = "mails";
    store.enqueue(elsewhere);
    CHECK(store.claim(epoch) == Ids{job_id(1), job_id(4), job_id(5)});
    CHECK(store.claim(epoch, elsewhere.lane, 1) == Ids{job_id(6)});
    store.retry(epoch, 1, 10s);
    store.pass(5s);
    CHECK(store.claim(epoch).empty());
    store.pass(5s);
    CHECK(store.claim(epoch) == Ids{job_id(1)});
    store.die(epoch, 1);
    CHECK(store.claim(epoch) == Ids{job_id(2)});
    store.succeed(epoch, 2);
    CHECK(store.claim(epoch) == Ids{job_id(3)});
  });
}

TEST_CASE("a job that is replayed has its turn after the next one of its order, before the rest") {
  each_store([](UnderTest& store) {
    const Epoch epoch = store.join();
    for (const std::uint64_t n : {1, 2, 3}) store.enqueue(in_order(store.job(n), 1));
    REQUIRE(store.claim(epoch) == Ids{job_id(1)});
    store.die(epoch, 1);
    REQUIRE(store.ask(Replay{.filter = {}, .limit = 10, .ttl = 1h}).jobs == Ids{job_id(1)});
    CHECK(store.claim(epoch) == Ids{job_id(2)});
    CHECK(store.claim(epoch).empty());
    store.succeed(epoch, 2);
    CHECK(store.claim(epoch) == Ids{job_id(1)});
    store.succeed(epoch, 1);
    CHECK(store.claim(epoch) == Ids{job_id(3)});
  });
}

TEST_CASE("an order has unfinished jobs from the first acceptance until the last end") {
  each_store([](UnderTest& store) {
    const Epoch epoch = store.join();
    const auto has_any = [&](std::uint8_t order, const char* route = "orders") {
      return store.ask(HasUnfinished{.route = route, .order = {order}}).has_any;
    };
    CHECK_FALSE(has_any(1));
    store.enqueue(store.job(9));  // of none
    CHECK_FALSE(has_any(1));
    for (const std::uint64_t n : {1, 2}) store.enqueue(in_order(store.job(n), 1));
    CHECK(has_any(1));
    CHECK_FALSE(has_any(2));
    CHECK_FALSE(has_any(1, "mails"));
    store.claim(epoch);
    CHECK(has_any(1));  // one is leased, the other blocked
    store.retry(epoch, 1, 10s);
    CHECK(store.ask(Cancel{job_id(2)}).is_done);
    CHECK(has_any(1));
    store.pass(10s);
    REQUIRE(store.claim(epoch) == Ids{job_id(1)});
    CHECK(has_any(1));
    store.die(epoch, 1);
    CHECK_FALSE(has_any(1));
    REQUIRE(store.ask(Replay{.filter = {}, .limit = 10, .ttl = 1h}).jobs == Ids{job_id(1)});
    CHECK(has_any(1));
    store.claim(epoch);
    store.succeed(epoch, 1);
    CHECK_FALSE(has_any(1));
    store.ask(Bury{.job = in_order(store.job(3), 1), .cause = jobs::Cause::expired_in_queue});
    CHECK_FALSE(has_any(1));
  });
}

TEST_CASE("whether an order has unfinished jobs is told of those of the same batch before it") {
  each_store([](UnderTest& store) {
    store.join();
    Enqueue enqueue{.job = in_order(store.job(1), 1), .max_pending = 10};
    std::vector<Command> batch{enqueue, HasUnfinished{.route = "orders", .order = {1}}};
    store.execute(batch);
    CHECK(std::get<HasUnfinished>(batch[1]).has_any);
  });
}

TEST_CASE("a job that ends while it waits for its order does not let the next one pass") {
  each_store([](UnderTest& store) {
    const Epoch epoch = store.join();
    for (const std::uint64_t n : {1, 2, 3}) store.enqueue(in_order(store.job(n), 1));
    store.claim(epoch);
    CHECK(store.ask(Cancel{job_id(2)}).is_done);
    CHECK(store.claim(epoch).empty());
    store.succeed(epoch, 1);
    CHECK(store.claim(epoch) == Ids{job_id(3)});
  });
}

TEST_CASE("a job that begins anew does not run beside another of its order") {
  each_store([](UnderTest& store) {
    const Epoch epoch = store.join();
    store.enqueue(in_order(store.job(1), 1));
    store.claim(epoch);
    store.die(epoch, 1);
    store.enqueue(in_order(store.job(2), 1));
    CHECK(store.claim(epoch) == Ids{job_id(2)});
    Replay replay;
    replay.limit = 10;
    replay.ttl = 1h;
    CHECK(store.ask(replay).jobs == Ids{job_id(1)});
    CHECK(store.claim(epoch).empty());
    store.succeed(epoch, 2);
    CHECK(store.claim(epoch) == Ids{job_id(1)});
  });
}

}  // namespace spillway::store
