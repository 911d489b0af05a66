// Proxies that end with jobs in hand, one after another on one store: which jobs are dead of it.
#include <doctest/doctest.h>

#include <algorithm>
#include <deque>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "store/memory_store.hpp"
#include "unit/proxy/jobs/played_store.hpp"

using namespace spillway;
using namespace spillway::proxy;
using jobs::JobId;
using jobs::JobState;
using std::chrono::seconds;

namespace {

JobId numbered(std::size_t n) {
  JobId id;
  id.bytes[0] = static_cast<std::uint8_t>(n >> 8);
  id.bytes[1] = static_cast<std::uint8_t>(n);
  return id;
}

// A store, and a proxy at a time.
struct LastingStore {
  bool keeps_rule = true;     // false: as if lanes were asked for any jobs
  milliseconds takes{100};    // a job, at its upstream
  std::size_t slots = 32;     // of the upstream
  std::set<JobId> poison{};   // each ends the proxy that begins it
  bool loses_claims = false;  // the store executes them, and its answer does not come

  // Jobs from..to, of so many tenants in turns.
  void write(std::size_t from, std::size_t to, std::size_t tenants = 1) {
    std::vector<store::Command> batch;
    for (std::size_t n = from; n < to; ++n) {
      store::Enqueue enqueue;
      enqueue.job.id = numbered(n);
      enqueue.job.lane = {jobs::kLowestRank, "export", TenantId{n % tenants}};
      enqueue.job.accepted = wall;
      enqueue.job.expires = wall + std::chrono::hours(1000);
      enqueue.job.kept = std::chrono::hours(1000);
      enqueue.max_pending = 100'000;
      batch.emplace_back(std::move(enqueue));
    }
    execute(batch);
  }
  // All that wait were in the hand of so many proxies that ended.
  void recover_all(int times) {
    for (; times > 0; --times) {
      const store::Epoch epoch = ask(store::Join{"test", seconds(15)}).epoch;
      for (const auto& one : ask(store::Lanes{.limit = 1000}).found)
        ask(store::Claim{epoch, one.lane, 1000});
      ask(store::Join{"test", seconds(15)});
      ask(store::Sweep{.limit = 1000});
    }
  }
  std::size_t count(JobState state) {
    return ask(store::List{.filter = {.state = state}, .limit = 1000}).jobs.size();
  }
  // The most jobs in hand that are dead if the proxy ends now.
  std::size_t at_stake() {
    const auto leased = ask(store::List{.filter = {.state = JobState::leased}, .limit = 1000}).jobs;
    return static_cast<std::size_t>(std::ranges::count_if(leased, [](const jobs::JobView& job) {
      return job.progress.recoveries >= jobs::kMostRecoveries;
    }));
  }

  template <class Verb>
  Verb ask(Verb verb) {
    std::vector<store::Command> batch{std::move(verb)};
    execute(batch);
    return std::get<Verb>(std::move(batch.front()));
  }
  void execute(std::vector<store::Command>& batch) {
    std::vector<store::Command*> commands;
    for (store::Command& command : batch) commands.push_back(&command);
    REQUIRE_FALSE(store->execute(commands, wall));
  }
  void pass(milliseconds time) {
    now += time;
    wall += time;
  }

  std::unique_ptr<store::JobStore> store = store::open_memory();
  std::shared_ptr<Generation> generation = generation_with(nlohmann::json::object());
  TimePoint now = TimePoint{} + std::chrono::hours(1);
  jobs::WallTime wall = jobs::WallTime{} + std::chrono::hours(480000);
  std::size_t claims = 0;
  std::size_t most_at_stake = 0;
  std::vector<JobId> done{};
};

// One proxy.
class MortalProxy {
 public:
  explicit MortalProxy(LastingStore& shop)
      : shop_(shop),
        dispatcher_({.hand_over = [this](jobs::LeasedJob job,
                                         store::Epoch) { waiting_.push_back(std::move(job)); },
                     .abort_all = [] {}},
                    counts_, "test") {
    dispatcher_.configure(job_routes(shop.generation));
  }

