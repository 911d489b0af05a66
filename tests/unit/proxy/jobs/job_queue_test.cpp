// The thread with the store: what becomes of calls when the store fails, and when it is there
// again.
#include "proxy/jobs/job_queue.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "proxy/generation/read_configuration.hpp"
#include "store/memory_store.hpp"
#include "support/event.hpp"
#include "support/proxy_under_test.hpp"

using namespace spillway;
using namespace spillway::proxy;
using support::Event;

namespace {

// What the test says of the store.
struct Weather {
  std::atomic<bool> holds_enqueues{false};  // after they are in the store, and until `let_go`
  Event is_held, let_go;
  std::atomic<bool> is_down{false};
  std::atomic<store::Failure::Kind> kind{store::Failure::Kind::unavailable};
  std::atomic<int> opened{0};
  std::atomic<int> batches_of_settles{0};
  std::atomic<bool> loses_answers{false};  // of the next batch with a Settle, which is executed
  std::atomic<int> sent_again{0};          // Settles
  std::atomic<bool> hangs{false};          // until `go`
  Event is_hanging, go;
  std::atomic<bool> fails_lists{false};
  std::atomic<int> lists{0};
  std::atomic<int> with_lists{0};  // commands in one batch with a List
};

// A memory store that fails while it is down.
class Fickle final : public store::JobStore {
 public:
  explicit Fickle(Weather& weather) : weather_(weather), inner_(store::open_memory()) {}

  std::optional<store::Failure> execute(std::span<store::Command* const> batch,
                                        jobs::WallTime now) override {
    if (weather_.is_down) return store::Failure{weather_.kind, "the test says so"};
    if (weather_.hangs) {
      weather_.is_hanging.set();
      weather_.go.wait();
    }
    const bool has_list = std::ranges::any_of(
        batch, [](const auto* one) { return std::holds_alternative<store::List>(*one); });
    if (has_list) {
      ++weather_.lists;
      weather_.with_lists += static_cast<int>(batch.size()) - 1;
      if (weather_.fails_lists)
        return store::Failure{store::Failure::Kind::unavailable, "that takes too long"};
    }
    for (const store::Command* const command : batch)
      if (const auto* const settle = std::get_if<store::Settle>(command)) {
        ++weather_.batches_of_settles;
        weather_.sent_again += settle->is_sent_again ? 1 : 0;
      }
    auto failure = inner_->execute(batch, now);
    const bool has_settle = std::ranges::any_of(
        batch, [](const auto* one) { return std::holds_alternative<store::Settle>(*one); });
    if (has_settle && weather_.loses_answers.exchange(false))
      return store::Failure{store::Failure::Kind::unavailable, "the connection broke"};
    const bool holds = weather_.holds_enqueues && std::ranges::any_of(batch, [](const auto* one) {
                         return std::holds_alternative<store::Enqueue>(*one);
                       });
    if (holds) {
      weather_.is_held.set();
      weather_.let_go.wait();
    }
    return failure;
  }

 private:
  Weather& weather_;
  std::unique_ptr<store::JobStore> inner_;
};

JobRoutes some_routes() {
  ReadConfiguration read =
      resolve_servers(support::checked(support::configuration({"127.0.0.1:1"})));
  const ProcessContext process{.workers = {std::make_shared<observe::WorkerGauges>()}};
  return job_routes(
      std::make_shared<Generation>(*std::move(read.config), std::move(read.endpoints), process));
}

// The store's thread may still be in done() when the test goes on.
struct Asked {
  explicit Asked(store::Command command) : call(std::move(command)) {}

  Event over;
  StoreCall call;
};

struct Desk {
  Desk()
      : queue([this] { return open(); }, {[](jobs::LeasedJob, store::Epoch) {}, [] {}},
              [this](const store::Failure&) { ++failures; }, "test") {}

