// kill -9 at random moments: each 202 that a client saw ends in exactly one final state.
#include <doctest/doctest.h>

#include <algorithm>
#include <condition_variable>
#include <csignal>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "support/postgres.hpp"
#include "support/proxy_process.hpp"
#include "support/proxy_under_test.hpp"
#include "support/raw_client.hpp"
#include "support/scripted_peer.hpp"
#include "support/temporary_directory.hpp"

using namespace spillway;
using namespace spillway::support;
using nlohmann::json;

namespace {

constexpr int kRounds = 200;
constexpr int kClients = 3;

// Counts how often each job came.
class Backend {
 public:
  Backend()
      : peer_([this](PeerConnection& proxy) {
          while (const auto request = proxy.read_request()) {
            {
              const std::lock_guard lock(mutex_);
              ++times_[request->field("Idempotency-Key").value_or("none")];
            }
            if (!proxy.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")) return;
          }
        }) {}

  std::string address() const { return peer_.address(); }
  std::map<std::string, int> times() const {
    const std::lock_guard lock(mutex_);
    return times_;
  }

 private:
  mutable std::mutex mutex_;
  std::map<std::string, int> times_;
  ScriptedPeer peer_;
};

json settings(const Backend& backend, json store) {
  store["lookups_per_second"] = 1e6;
  return configuration(
      {backend.address()},
      {{"store", std::move(store)},
       {"app", {{"ejection", {{"consecutive_failures", 0}}}}},
       {"log", {{"level", "error"}}},
       {"routes",
        {{{"name", "order"}, {"match", {{"path", "/order"}}}, {"defer", {{"when", "always"}}}}}}});
}

// The locations of what was promised.
class Promises {
 public:
  void add(std::string location) {
    {
      const std::lock_guard lock(mutex_);
      all_.push_back(std::move(location));
    }
    changed_.notify_all();
  }
  // Returns once there are so many more; or after a while, as a proxy may take its time.
  void await(std::size_t more) {
    std::unique_lock lock(mutex_);
    const std::size_t wanted = all_.size() + more;
    changed_.wait_for(lock, std::chrono::seconds(2), [&] { return all_.size() >= wanted; });
  }
  std::vector<std::string> all() const {
    const std::lock_guard lock(mutex_);
    return all_;
  }

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::string> all_;
};

// Asks until the proxy is gone.
void order(std::uint16_t port, Promises& promises) {
  try {
    RawClient client(port);
    for (;;) {
      const Message answer =
          client.ask("POST /order HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nbody");
      if (answer.status() != 202) return;
      promises.add(answer.field("Location").value_or("none"));
    }
  } catch (const std::exception&) {  // killed
  }
}

std::string state_of(RawClient& client, const std::string& location) {
  const Message answer = client.ask("GET " + location + " HTTP/1.1\r\nHost: a\r\n\r\n");
  if (answer.status() != 200) return "status " + std::to_string(answer.status());
  return json::parse(answer.body).value("state", "");
}

bool is_final(const std::string& state) { return state == "succeeded" || state == "dead"; }

struct Found {
  std::vector<std::string> promised;
  std::map<std::string, int> states;  // in the end; "status 404": it is lost
  long more_than_once = 0;            // forwarded

  int promises() const { return static_cast<int>(promised.size()); }
};

// What has become of each promise after a last start.
std::map<std::string, int> states_of(const json& settings,
                                     const std::vector<std::string>& promised) {
  ProxyProcess proxy(settings);
  RawClient client(proxy.port());
  std::map<std::string, int> states;
  const TimePoint until = Clock::now() + std::chrono::seconds(60);
  for (const std::string& location : promised) {
    std::string state = state_of(client, location);
    while (!is_final(state) && state != "status 404" && Clock::now() < until)
      state = state_of(client, location);
    ++states[state];
  }
  return states;
}

// `store`: as in the configuration.
Found kill_again_and_again(const json& store, int rounds = kRounds) {
  const Backend backend;
  Promises promises;
  std::mt19937 random(20261123);
  for (int round = 0; round < rounds; ++round) {
    ProxyProcess proxy(settings(backend, store));
    std::vector<std::thread> clients;
    for (int i = 0; i < kClients; ++i) clients.emplace_back([&] { order(proxy.port(), promises); });
    promises.await(random() % 40);
    proxy.process().signal(SIGKILL);
    for (std::thread& client : clients) client.join();
  }
  Found found{promises.all(), states_of(settings(backend, store), promises.all())};
  const auto times = backend.times();
  found.more_than_once =
      std::count_if(times.begin(), times.end(), [](const auto& one) { return one.second > 1; });
  MESSAGE(found.promises(), " promised, ", found.states["succeeded"], " succeeded, ",
          found.states["dead"], " dead, ", found.more_than_once, " forwarded more than once");
  return found;
}

void check_nothing_is_lost(Found found) {
  const std::set<std::string> different(found.promised.begin(), found.promised.end());
  CHECK(found.promises() > 500);
  CHECK(different.size() == found.promised.size());
  CHECK(found.states["succeeded"] + found.states["dead"] == found.promises());
  // Only one that was in hand at four kills is given up (poison).
  CHECK(found.states["dead"] < found.promises() / 100);
}

}  // namespace

TEST_CASE("every job that was promised by a proxy that is killed at any moment is done") {
  const TemporaryDirectory directory;
  check_nothing_is_lost(
      kill_again_and_again({{"url", "sqlite:" + (directory.path() / "jobs.db").string()}}));
}

TEST_CASE("the same with PostgreSQL, where the next proxy has to wait for the end of a lease") {
  Postgres server;
  check_nothing_is_lost(
      kill_again_and_again({{"url", server.create_database()}, {"lease_ms", 1000}}));
}

TEST_CASE("control: with jobs in memory every promise is lost, and is seen to be") {
  Found found = kill_again_and_again({{"url", "memory:"}}, 10);
  CHECK(found.promises() > 0);
  CHECK(found.states["status 404"] == found.promises());
}