  // For so long, or until `enough` jobs of the shop are done. False: it has ended.
  bool run(milliseconds time, std::size_t enough = 1'000'000) {
    const TimePoint end = shop_.now + time;
    while (shop_.now < end && shop_.done.size() < enough) {
      std::vector<store::Command> batch = ends();
      if (!begin_some()) return false;
      const std::size_t settles = batch.size();
      dispatcher_.plan(batch, shop_.now, shop_.wall);
      if (!turn(batch, settles)) continue;
      TimePoint next = dispatcher_.next_due(shop_.now, shop_.wall);
      if (!running_.empty()) next = std::min(next, running_.begin()->first);
      const auto until = std::chrono::ceil<milliseconds>(next - shop_.now);
      shop_.pass(std::clamp(until, milliseconds(1), milliseconds(1000)));
    }
    return true;
  }

 private:
  std::vector<store::Command> ends() {
    std::vector<store::Command> batch;
    while (!running_.empty() && running_.begin()->first <= shop_.now) {
      const jobs::LeasedJob job = std::move(running_.begin()->second);
      running_.erase(running_.begin());
      shop_.done.push_back(job.id);
      store::Settle settle{.epoch = dispatcher_.epoch(), .id = job.id, .progress = job.progress};
      settle.progress.state = JobState::succeeded;
      settle.progress.ended = shop_.wall;
      batch.emplace_back(std::move(settle));
    }
    return batch;
  }
  bool begin_some() {
    for (; !waiting_.empty() && running_.size() < shop_.slots; waiting_.pop_front()) {
      if (shop_.poison.contains(waiting_.front().id)) return false;
      running_.emplace(shop_.now + shop_.takes, std::move(waiting_.front()));
    }
    set_running(shop_.generation->upstreams[0], running_.size());
    return true;
  }
  // False: it has lost its claims, or has handed over jobs that may begin now.
  bool turn(std::vector<store::Command>& batch, std::size_t settles) {
    bool claims = false;
    for (store::Command& command : batch) {
      auto* const claim = std::get_if<store::Claim>(&command);
      if (claim == nullptr) continue;
      claims = true;
      ++shop_.claims;
      if (!shop_.keeps_rule) claim->most_recoveries = store::Claim{}.most_recoveries;
    }
    shop_.execute(batch);
    // Those of the proxy before are recovered by now.
    if (shop_.ask(store::Sweep{.limit = 1000}).recovered.empty())
      shop_.most_at_stake = std::max(shop_.most_at_stake, shop_.at_stake());
    if (claims && shop_.loses_claims) {
      for (std::size_t n = 0; n < settles; ++n) dispatcher_.learn(batch[n], shop_.now, shop_.wall);
      dispatcher_.failed(shop_.now);
      shop_.loses_claims = false;
      return false;
    }
    const std::size_t before = waiting_.size();
    for (store::Command& command : batch) dispatcher_.learn(command, shop_.now, shop_.wall);
    return waiting_.size() == before;
  }

  LastingStore& shop_;
  observe::JobCounts counts_;
  std::deque<jobs::LeasedJob> waiting_;
  std::multimap<TimePoint, jobs::LeasedJob> running_;
  JobDispatcher dispatcher_;
};

// Proxies are started until one goes on. How often one has ended.
int ends_of(LastingStore& shop) {
  for (int ends = 0; ends < 100; ++ends)
    if (MortalProxy(shop).run(seconds(1000))) return ends;
  return 100;
}

// So many proxies each end as soon as they have jobs in hand.
void end_early(LastingStore& shop, int times) {
  const milliseconds takes = std::exchange(shop.takes, seconds(1000));
  for (; times > 0; --times) {
    const std::size_t dead = shop.count(JobState::dead);
    CHECK(MortalProxy(shop).run(milliseconds(1500)));
    if (shop.keeps_rule) CHECK(shop.count(JobState::dead) <= dead + 1);
  }
  shop.takes = takes;
}

// The negative control: without the rule dozens are dead.
template <class Play>
void check_without_rule(const Play& play) {
  LastingStore shop{.keeps_rule = false};
  play(shop);
  CHECK(shop.count(JobState::dead) > 24);
}

}  // namespace