  store::Opened open() {
    ++weather.opened;
    if (weather.is_down && weather.opened == 1)
      return {nullptr, {weather.kind, "the test says so"}};
    return {std::make_unique<Fickle>(weather), {}};
  }
  // Executed, and its failure.
  std::optional<store::Failure> ask(store::Command command) {
    const auto asked = std::make_shared<Asked>(std::move(command));
    asked->call.done = [asked] { asked->over.set(); };
    if (!queue.submit(asked->call)) {
      asked->call.done = nullptr;
      return store::Failure{store::Failure::Kind::unavailable, "not taken"};
    }
    REQUIRE(asked->over.wait());
    return asked->call.failure;
  }
  bool becomes_available(bool wanted) {
    const TimePoint until = Clock::now() + support::kPatience;
    while (queue.is_available() != wanted && Clock::now() < until) std::this_thread::yield();
    return queue.is_available() == wanted;
  }

  Weather weather;
  std::atomic<int> failures{0};
  JobQueue queue;
};

store::Command enqueue(std::uint8_t id) {
  store::Enqueue command;
  command.job.id.bytes[0] = id;
  command.job.lane.route = "gone";  // so that nothing pulls it
  command.job.expires = jobs::WallTime{} + std::chrono::hours(1'000'000);
  command.max_pending = 100;
  return command;
}

}  // namespace

TEST_CASE("what is written down is answered after its commit, and not before") {
  Desk desk;
  REQUIRE_FALSE(desk.queue.start(some_routes()));
  CHECK_FALSE(desk.ask(enqueue(1)));
  CHECK(desk.queue.counts().commit_times.count() > 0);

  desk.weather.holds_enqueues = true;
  const auto asked = std::make_shared<Asked>(enqueue(2));
  asked->call.done = [asked] { asked->over.set(); };
  REQUIRE(desk.queue.submit(asked->call));
  REQUIRE(desk.weather.is_held.wait());
  CHECK_FALSE(asked->over.is_set());
  desk.weather.let_go.set();
  REQUIRE(asked->over.wait());
  CHECK_FALSE(asked->call.failure);
}

TEST_CASE("a store that fails is told to those who wait, refuses others, and recovers by itself") {
  Desk desk;
  REQUIRE_FALSE(desk.queue.start(some_routes()));
  REQUIRE_FALSE(desk.ask(enqueue(1)));
  desk.weather.is_down = true;
  CHECK(desk.ask(enqueue(2)));
  CHECK(desk.becomes_available(false));
  CHECK(desk.ask(enqueue(3)));
  CHECK(desk.failures == 1);
  desk.weather.is_down = false;
  CHECK(desk.becomes_available(true));
  CHECK_FALSE(desk.ask(enqueue(4)));
}

TEST_CASE("an operator's question that fails is nothing to others, and leases are kept beside it") {
  Desk desk;
  REQUIRE_FALSE(desk.queue.start(some_routes()));
  REQUIRE_FALSE(desk.ask(enqueue(1)));
  desk.weather.fails_lists = true;
  for (std::uint8_t n = 2; n < 40; ++n) {
    CHECK(desk.ask(store::List{.limit = 1}));
    CHECK_FALSE(desk.ask(enqueue(n)));
  }
  CHECK(desk.queue.is_available());
  CHECK(desk.failures == 0);
  CHECK(desk.weather.lists == 38);
  CHECK(desk.weather.with_lists == 0);
}

