// Each 202 that a client saw ends in exactly one final state, whatever becomes of a proxy or of the
// database. A job is forwarded twice only if it was in hand when that happened.
#include "system/fleet/fleet.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <future>
#include <thread>
#include <utility>

#include "proxy/jobs/job_news.hpp"
#include "support/proxy_under_test.hpp"
#include "support/raw_client.hpp"

using namespace spillway;
using namespace spillway::support;
using nlohmann::json;

namespace {

constexpr std::size_t kConcurrency = 4;  // of each proxy
constexpr std::chrono::milliseconds kLease{3000};
constexpr Milliseconds kLong{30'000};

struct Fleet {
  // `limits` and `defer`: what differs from the defaults.
  explicit Fleet(std::size_t answers, std::chrono::milliseconds lease = kLease,
                 const json& limits = json::object(), const json& defer = json::object())
      : url(postgres.create_database()),
        first("first", answers, settings(lease, limits, defer)),
        second("second", answers, settings(lease, limits, defer)) {
    REQUIRE(comes_to_share(url, "4 4"));
  }

  json settings(std::chrono::milliseconds lease, const json& limits, const json& defer) const {
    json all = fleet_settings(url, lease, 2 * kConcurrency, limits);
    all["routes"][0]["defer"].merge_patch(defer);
    return all;
  }

  // So many to each, by turns.
  void order(std::size_t jobs) {
    for (std::size_t n = 0; n < jobs; ++n) {
      for (const Member* const member : {&first, &second}) {
        const std::string location = member->order();
        REQUIRE(location != "");
        promised.push_back(location);
      }
    }
  }
  // The states of all that was promised, as a proxy tells them, once they are final.
  static std::map<std::string, int> ends(const Member& member,
                                         const std::vector<std::string>& promised) {
    std::map<std::string, int> states;
    const Deadline deadline(kLong);
    for (const std::string& location : promised) {
      std::string state = member.state_of(location);
      while (state != "succeeded" && state != "dead" && !deadline.passed())
        state = member.state_of(location);
      ++states[state];
    }
    return states;
  }
  // A job stands in one of the tables; what counts is the database's own word.
  std::string count(const std::string& table) const {
    return Postgres::ask(url, "SELECT count(*) FROM spillway." + table);
  }
  std::map<std::string, int> times() const { return attempts({&first.backend, &second.backend}); }
  std::set<std::string> forwarded_twice() const {
    std::set<std::string> more;
    for (const auto& [job, times] : times()) {
      CHECK(times <= 2);
      if (times > 1) more.insert(job);
    }
    return more;
  }

  Postgres postgres;
  const std::string url;
  Member first;
  Member second;
  std::vector<std::string> promised;
};

const std::map<std::string, int> all_succeeded(std::size_t jobs) {
  return {{"succeeded", static_cast<int>(jobs)}};
}

}  // namespace

TEST_CASE("when a proxy is killed with jobs in hand another one does them, and no job is lost") {
  Fleet fleet(3);
  fleet.order(12);
  // What was answered is acknowledged: with more in hand than `concurrency` no other is forwarded.
  REQUIRE(fleet.first.backend.comes_to_hold(kConcurrency));
  REQUIRE(fleet.second.backend.comes_to_hold(kConcurrency));
  const std::set<std::string> in_hand = fleet.first.backend.held();
  fleet.first.proxy.process().signal(SIGKILL);
  fleet.second.backend.answer_all();

  CHECK(fleet.ends(fleet.second, fleet.promised) == all_succeeded(24));
  CHECK(fleet.count("ended") == "24");
  CHECK(fleet.count("waiting") == "0");
  CHECK(fleet.count("leased") == "0");
  CHECK(fleet.times().size() == 24);
  CHECK(fleet.forwarded_twice() == in_hand);
  CHECK(fleet.second.metric_becomes("spillway_jobs_recovered_total", kConcurrency));
  MESSAGE("24 promised, 24 succeeded, ", in_hand.size(), " in hand and forwarded twice");
}

TEST_CASE(
    "a proxy that is stopped past its lease acknowledges in vain, and ends its upstream requests") {
  Fleet fleet(0);
  fleet.order(10);
  REQUIRE(fleet.first.backend.comes_to_hold(kConcurrency));
  REQUIRE(fleet.second.backend.comes_to_hold(kConcurrency));
  const std::set<std::string> in_hand = fleet.first.backend.held();
  fleet.first.proxy.process().signal(SIGSTOP);
  fleet.second.backend.answer_all();
  CHECK(fleet.ends(fleet.second, fleet.promised) == all_succeeded(20));

  // Two were answered while it stood still, two still are under way.
  fleet.first.backend.answer(2);
  REQUIRE(fleet.first.backend.comes_to_have_answered(2));
  fleet.first.proxy.process().signal(SIGCONT);
  CHECK(fleet.first.backend.comes_to_be_given_up(kConcurrency - 2));
  CHECK(fleet.first.metric_becomes("spillway_jobs_lease_lost_total", kConcurrency));
  CHECK(fleet.first.metric("spillway_jobs_succeeded_total") == 0);
  CHECK(fleet.ends(fleet.first, fleet.promised) == all_succeeded(20));
  std::size_t by_second = 0;
  for (const std::string& location : fleet.promised)
    by_second += fleet.first.answer_of(location) == "second";
  CHECK(by_second == 20);
  CHECK(fleet.count("ended") == "20");
  CHECK(fleet.count("leased") == "0");
  CHECK(fleet.forwarded_twice() == in_hand);
  MESSAGE("20 promised, 20 succeeded, ", in_hand.size(), " in hand and forwarded twice");

  // It takes part again.
  fleet.first.backend.answer_all();
  const std::string location = fleet.first.order();
  CHECK(fleet.ends(fleet.first, {location}) == all_succeeded(1));
}

// The control of the case above: the same, but for the lease.
TEST_CASE("a proxy that is stopped for less than its lease acknowledges what it has in hand") {
  Fleet fleet(0, std::chrono::minutes(10));
  fleet.order(10);
  REQUIRE(fleet.first.backend.comes_to_hold(kConcurrency));
  fleet.first.proxy.process().signal(SIGSTOP);
  fleet.second.backend.answer_all();
  REQUIRE(fleet.second.backend.comes_to_have_answered(20 - kConcurrency));
  fleet.first.backend.answer(kConcurrency);
  REQUIRE(fleet.first.backend.comes_to_have_answered(kConcurrency));
  fleet.first.proxy.process().signal(SIGCONT);

  CHECK(fleet.ends(fleet.second, fleet.promised) == all_succeeded(20));
  CHECK(fleet.first.metric("spillway_jobs_lease_lost_total") == 0);
  CHECK(fleet.first.metric("spillway_jobs_succeeded_total") == kConcurrency);
  CHECK(fleet.forwarded_twice().empty());
}

TEST_CASE("when PostgreSQL is away past the leases jobs in hand are ended, and begin anew") {
  Fleet fleet(0);
  fleet.order(5);
  REQUIRE(fleet.first.backend.comes_to_hold(kConcurrency));
  REQUIRE(fleet.second.backend.comes_to_hold(kConcurrency));
  fleet.postgres.stop();
  CHECK(fleet.first.backend.comes_to_be_given_up(kConcurrency));
  CHECK(fleet.second.backend.comes_to_be_given_up(kConcurrency));
  fleet.first.backend.answer_all();
  fleet.second.backend.answer_all();
  fleet.postgres.start();
  // Although they are POST, and nothing is known of what became of them.
  CHECK(fleet.ends(fleet.first, fleet.promised) == all_succeeded(10));
  CHECK(fleet.forwarded_twice().size() == 2 * kConcurrency);
}

namespace {

std::int64_t wall_ms() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

// When a proxy's lease ends by the clock of the database, which is this machine's.
std::int64_t lease_end(const Fleet& fleet, Member& member) {
  return std::stoll(Postgres::ask(fleet.url,
                                  "SELECT lease_end FROM spillway.proxy "
                                  "WHERE convert_from(name, 'UTF8') LIKE '%:" +
                                      std::to_string(member.proxy.process().pid()) + "'"));
}

// Both ends, at a time when neither lease is about to be renewed, which moves its end.
std::pair<std::int64_t, std::int64_t> lease_ends(Fleet& fleet, std::chrono::milliseconds lease) {
  const std::int64_t renewal = (lease - lease / 3).count();  // what is left of a lease then
  constexpr std::int64_t kRoom = 400;
  for (const Deadline deadline; !deadline.passed();) {
    const std::pair ends(lease_end(fleet, fleet.first), lease_end(fleet, fleet.second));
    if (std::min(ends.first, ends.second) - wall_ms() > renewal + kRoom) return ends;
  }
  return {};
}

}  // namespace

TEST_CASE("while PostgreSQL hangs a proxy ends what it has in hand before its lease is over") {
  constexpr std::chrono::milliseconds kFive{5000};
  Fleet fleet(0, kFive);
  fleet.order(5);
  REQUIRE(fleet.first.backend.comes_to_hold(kConcurrency));
  REQUIRE(fleet.second.backend.comes_to_hold(kConcurrency));
  const auto ends = lease_ends(fleet, kFive);
  REQUIRE(ends.first > 0);
  fleet.postgres.freeze();
  const auto left_of = [&](const Member& member, std::int64_t end) {
    CHECK(member.backend.comes_to_be_given_up(kConcurrency));
    return end - wall_ms();
  };
  auto second = std::async(std::launch::async, left_of, std::cref(fleet.second), ends.second);
  const std::int64_t left[] = {left_of(fleet.first, ends.first), second.get()};
  fleet.postgres.thaw();
  for (const std::int64_t its : left) {
    CHECK_MESSAGE(its > 0, "from then on another proxy may send them again");
    CHECK_MESSAGE(its < kFive.count() / 2, "control: they were not ended at once");
  }
  fleet.first.backend.answer_all();
  fleet.second.backend.answer_all();
  CHECK(fleet.ends(fleet.first, fleet.promised) == all_succeeded(10));
  CHECK(fleet.forwarded_twice().size() == 2 * kConcurrency);
  CHECK(Postgres::ask(fleet.url, "SELECT count(*) FROM spillway.ended WHERE recoveries > 0") ==
        "0");
  CHECK(Postgres::ask(fleet.url, "SELECT count(*) FROM spillway.ended WHERE attempts = 2") ==
        std::to_string(2 * kConcurrency));
  constexpr const char* kRecovered = "spillway_jobs_recovered_total";
  CHECK(fleet.first.metric(kRecovered) + fleet.second.metric(kRecovered) == 0);
  MESSAGE("given up ", left[0], " and ", left[1], " ms before leases of 5 s were over");
}

TEST_CASE("a proxy whose drain takes too long closes upstream requests before it gives jobs back") {
  Fleet fleet(0, std::chrono::minutes(10), {{"drain_timeout_ms", 300}},
              {{"retry_unanswered", true}});
  fleet.order(5);
  REQUIRE(fleet.first.backend.comes_to_hold(kConcurrency));
  REQUIRE(fleet.second.backend.comes_to_hold(kConcurrency));
  const std::set<std::string> in_hand = fleet.first.backend.held();
  // So that nothing can be given back meanwhile.
  fleet.postgres.freeze();
  const TimePoint began = Clock::now();
  fleet.first.proxy.process().signal(SIGTERM);
  CHECK(fleet.first.backend.comes_to_be_given_up(kConcurrency));
  const Duration took = Clock::now() - began;
  fleet.postgres.thaw();
  CHECK_MESSAGE(took < std::chrono::seconds(6), "the store is waited for for ten seconds");
  fleet.second.backend.answer_all();
  CHECK(fleet.ends(fleet.second, fleet.promised) == all_succeeded(10));
  CHECK(fleet.forwarded_twice() == in_hand);
  CHECK(fleet.first.proxy.process().wait(kLong) == 0);
  CHECK_MESSAGE(
      Postgres::ask(fleet.url, "SELECT count(*) FROM spillway.ended WHERE recoveries > 0") == "0",
      "no proxy has ended with a job in hand");
}

TEST_CASE("a job that the proxy which took it has no room for is done at once by an idle one") {
  constexpr std::size_t kJobs = 11;
  Fleet fleet(0);
  // The first one's hands are full, the second one's are empty.
  fleet.second.backend.answer_all();
  const auto taken = [&] {
    return fleet.first.backend.came().size() + fleet.second.backend.came().size();
  };
  const Deadline filling;
  for (std::size_t n = 1; fleet.first.backend.held().size() < kConcurrency; ++n) {
    REQUIRE(fleet.first.order() != "");
    while (taken() < n && !filling.passed()) std::this_thread::yield();
    REQUIRE_FALSE(filling.passed());
  }
  std::vector<double> took;
  const auto wait_for_the_next = [&] {
    // One announcement holds back the next one for so long.
    Event().wait(Milliseconds(proxy::JobNews::kEvery));
    const std::size_t before = fleet.second.backend.came().size();
    const TimePoint began = Clock::now();
    REQUIRE(fleet.first.order() != "");
    REQUIRE(fleet.second.backend.comes_to_have_answered(before + 1));
    took.push_back(to_seconds(Clock::now() - began) * 1000);
  };
  for (std::size_t n = 0; n < kJobs; ++n) wait_for_the_next();
  std::sort(took.begin(), took.end());
  MESSAGE("from the order at one proxy to its answer at the other: median ", took[kJobs / 2],
          " ms, at most ", took[kJobs - 1], " ms");
  CHECK_MESSAGE(took[kJobs / 2] < 250, "the store is looked through once a second");

  // Who does not hear of it finds it all the same.
  const std::size_t before = fleet.second.backend.came().size();
  Postgres::ask(fleet.url,
                "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity "
                "WHERE application_name = 'spillway'");
  const Deadline deadline;
  while (fleet.first.order().empty() && !deadline.passed()) {
  }
  CHECK(fleet.second.backend.comes_to_have_answered(before + 1));
}

namespace {

// Clients of both proxies that wait for the end of what they were promised before they ask for
// more.
class Load {
 public:
  explicit Load(const Fleet& fleet) {
    for (const Member* const member : {&fleet.first, &fleet.second})
      for (int n = 0; n < 3; ++n) clients_.emplace_back([this, member] { play(*member); });
  }
  ~Load() { end(); }
  Load(const Load&) = delete;
  Load& operator=(const Load&) = delete;