TEST_CASE("of jobs beside one that ends each proxy that begins it, none is dead but that one") {
  const auto play = [](LastingStore& shop) {
    shop.takes = seconds(1);
    shop.poison = {numbered(30)};
    shop.write(0, 100);
    CHECK(ends_of(shop) == 4);
    CHECK(shop.count(JobState::dead) + shop.count(JobState::succeeded) == 100);
  };
  LastingStore shop;
  play(shop);
  CHECK(shop.count(JobState::dead) == 1);
  CHECK(shop.ask(store::Find{numbered(30)}).job->progress.cause == jobs::Cause::poison);
  CHECK(shop.most_at_stake == 1);
  check_without_rule(play);
}

TEST_CASE("of several such jobs each is dead, and beside them no more than one for each end") {
  LastingStore shop;
  shop.takes = seconds(1);
  shop.poison = {numbered(5), numbered(30), numbered(31), numbered(70)};
  shop.write(0, 100);
  const int ends = ends_of(shop);
  CHECK(ends <= 16);
  CHECK(shop.most_at_stake == 1);
  CHECK(shop.count(JobState::dead) <= static_cast<std::size_t>(ends));
  CHECK(shop.count(JobState::dead) + shop.count(JobState::succeeded) == 100);
  for (const JobId& id : shop.poison)
    CHECK(shop.ask(store::Find{id}).job->progress.state == JobState::dead);
}

TEST_CASE("proxies that end for another reason have one job dead each, from the fourth on") {
  const auto play = [](LastingStore& shop) {
    shop.write(0, 60, 3);
    end_early(shop, 3);
    CHECK(shop.count(JobState::dead) == 0);
    end_early(shop, 9);
    CHECK(ends_of(shop) == 0);
    CHECK(shop.count(JobState::dead) + shop.count(JobState::succeeded) == 60);
  };
  LastingStore shop;
  play(shop);
  CHECK(shop.count(JobState::dead) <= 9);
  CHECK(shop.most_at_stake == 1);
  check_without_rule(play);
}

TEST_CASE("jobs that have to be alone follow each other at once") {
  LastingStore shop;
  shop.takes = milliseconds(10);
  std::size_t tenants = 1;
  SUBCASE("in one lane") {}
  SUBCASE("in lanes of their own") { tenants = 40; }
  shop.write(0, 40, tenants);
  shop.recover_all(3);
  const TimePoint began = shop.now;
  CHECK(MortalProxy(shop).run(seconds(100), 40));
  CHECK(shop.count(JobState::dead) == 0);
  CHECK(shop.done.size() == 40);
  CHECK(shop.now - began < milliseconds(40 * 50));
  CHECK(shop.most_at_stake == 1);
  CHECK_MESSAGE(shop.claims < 40 * 5 + tenants, "lanes are not asked in vain");
}

TEST_CASE("jobs that may be eight in hand are, one after another as they end") {
  LastingStore shop;
  shop.write(0, 80, 4);
  shop.recover_all(2);
  const TimePoint began = shop.now;
  CHECK(MortalProxy(shop).run(seconds(100), 80));
  CHECK(shop.done.size() == 80);
  CHECK(shop.now - began < 10 * (shop.takes + milliseconds(100)));
  CHECK(shop.now - began >= 10 * shop.takes);
}

TEST_CASE("while one is alone the others of its kind wait in peace, and other jobs pass them") {
  LastingStore shop;
  shop.takes = seconds(60);
  shop.write(0, 40);
  shop.recover_all(3);
  MortalProxy proxy(shop);
  CHECK(proxy.run(seconds(1)));
  CHECK(shop.count(JobState::leased) == 1);
  shop.claims = 0;
  CHECK(proxy.run(seconds(30)));
  CHECK_MESSAGE(shop.claims <= 31, "each second the store tells of their lane");
  CHECK(shop.count(JobState::leased) == 1);
  shop.write(100, 120);
  CHECK(proxy.run(seconds(2)));
  CHECK(shop.count(JobState::leased) >= 9);
  CHECK(shop.most_at_stake == 1);
}

TEST_CASE("claims whose answer is lost do not put a second one beside it") {
  LastingStore shop;
  shop.takes = seconds(1);
  shop.write(0, 10, 2);
  shop.recover_all(3);
  MortalProxy proxy(shop);
  for (int n = 0; n < 30; ++n) {
    shop.loses_claims = true;
    CHECK(proxy.run(milliseconds(700)));
  }
  CHECK(proxy.run(seconds(30)));
  CHECK(shop.count(JobState::succeeded) == 10);
  CHECK(shop.most_at_stake == 1);
}