TEST_CASE("while a commit takes too long others are refused at once, and nothing has failed") {
  Desk desk;
  REQUIRE_FALSE(desk.queue.start(some_routes()));
  REQUIRE_FALSE(desk.ask(enqueue(1)));
  desk.weather.hangs = true;
  REQUIRE(desk.weather.is_hanging.wait());  // with what it asks of itself
  const auto submitted = [&](store::Command command) {
    const auto asked = std::make_shared<Asked>(std::move(command));
    asked->call.done = [asked] { asked->over.set(); };
    REQUIRE(desk.queue.submit(asked->call));
    return asked;
  };
  const auto early = submitted(enqueue(2)), impatient = submitted(enqueue(3));
  // It may take as long as that.
  CHECK(desk.queue.withdraw(impatient->call) == Withdrawal::too_late);
  REQUIRE(desk.becomes_available(false));
  CHECK(desk.ask(enqueue(4)));
  CHECK(desk.ask(store::KnowsKey{}));
  const auto settled = submitted(store::Settle{});
  CHECK(desk.queue.withdraw(impatient->call) == Withdrawal::withdrawn);
  CHECK(desk.queue.withdraw(impatient->call) == Withdrawal::too_late);
  CHECK_FALSE(early->over.is_set());
  desk.weather.hangs = false;
  desk.weather.go.set();
  REQUIRE(early->over.wait());
  REQUIRE(settled->over.wait());
  CHECK_FALSE(early->call.failure);
  CHECK_FALSE(settled->call.failure);
  CHECK_FALSE(impatient->over.is_set());
  impatient->call.done = nullptr;
  CHECK(desk.becomes_available(true));
  CHECK_FALSE(desk.ask(enqueue(5)));
  CHECK(desk.failures == 0);
}

TEST_CASE("a store hangs from a second of one turn on, however many turns it has taken") {
  StoreCondition condition;
  const TimePoint begin = TimePoint{} + std::chrono::hours(1);
  CHECK_FALSE(condition.hangs(begin));
  for (int n = 0; n < 3; ++n) {
    const TimePoint turn = begin + n * StoreCondition::kLongestTurn;
    condition.begin(turn);
    CHECK_FALSE(condition.hangs(turn + StoreCondition::kLongestTurn));
    CHECK(condition.hangs(turn + StoreCondition::kLongestTurn + Milliseconds{1}));
    condition.end();
    CHECK_FALSE(condition.hangs(turn + std::chrono::hours(1)));
  }
}

TEST_CASE("what is wrong with a store is said until something is written again") {
  Desk desk;
  REQUIRE_FALSE(desk.queue.start(some_routes()));
  desk.weather.kind = store::Failure::Kind::full;
  desk.weather.is_down = true;
  const auto failure = desk.ask(enqueue(1));
  REQUIRE(failure);
  CHECK(failure->kind == store::Failure::Kind::full);
  CHECK(desk.queue.condition().reason() == Reason::store_full);
  desk.weather.is_down = false;
  REQUIRE(desk.becomes_available(true));
  REQUIRE_FALSE(desk.ask(store::KnowsKey{}));
  CHECK(desk.queue.condition().reason() == Reason::store_full);  // it was only read
  REQUIRE_FALSE(desk.ask(enqueue(1)));
  CHECK(desk.queue.condition().reason() == Reason::store_unavailable);
  desk.weather.kind = store::Failure::Kind::unavailable;
  desk.weather.is_down = true;
  REQUIRE(desk.ask(enqueue(2)));
  CHECK(desk.queue.condition().reason() == Reason::store_unavailable);
}

TEST_CASE("an attempt that ended while the store is down is settled when it is there again") {
  Desk desk;
  REQUIRE_FALSE(desk.queue.start(some_routes()));
  REQUIRE_FALSE(desk.ask(enqueue(1)));
  desk.weather.is_down = true;
  REQUIRE(desk.ask(enqueue(2)));
  const auto settled = std::make_shared<Asked>(store::Settle{});
  settled->call.done = [settled] { settled->over.set(); };
  REQUIRE(desk.queue.submit(settled->call));
  CHECK_FALSE(settled->over.is_set());
  desk.weather.is_down = false;
  REQUIRE(settled->over.wait());
  CHECK_FALSE(settled->call.failure);
  CHECK(desk.weather.batches_of_settles == 1);
}

TEST_CASE("an end whose commit has failed is sent again as one that may be done, and no other is") {
  Desk desk;
  REQUIRE_FALSE(desk.queue.start(some_routes()));
  const auto settle = [&] {
    const auto settled = std::make_shared<Asked>(store::Settle{});
    settled->call.done = [settled] { settled->over.set(); };
    REQUIRE(desk.queue.submit(settled->call));
    REQUIRE(settled->over.wait());
    CHECK_FALSE(settled->call.failure);
  };
  settle();
  CHECK(desk.weather.sent_again == 0);
  desk.weather.loses_answers = true;
  settle();
  CHECK(desk.weather.batches_of_settles == 3);
  CHECK(desk.weather.sent_again == 1);
}

