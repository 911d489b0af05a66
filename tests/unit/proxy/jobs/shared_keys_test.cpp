// What a store that proxies share is told of the Idempotency-Keys of live requests.
#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "proxy/generation/read_configuration.hpp"
#include "proxy/jobs/job_queue.hpp"
#include "store/memory_store.hpp"
#include "support/event.hpp"
#include "support/proxy_under_test.hpp"

using namespace spillway;
using namespace spillway::proxy;
using support::Event;

namespace {

constexpr jobs::Digest kKey{7}, kOther{8};

// What others on the store would see.
class Board {
 public:
  void see(const store::Command& command) {
    const std::lock_guard lock(mutex_);
    if (const auto* const let_go = std::get_if<store::LetGo>(&command)) {
      CHECK(let_go->epoch != 0);
      for (const jobs::Digest& scope : let_go->scopes) std::erase(held_, scope);
      ++let_gos_;
    } else if (const auto* const key = std::get_if<store::KnowsKey>(&command)) {
      if (key->takes && key->asker != 0) held_.push_back(key->scope);
    }
    changed_.notify_all();
  }
  bool becomes(const std::vector<jobs::Digest>& held) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, support::kPatience, [&] { return held_ == held; });
  }
  std::vector<jobs::Digest> held() {
    const std::lock_guard lock(mutex_);
    return held_;
  }
  int let_gos() {
    const std::lock_guard lock(mutex_);
    return let_gos_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<jobs::Digest> held_;
  int let_gos_ = 0;
};

struct Weather {
  bool is_shared = true;
  std::atomic<bool> holds_questions{false};  // until `go`
  std::atomic<bool> fails_let_go{false};     // once
  Event is_held, go;
};

// Others are on it, as it says.
class Shared final : public store::JobStore {
 public:
  Shared(Weather& weather, Board& board)
      : weather_(weather), board_(board), inner_(store::open_memory()) {}

  bool is_shared() const override { return weather_.is_shared; }
  std::optional<store::Failure> execute(std::span<store::Command* const> batch,
                                        jobs::WallTime now) override {
    const auto has = [&](auto is) { return std::ranges::any_of(batch, is); };
    const auto is_question = [](const auto* one) {
      return std::holds_alternative<store::KnowsKey>(*one);
    };
    const auto is_let_go = [](const auto* one) {
      return std::holds_alternative<store::LetGo>(*one);
    };
    if (weather_.holds_questions && has(is_question)) {
      weather_.is_held.set();
      weather_.go.wait();
    }
    if (has(is_let_go) && weather_.fails_let_go.exchange(false))
      return store::Failure{store::Failure::Kind::unavailable, "the test says so"};
    for (const store::Command* const one : batch)
      if (is_let_go(one)) board_.see(*one);
    for (const store::Command* const one : batch)
      if (!is_let_go(one)) board_.see(*one);
    return inner_->execute(batch, now);
  }

 private:
  Weather& weather_;
  Board& board_;
  std::unique_ptr<store::JobStore> inner_;
};

struct Asked {
  explicit Asked(store::Command command) : call(std::move(command)) {
    call.done = [this] { over.set(); };
  }
  Event over;
  StoreCall call;
};

struct Desk {
  explicit Desk(bool is_shared = true)
      : queue(
            [this] {
              return store::Opened{std::make_unique<Shared>(weather, board), {}};
            },
            {[](jobs::LeasedJob, store::Epoch) {}, [] {}}, [](const store::Failure&) {}, "test") {
    weather.is_shared = is_shared;
    ReadConfiguration read =
        resolve_servers(support::checked(support::configuration({"127.0.0.1:1"})));
    const ProcessContext process{.workers = {std::make_shared<observe::WorkerGauges>()}};
    REQUIRE_FALSE(queue.start(job_routes(std::make_shared<Generation>(
        *std::move(read.config), std::move(read.endpoints), process))));
    for (const support::Deadline deadline; asker() == 0 && !deadline.passed();) {
    }
  }
  ~Desk() { weather.go.set(); }