  std::vector<std::string> end() {
    is_over_ = true;
    for (std::thread& client : clients_)
      if (client.joinable()) client.join();
    return promised_;
  }
  // False: so many more were not promised, or refused.
  bool gets_more_promises(std::size_t more) {
    return grows([&] { return promised_.size(); }, more);
  }
  bool gets_more_refusals(std::size_t more) {
    return grows([&] { return refused_; }, more);
  }
  bool is_live() const { return is_live_; }

 private:
  void play(const Member& member) {
    while (!is_over_) {
      const std::string location = member.order();
      const bool is_answered = RawClient(member.proxy.port()).ask(get("/live")).status() == 200;
      if (!is_answered) is_live_ = false;
      {
        const std::lock_guard lock(mutex_);
        if (location.empty()) ++refused_;
        if (!location.empty()) promised_.push_back(location);
      }
      changed_.notify_all();
      if (location.empty()) continue;
      // Until the end, or until nothing can be told.
      for (std::string state = "queued"; !is_over_ && is_pending(state);)
        state = member.state_of(location);
    }
  }
  static bool is_pending(const std::string& state) {
    return state == "queued" || state == "leased" || state == "retrying";
  }
  bool grows(const std::function<std::size_t()>& number, std::size_t more) {
    std::unique_lock lock(mutex_);
    const std::size_t wanted = number() + more;
    return changed_.wait_for(lock, kLong, [&] { return number() >= wanted; });
  }