TEST_CASE("a store that cannot be reached, or is full, at the start is opened later") {
  using Kind = store::Failure::Kind;
  for (const auto [kind, reason] : {std::pair(Kind::unavailable, Reason::store_unavailable),
                                    std::pair(Kind::full, Reason::store_full)}) {
    Desk desk;
    desk.weather.kind = kind;
    desk.weather.is_down = true;
    REQUIRE_FALSE(desk.queue.start(some_routes()));
    CHECK_FALSE(desk.queue.is_available());
    CHECK(desk.queue.condition().reason() == reason);
    CHECK(desk.failures == 1);
    desk.weather.is_down = false;
    CHECK(desk.becomes_available(true));
    CHECK_FALSE(desk.ask(enqueue(1)));
    CHECK(desk.queue.condition().reason() == Reason::store_unavailable);
  }
}

TEST_CASE("a store that is not ours keeps the proxy from starting") {
  JobQueue queue(
      [] {
        return store::Opened{nullptr, {store::Failure::Kind::corrupt, "no store"}};
      },
      {[](jobs::LeasedJob, store::Epoch) {}, [] {}}, [](const store::Failure&) {}, "test");
  const auto failure = queue.start(some_routes());
  REQUIRE(failure);
  CHECK(failure->text == "no store");
}

TEST_CASE("a doorbell wakes for a ring, also one from before, for a descriptor, and in time") {
  Doorbell bell;
  const TimePoint late = Clock::now() + std::chrono::hours(1);
  bell.ring();
  bell.wait(-1, late);
  std::thread other([&] { bell.ring(); });
  bell.wait(-1, late);
  other.join();
  Event readable;
  readable.set();
  bell.wait(readable.descriptor(), late);
  const TimePoint soon = Clock::now() + std::chrono::milliseconds(10);
  const Event not_readable;
  while (Clock::now() < soon) bell.wait(not_readable.descriptor(), soon);
  bell.wait(-1, TimePoint{});
}

TEST_CASE("calls that come after the end are not taken, and those that wait are answered") {
  Desk desk;
  REQUIRE_FALSE(desk.queue.start(some_routes()));
  desk.queue.stop();
  StoreCall call{enqueue(1)};
  CHECK_FALSE(desk.queue.submit(call));
}

TEST_CASE("a letter is written beside, up to a number of its route's dead jobs") {
  using Buried = JobQueue::Buried;
  Desk desk;
  REQUIRE_FALSE(desk.queue.start(some_routes()));
  REQUIRE_FALSE(desk.ask(enqueue(1)));
  std::atomic<int> written{0};
  const auto bury = [&](std::uint8_t id) {
    jobs::NewJob job;
    job.id.bytes[0] = id;
    job.lane.route = "gone";
    return desk.queue.bury(std::move(job), jobs::Cause::expired_in_queue, 2, [&] { ++written; });
  };
  CHECK(bury(2) == Buried::taken);
  CHECK(bury(3) == Buried::taken);
  CHECK(bury(4) == Buried::full);
  CHECK_FALSE(desk.queue.may_bury("gone", 2));
  CHECK(desk.queue.may_bury("another", 2));
  REQUIRE_FALSE(desk.ask(enqueue(5)));  // the store has got them by the next commit
  REQUIRE_FALSE(desk.ask(enqueue(6)));
  CHECK(written == 2);
  CHECK(desk.queue.counts().dead[index(jobs::Cause::expired_in_queue)] == 2);
  desk.weather.is_down = true;
  CHECK(desk.ask(enqueue(7)));
  CHECK(desk.becomes_available(false));
  CHECK(bury(8) == Buried::unavailable);
}