  // As its questions are asked.
  store::Epoch asker() {
    Asked asked(store::KnowsKey{.scope = kOther});
    REQUIRE(queue.submit(asked.call));
    REQUIRE(asked.over.wait());
    return asked.call.as<store::KnowsKey>().asker;
  }
  void ask(const jobs::Digest& scope = kKey) {
    Asked asked(store::KnowsKey{.scope = scope, .takes = true});
    REQUIRE(queue.submit(asked.call));
    REQUIRE(asked.over.wait());
  }
  // Keeps the store's thread with this question until weather.go.
  void keep_with(Asked& question) {
    weather.holds_questions = true;
    REQUIRE(queue.submit(question.call));
    REQUIRE(weather.is_held.wait());
  }
  bool take(KeyInFlight& key, KeyUse use = KeyUse::live) {
    if (!key.take(queue.keys_in_flight(), kKey, use)) return false;
    if (use == KeyUse::live) key.share();
    return true;
  }

  Weather weather;
  Board board;
  JobQueue queue;
};

}  // namespace

TEST_CASE("a live request has its key in the store until it ends") {
  Desk desk;
  {
    KeyInFlight key;
    REQUIRE(desk.take(key));
    desk.ask();
    CHECK(desk.board.held() == std::vector{kKey});
    desk.ask(kOther);  // that of another one, which has ended by then
    CHECK(desk.board.becomes({kKey}));
  }
  CHECK(desk.board.becomes({}));
}

TEST_CASE("a request that has ended before its question was asked has its key no longer") {
  Desk desk;
  Asked other(store::KnowsKey{.scope = kOther}),
      asked(store::KnowsKey{.scope = kKey, .takes = true});
  desk.keep_with(other);
  {
    KeyInFlight key;
    REQUIRE(desk.take(key));
    REQUIRE(desk.queue.submit(asked.call));
  }
  desk.weather.go.set();
  REQUIRE(asked.over.wait());
  CHECK(desk.board.becomes({}));
}

TEST_CASE("a key that the next request here has by then is not let go, and is when that ends") {
  Desk desk;
  Asked other(store::KnowsKey{.scope = kOther, .takes = true});
  KeyInFlight next;
  {
    KeyInFlight key;
    REQUIRE(desk.take(key));
    desk.keep_with(other);
  }
  REQUIRE(desk.take(next));
  desk.weather.holds_questions = false;
  desk.weather.go.set();
  REQUIRE(other.over.wait());
  desk.ask();
  CHECK(desk.board.becomes({kKey}));
  next.release();
  CHECK(desk.board.becomes({}));
}

TEST_CASE("what was let go while the store failed is let go once it is there again") {
  Desk desk;
  KeyInFlight key;
  REQUIRE(desk.take(key));
  desk.ask();
  REQUIRE(desk.board.held() == std::vector{kKey});
  desk.weather.fails_let_go = true;
  key.release();
  CHECK(desk.board.becomes({}));
}

TEST_CASE("a key is let go although a request has it that came while the store was away") {
  Desk desk;
  KeyInFlight first, second;
  REQUIRE(desk.take(first));
  desk.ask();
  Asked other(store::KnowsKey{.scope = kOther});
  desk.keep_with(other);
  first.release();
  REQUIRE(second.take(desk.queue.keys_in_flight(), kKey, KeyUse::live));  // and shares it not
  desk.weather.go.set();
  REQUIRE(other.over.wait());
  CHECK(desk.board.becomes({}));
}

TEST_CASE("no key is let go that is not in the store for its request") {
  SUBCASE("written down") {
    Desk desk;
    KeyInFlight key;
    REQUIRE(desk.take(key, KeyUse::written_down));
    key.release();
    desk.asker();
    CHECK(desk.board.let_gos() == 0);
  }
  SUBCASE("that the store was not asked for") {
    Desk desk;
    KeyInFlight key;
    REQUIRE(key.take(desk.queue.keys_in_flight(), kKey, KeyUse::live));
    key.release();
    desk.asker();
    CHECK(desk.board.let_gos() == 0);
  }
  SUBCASE("alone") {
    Desk desk(false);
    KeyInFlight key;
    REQUIRE(desk.take(key));
    key.release();
    desk.asker();
    CHECK(desk.board.let_gos() == 0);
  }
}
