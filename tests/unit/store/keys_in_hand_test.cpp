// Idempotency-Keys of requests that are answered live, where several proxies share the store.
#include <doctest/doctest.h>
#include <libpq-fe.h>

#include <atomic>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "unit/store/contract.hpp"
#include "unit/store/postgres_fleet.hpp"

namespace spillway::store {
namespace {

constexpr jobs::Digest kKey{7}, kOther{8};

KnowsKey taking(Epoch asker, const jobs::Digest& scope = kKey) {
  return {.scope = scope, .takes = true, .asker = asker};
}

struct Two : Fleet {
  Epoch one = first.join(10s);
  Epoch two = ask_second(Join{"two", 10s}).epoch;

  Enqueue write_down(std::uint64_t n, Epoch asker, const jobs::Digest& scope = kKey) {
    Enqueue enqueue{.job = first.job(n), .max_pending = 10, .asker = asker};
    enqueue.job.idempotency = {scope, {1}};
    return ask_second(enqueue);
  }
  std::string in_database(const std::string& query) { return support::Postgres::ask(url(), query); }
  bool is_in_hand(Epoch asker = 0, const jobs::Digest& scope = kKey) {
    const KnowsKey answer = ask_second(taking(asker == 0 ? two : asker, scope));
    CHECK_FALSE(answer.is_known);
    return answer.is_in_hand;
  }
};

}  // namespace

TEST_CASE("an unknown key is free for a proxy that shares the store with no other, each time") {
  each_store([](UnderTest& store) {
    const Epoch epoch = store.join();
    for (int n = 0; n < 2; ++n) {
      const KnowsKey answer = store.ask(taking(epoch));
      CHECK_FALSE(answer.is_known);
      CHECK_FALSE(answer.is_in_hand);
    }
    store.ask(LetGo{epoch, {kKey}});
  });
}

TEST_CASE("a key that one proxy has in hand another one has not, until it is let go") {
  Two fleet;
  CHECK_FALSE(fleet.first.ask(taking(fleet.one)).is_in_hand);
  CHECK(fleet.is_in_hand());
  CHECK(fleet.is_in_hand());
  CHECK_FALSE(fleet.is_in_hand(0, kOther));
  CHECK_MESSAGE(!fleet.first.ask(taking(fleet.one)).is_in_hand, "its own");
  fleet.ask_second(LetGo{fleet.two, {kKey, kOther}});
  CHECK_MESSAGE(fleet.is_in_hand(), "what is another's is not let go");
  fleet.first.ask(LetGo{fleet.one, {kKey}});
  CHECK_FALSE(fleet.is_in_hand());
  CHECK(fleet.first.ask(taking(fleet.one)).is_in_hand);
  CHECK_FALSE(fleet.first.ask(taking(fleet.one, kOther)).is_in_hand);
}

TEST_CASE("a question that takes no key, or comes from one that is not registered, takes none") {
  Two fleet;
  fleet.first.ask(KnowsKey{.scope = kKey, .asker = fleet.one});
  fleet.first.ask(taking(0));
  CHECK_FALSE(fleet.is_in_hand());
}

TEST_CASE("in a batch keys are let go before others are taken, each key once") {
  Two fleet;
  fleet.first.ask(taking(fleet.one));
  std::vector<Command> batch{taking(fleet.one), taking(fleet.one, kOther), taking(fleet.one),
                             LetGo{fleet.one, {kKey}}};
  fleet.first.execute(batch);
  for (std::size_t n = 0; n < 3; ++n) CHECK_FALSE(std::get<KnowsKey>(batch[n]).is_in_hand);
  CHECK(fleet.is_in_hand());
  CHECK(fleet.is_in_hand(0, kOther));
}

TEST_CASE("a key is free once its proxy is held to have ended, has left, or has registered anew") {
  Two fleet;
  fleet.first.ask(taking(fleet.one));
  SUBCASE("has ended") {
    fleet.first.pass(10s);
    CHECK_MESSAGE(fleet.is_in_hand(), "its lease is over, which it may not know");
    fleet.ask_second(Renew{.epoch = fleet.two, .lease = 10s});
    fleet.ask_second(Sweep{.limit = 100});
    CHECK_FALSE(fleet.is_in_hand());
  }
  SUBCASE("has left") {
    fleet.first.ask(Leave{fleet.one});
    CHECK_FALSE(fleet.is_in_hand());
  }
  SUBCASE("has registered anew") {
    fleet.first.ask(Join{.name = "one", .lease = 10s, .former = fleet.one});
    CHECK_FALSE(fleet.is_in_hand());
  }
}

TEST_CASE("what is left of a proxy that is gone is cleared when one registers, and no more") {
  Two fleet;
  fleet.first.ask(taking(fleet.one));
  fleet.ask_second(taking(fleet.two, kOther));
  fleet.first.ask(Leave{fleet.one});
  const char* const count = "SELECT count(*) FROM spillway.key_in_hand";
  REQUIRE(support::Postgres::ask(fleet.url(), count) == "2");
  const Epoch again = fleet.first.join(10s);
  CHECK(support::Postgres::ask(fleet.url(), count) == "1");
  CHECK(fleet.first.ask(taking(again, kOther)).is_in_hand);
}

TEST_CASE("a job is written down with a key that no other proxy has in hand") {
  Two fleet;
  fleet.first.ask(taking(fleet.one));
  CHECK(fleet.write_down(1, fleet.two).result == Enqueue::Result::in_hand);
  CHECK(fleet.first.state(1) == "");
  CHECK(fleet.write_down(2, fleet.two, kOther).result == Enqueue::Result::accepted);
  // Its own request is refused, and deferred.
  CHECK(fleet.write_down(3, fleet.one).result == Enqueue::Result::accepted);
  const KnowsKey answer = fleet.ask_second(taking(fleet.two));
  CHECK(answer.is_known);
  CHECK_MESSAGE(!answer.is_in_hand, "the job is told of");
  CHECK(fleet.write_down(4, fleet.two).result == Enqueue::Result::duplicate);
}

TEST_CASE("of a batch, what another proxy has in hand is left out, and the rest is written down") {
  Two fleet;
  fleet.first.ask(taking(fleet.one));
  std::vector<Command> batch;
  for (std::uint64_t n = 1; n <= 4; ++n) {
    Enqueue enqueue{.job = fleet.first.job(n), .max_pending = 3, .asker = fleet.two};
    if (n == 2) enqueue.job.idempotency = {kKey, {1}};
    if (n == 3) enqueue.job.idempotency = {kOther, {1}};
    batch.push_back(enqueue);
  }
  batch[3] = KnowsKey{.scope = kOther};
  std::vector<Command*> commands;
  for (Command& command : batch) commands.push_back(&command);
  REQUIRE_FALSE(fleet.second().execute(commands, fleet.first.now()));
  CHECK(std::get<Enqueue>(batch[0]).result == Enqueue::Result::accepted);
  CHECK(std::get<Enqueue>(batch[1]).result == Enqueue::Result::in_hand);
  CHECK(std::get<Enqueue>(batch[2]).result == Enqueue::Result::accepted);
  CHECK_MESSAGE(std::get<KnowsKey>(batch[3]).is_known, "it is asked behind them");
  CHECK(fleet.first.count(jobs::JobState::queued) == 2);
  Enqueue last{.job = fleet.first.job(5), .max_pending = 3, .asker = fleet.two};
  CHECK_MESSAGE(fleet.ask_second(last).result == Enqueue::Result::accepted,
                "what was left out takes no place of max_pending");
}

// Each takes both keys at a time, in the other order, and lets them go.
TEST_CASE("two proxies that take the same keys at the same time never both have one") {
  Two fleet;
  constexpr int kRounds = 300;
  std::atomic<int> holders[2] = {0, 0};
  std::atomic<int> clashes{0}, failures{0}, taken{0};
  const auto play = [&](JobStore& store, Epoch epoch, bool is_turned) {
    const jobs::Digest keys[2] = {is_turned ? kOther : kKey, is_turned ? kKey : kOther};
    for (int n = 0; n < kRounds; ++n) {
      Command first = taking(epoch, keys[0]), second = taking(epoch, keys[1]);
      Command* const take[] = {&first, &second};
      if (store.execute(take, fleet.first.now())) ++failures;
      LetGo let_go{epoch, {}};
      for (const Command* const one : take) {
        const auto& key = std::get<KnowsKey>(*one);
        if (key.is_in_hand) continue;
        let_go.scopes.push_back(key.scope);
        ++taken;
        if (++holders[key.scope == kKey ? 0 : 1] > 1) ++clashes;
      }
      Command look = KnowsKey{.scope = kKey};  // it has them for a while
      Command* const looking[] = {&look};
      if (store.execute(looking, fleet.first.now())) ++failures;
      for (const jobs::Digest& scope : let_go.scopes) --holders[scope == kKey ? 0 : 1];
      Command letting = std::move(let_go);
      Command* const let[] = {&letting};
      if (store.execute(let, fleet.first.now())) ++failures;
    }
  };
  std::thread other([&] { play(fleet.second(), fleet.two, true); });
  play(fleet.first.store(), fleet.one, false);
  other.join();
  CHECK(clashes == 0);
  CHECK(failures == 0);
  MESSAGE(taken.load(), " of ", 4 * kRounds, " taken");
}

namespace {

// Many at a time, so that the two proxies' statements overlap.
std::vector<jobs::Digest> keys_of(std::uint8_t group) {
  std::vector<jobs::Digest> keys;
  for (std::uint8_t n = 1; n <= 64; ++n) keys.push_back({group, n});
  return keys;
}

void take(std::vector<Command>& batch, Epoch asker, const std::vector<jobs::Digest>& keys) {
  for (const jobs::Digest& key : keys) batch.push_back(taking(asker, key));
}

bool succeeds(JobStore& store, std::vector<Command> batch, jobs::WallTime now) {
  std::vector<Command*> commands;
  for (Command& command : batch) commands.push_back(&command);
  return !store.execute(commands, now);
}

// The sessions have ended by then: what they have counted is in the statistics.
std::string deadlocks(const std::string& url) {
  support::Postgres::ask(url,
                         "SELECT count(pg_terminate_backend(pid, 10000)) FROM pg_stat_activity "
                         "WHERE datname = current_database() AND pid <> pg_backend_pid()");
  return support::Postgres::ask(
      url, "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()");
}

}  // namespace

// A circle: one has let the high keys go and waits for a low one, the other has the low ones and
// waits for a high one.
TEST_CASE("a proxy that lets keys go and takes others never waits in a circle with another one") {
  const std::vector<jobs::Digest> low = keys_of(1), high = keys_of(2);
  const std::vector<jobs::Digest> turned(high.rbegin(), high.rend());
  std::string url;
  std::atomic<int> failures{0};
  {
    Two fleet;
    url = fleet.url();
    std::atomic<bool> is_over{false};
    std::thread other([&] {
      std::vector<Command> both, none{LetGo{fleet.two, low}, LetGo{fleet.two, high}};
      take(both, fleet.two, high);
      take(both, fleet.two, low);
      while (!is_over) {
        if (!succeeds(fleet.second(), both, fleet.first.now())) ++failures;
        if (!succeeds(fleet.second(), none, fleet.first.now())) ++failures;
      }
    });
    std::vector<Command> down{LetGo{fleet.one, turned}}, up{LetGo{fleet.one, low}};
    take(down, fleet.one, low);
    take(up, fleet.one, high);
    for (int n = 0; n < 200 && failures == 0; ++n) {
      if (!succeeds(fleet.first.store(), up, fleet.first.now())) ++failures;
      if (!succeeds(fleet.first.store(), down, fleet.first.now())) ++failures;
    }
    is_over = true;
    other.join();
  }
  CHECK(failures == 0);
  CHECK(deadlocks(url) == "0");
}

TEST_CASE("a proxy that registers waits for no other one that has locked the key of one gone") {
  Two fleet;
  fleet.first.ask(taking(fleet.one));
  fleet.first.ask(Leave{fleet.one});
  PGconn* const taker = PQconnectdb(fleet.url().c_str());
  PQclear(PQexec(taker, "BEGIN; SELECT FROM spillway.key_in_hand FOR UPDATE"));
  Command join = Join{"three", 10s};
  Command* const joining[] = {&join};
  CHECK_FALSE(fleet.second().execute(joining, fleet.first.now()));
  PQfinish(taker);
}

// Others do not wait until the jobs of the batch are written down.
TEST_CASE("keys are taken and let go ahead of what else a batch does, whatever becomes of that") {
  Two fleet;
  fleet.in_database(
      "CREATE SEQUENCE spillway.tries; CREATE FUNCTION spillway.refuse() RETURNS trigger LANGUAGE "
      "plpgsql AS $$ BEGIN IF nextval('spillway.tries') % 2 = 1 OR NEW.route = 'never' THEN RAISE "
      "EXCEPTION USING ERRCODE = '40001'; END IF; RETURN NEW; END $$; CREATE TRIGGER refuse BEFORE "
      "INSERT ON spillway.waiting FOR EACH ROW EXECUTE FUNCTION spillway.refuse()");
  fleet.first.ask(taking(fleet.one, kOther));
  Enqueue enqueue{.job = fleet.first.job(1), .max_pending = 10, .asker = fleet.one};
  const auto check_keys = [&] {
    CHECK(fleet.is_in_hand());
    CHECK_FALSE(fleet.is_in_hand(0, kOther));
  };
  SUBCASE("it is tried again, and finds its own keys") {
    std::vector<Command> batch{taking(fleet.one), enqueue, LetGo{fleet.one, {kOther}}};
    fleet.first.execute(batch);
    CHECK_FALSE(std::get<KnowsKey>(batch[0]).is_in_hand);
    CHECK(fleet.first.state(1) == "queued");
    check_keys();
  }
  SUBCASE("it fails: what it has taken is let go as ever") {
    enqueue.job.lane.route = "never";
    CHECK_FALSE(succeeds(fleet.first.store(),
                         {taking(fleet.one), enqueue, LetGo{fleet.one, {kOther}}},
                         fleet.first.now()));
    CHECK(fleet.first.state(1) == "");
    check_keys();
    fleet.first.ask(LetGo{fleet.one, {kKey}});
    CHECK_FALSE(fleet.is_in_hand());
  }
}

// By the time that it is looked up why the job was left out, the key is free: both times.
TEST_CASE("a key that comes and goes is in another's hand, and the rest of the batch is done") {
  Two fleet;
  fleet.first.ask(taking(fleet.one));
  fleet.in_database(
      "ALTER TABLE spillway.key_in_hand RENAME TO taken; CREATE VIEW spillway.key_in_hand AS "
      "SELECT * FROM spillway.taken WHERE current_query() LIKE '%INSERT%'");
  std::vector<Command> batch;
  for (std::uint64_t n = 1; n <= 3; ++n) {
    batch.push_back(Enqueue{.job = fleet.first.job(n), .max_pending = 3, .asker = fleet.two});
  }
  std::get<Enqueue>(batch[1]).job.idempotency = {kKey, {1}};
  std::vector<Command*> commands;
  for (Command& command : batch) commands.push_back(&command);
  REQUIRE_FALSE(fleet.second().execute(commands, fleet.first.now()));
  CHECK(std::get<Enqueue>(batch[0]).result == Enqueue::Result::accepted);
  CHECK(std::get<Enqueue>(batch[1]).result == Enqueue::Result::in_hand);
  CHECK(std::get<Enqueue>(batch[2]).result == Enqueue::Result::accepted);
  CHECK(fleet.first.count(jobs::JobState::queued) == 2);
  Enqueue last{.job = fleet.first.job(4), .max_pending = 3, .asker = fleet.two};
  CHECK_MESSAGE(fleet.ask_second(last).result == Enqueue::Result::accepted,
                "what was left out takes no place of max_pending");
}

}  // namespace spillway::store
