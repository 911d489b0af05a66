// Idempotency-Keys of requests that are answered live, where several proxies share the store.
#include <doctest/doctest.h>

#include <atomic>
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
  bool is_in_hand(Epoch asker = 0, const jobs::Digest& scope = kKey) {
    const KnowsKey answer = ask_second(taking(asker == 0 ? two : asker, scope));
    CHECK_FALSE(answer.is_known);
    return answer.is_in_hand;
  }
};

}  // namespace

TEST_CASE("a key that nobody knows is free where nobody shares the store, however often") {
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

}  // namespace spillway::store
