// kill -9 at random moments: each 202 that a client saw ends in exactly one final state, and that
// is the one its order calls for.
#include <doctest/doctest.h>

#include <csignal>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "support/postgres.hpp"
#include "support/rounds.hpp"
#include "support/temporary_directory.hpp"
#include "system/kill/orders.hpp"

using namespace spillway;
using namespace spillway::support;
using nlohmann::json;

namespace {

const int kRounds = rounds_of(200);
constexpr int kClients = 3;
constexpr int kHoldsEvery = 4;  // rounds; in these a job is surely at its upstream at the kill
constexpr std::size_t kLooks = 10;

struct Found {
  std::vector<Promise> promised;
  std::map<std::string, std::string> ends;  // by location; "status 404": it is lost
  int lost_on_the_way = 0;                  // what a later process did not know
  int changed = 0;                          // after an end another state was told
  std::map<std::string, json> jobs;         // as the operator sees them, by id
  std::map<std::string, int> times;         // forwarded, by id
  std::set<std::string> held;               // at their upstream at a kill, by id

  int with_end(const std::string& end) const {
    int count = 0;
    for (const auto& [location, state] : ends) count += state == end ? 1 : 0;
    return count;
  }
};

// Looks at what was promised, and remembers the ends that it was told.
class Witness {
 public:
  explicit Witness(Found& found) : found_(found) {}

  std::string look(RawClient& client, const Promise& promise) {
    std::string state = state_of(client, promise);
    if (state == "status 404") ++found_.lost_on_the_way;
    const auto known = found_.ends.find(promise.location);
    if (known != found_.ends.end() && known->second != state) ++found_.changed;
    if (is_end(state)) found_.ends[promise.location] = state;
    return state;
  }
  // Until each has its end.
  void look_at_all(RawClient& client) {
    const Deadline deadline(Milliseconds(60'000));
    for (const Promise& promise : found_.promised) {
      std::string state = look(client, promise);
      while (!is_end(state) && state != "status 404" && !deadline.passed())
        state = look(client, promise);
      found_.ends[promise.location] = state;
    }
  }

 private:
  Found& found_;
};

// `store`: as in the configuration.
Found kill_again_and_again(const json& store, int rounds = kRounds, bool rejects = true) {
  OrderBackend backend(rejects);
  Promises promises;
  Found found;
  Witness witness(found);
  std::mt19937 random(20261123);
  for (int round = 0; round < rounds; ++round) {
    ProxyProcess proxy(order_settings(backend, store));
    const std::vector<Promise> before = promises.all();
    {
      RawClient client(proxy.port());
      for (std::size_t n = 0; n < kLooks && !before.empty(); ++n)
        witness.look(client, before[random() % before.size()]);
    }
    const bool holds = round % kHoldsEvery == 0;
    if (holds) backend.hold_one();
    std::vector<std::thread> clients;
    for (int i = 0; i < kClients; ++i) clients.emplace_back([&] { promises.order(proxy.port()); });
    promises.await(random() % 40);
    const bool is_held = !holds || backend.comes_to_hold_it();
    proxy.process().signal(SIGKILL);
    for (std::thread& client : clients) client.join();
    CHECK(is_held);
  }
  found.promised = promises.all();
  ProxyProcess proxy(order_settings(backend, store));
  RawClient client(proxy.port());
  witness.look_at_all(client);
  found.jobs = all_jobs(proxy);
  found.times = backend.times();
  found.held = backend.held();
  return found;
}

// Those that are not what their orders call for.
int wrong_ends(const Found& found) {
  int wrong = 0;
  for (const Promise& promise : found.promised) {
    const std::string& end = found.ends.at(promise.location);
    const bool is_right = end == (is_rejected(promise.number) ? "dead rejected" : "succeeded");
    wrong += is_right || end == "dead poison" ? 0 : 1;
  }
  return wrong;
}

void check_ends(const Found& found) {
  std::set<std::string> different;
  for (const Promise& promise : found.promised) different.insert(promise.location);
  CHECK(found.promised.size() > 2.5 * kRounds);
  CHECK(different.size() == found.promised.size());
  CHECK(wrong_ends(found) == 0);
  CHECK(found.lost_on_the_way == 0);
  CHECK(found.changed == 0);
  CHECK(found.with_end("succeeded") > kRounds / 2);
  CHECK(found.with_end("dead rejected") > kRounds / 2);
  // Only one that was in hand at four kills is given up.
  CHECK(found.with_end("dead poison") < static_cast<int>(found.promised.size()) / 100);
}

// A job is forwarded once for each attempt that was acknowledged and each process that ended with
// it.
void check_duplicates(const Found& found) {
  int more_than_once = 0, recoveries = 0, unexplained = 0;
  for (const auto& [id, times] : found.times) {
    const json& job = found.jobs.at(id);
    const int its = job.at("recoveries");
    const bool is_poison = job.value("cause", "") == "poison";
    if (times > job.at("attempts").get<int>() + its + (is_poison ? 1 : 0)) ++unexplained;
    if (times > 1) ++more_than_once;
    recoveries += its;
  }
  MESSAGE(found.promised.size(), " promised, ", found.with_end("succeeded"), " succeeded, ",
          found.with_end("dead rejected"), " rejected, ", found.with_end("dead poison"),
          " poison, ", recoveries, " recoveries, ", more_than_once, " forwarded more than once");
  CHECK(unexplained == 0);
  CHECK(more_than_once > 0);
  CHECK(more_than_once <= recoveries);
  CHECK(static_cast<int>(found.held.size()) == (kRounds + kHoldsEvery - 1) / kHoldsEvery);
  for (const std::string& id : found.held) CHECK(found.jobs.at(id).at("recoveries") > 0);
}

}  // namespace

TEST_CASE("every job that was promised by a proxy that is killed at any moment is done") {
  const TemporaryDirectory directory;
  const Found found =
      kill_again_and_again({{"url", "sqlite:" + (directory.path() / "jobs.db").string()}});
  check_ends(found);
  check_duplicates(found);
}

TEST_CASE("the same with PostgreSQL, where the next proxy has to wait for the end of a lease") {
  Postgres server;
  const Found found = kill_again_and_again({{"url", server.create_database()}, {"lease_ms", 1000}});
  check_ends(found);
  check_duplicates(found);
}

TEST_CASE("control: with jobs in memory every promise is lost, and is seen to be") {
  const Found found = kill_again_and_again({{"url", "memory:"}}, 10);
  CHECK(found.promised.size() > 0);
  CHECK(found.with_end("status 404") == static_cast<int>(found.promised.size()));
  CHECK(found.lost_on_the_way > static_cast<int>(found.promised.size()));
}

TEST_CASE("control: what ends otherwise than its order calls for is seen") {
  const TemporaryDirectory directory;
  const json store{{"url", "sqlite:" + (directory.path() / "jobs.db").string()}};
  const Found found = kill_again_and_again(store, 10, false);
  CHECK(found.with_end("succeeded") == static_cast<int>(found.promised.size()));
  CHECK(wrong_ends(found) > 0);
}