  std::atomic<bool> is_over_{false};
  std::atomic<bool> is_live_{true};
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::string> promised_;
  std::size_t refused_ = 0;
  std::vector<std::thread> clients_;
};

}  // namespace

TEST_CASE("PostgreSQL restarts and crashes under load, and no job is lost") {
  constexpr std::size_t kRestarts = 4;
  Fleet fleet(std::size_t{1} << 40);
  Load load(fleet);
  for (std::size_t n = 0; n < kRestarts; ++n) {
    REQUIRE(load.gets_more_promises(40));
    n % 2 == 0 ? fleet.postgres.stop() : fleet.postgres.crash();
    CHECK(load.gets_more_refusals(20));
    fleet.postgres.start();
  }
  REQUIRE(load.gets_more_promises(40));
  const std::vector<std::string> promised = load.end();

  CHECK(fleet.ends(fleet.second, promised) == all_succeeded(promised.size()));
  CHECK(std::set(promised.begin(), promised.end()).size() == promised.size());
  CHECK(fleet.count("leased") == "0");
  CHECK_MESSAGE(load.is_live(), "a request that is not deferred is answered all the same");
  auto times = fleet.times();
  times.erase("live");
  const auto twice = static_cast<std::size_t>(
      std::count_if(times.begin(), times.end(), [](const auto& job) { return job.second > 1; }));
  MESSAGE(promised.size(), " promised, all succeeded, ", times.size(), " jobs forwarded, ", twice,
          " of them more than once");
  CHECK(twice <= kRestarts * 2 * kConcurrency);
}
