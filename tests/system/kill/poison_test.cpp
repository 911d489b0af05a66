// Jobs that are at their upstream whenever the proxy ends: they may be what ends proxies.
#include <doctest/doctest.h>

#include <condition_variable>
#include <csignal>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "jobs/life.hpp"
#include "support/proxy_process.hpp"
#include "support/proxy_under_test.hpp"
#include "support/temporary_directory.hpp"
#include "system/integration/jobs_operator.hpp"

using namespace spillway;
using namespace spillway::support;
using nlohmann::json;

namespace {

constexpr const char* kOk = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";

// Holds each request for a poison until its proxy ends, so many times; answers everything else.
class Backend {
 public:
  explicit Backend(std::size_t holds)
      : peer_([this, holds](PeerConnection& proxy) {
          while (const auto request = proxy.read_request()) {
            const bool is_poison = request->target().find("/poison") != std::string::npos;
            if (is_poison && note(*request) <= holds) {
              proxy.wait_closed();
              return;
            }
            if (!proxy.send(kOk)) return;
          }
        }) {}

  std::string address() const { return peer_.address(); }
  // Of each time that this poison came, what number of an attempt it said.
  std::vector<std::string> attempts(const std::string& poison) const {
    const std::lock_guard lock(mutex_);
    return attempts_.at(poison);
  }
  // Of all poisons together.
  std::size_t came() const {
    const std::lock_guard lock(mutex_);
    return came_;
  }
  bool comes_to_have(std::size_t times) const {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, kPatience, [&] { return came_ >= times; });
  }

 private:
  std::size_t note(const Message& request) {
    const std::lock_guard lock(mutex_);
    std::vector<std::string>& its = attempts_[request.target()];
    its.push_back(request.field("Spillway-Attempt").value_or("none"));
    ++came_;
    changed_.notify_all();
    return its.size();
  }

  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  std::map<std::string, std::vector<std::string>> attempts_;
  std::size_t came_ = 0;
  ScriptedPeer peer_;
};

struct Victims {
  explicit Victims(std::size_t holds, std::vector<std::string> which = {"/export/poison"})
      : poisons(std::move(which)), backend(holds) {}

  json settings() const {
    return configuration(
        {backend.address()},
        deferring({{"store", {{"url", "sqlite:" + (directory.path() / "jobs.db").string()}}},
                   {"log", {{"level", "error"}}}}));
  }
  // So many proxies end with poison at their upstream: with all of it until each has been
  // recovered three times, and then with one after another. Each proxy has done another job of each
  // route beside it.
  void kill(std::size_t proxies) {
    for (std::size_t n = 1; n <= proxies; ++n) {
      CAPTURE(n);
      ProxyProcess proxy(settings());
      if (n == 1)
        for (const std::string& poison : poisons) ids.push_back(defer(proxy.port(), poison));
      const std::size_t together = std::min<std::size_t>(n, jobs::kMostRecoveries);
      const std::size_t times = together * poisons.size() + n - together;
      REQUIRE(backend.comes_to_have(times));
      do_others(proxy);
      CHECK(backend.came() == times);
      proxy.process().signal(SIGKILL);
      REQUIRE(proxy.process().wait());
    }
  }
  void do_others(const ProxyProcess& proxy) {
    for (const char* const other : {"/export/other", "/mail/other"}) defer(proxy.port(), other);
    others += 2;
    CHECK(Operator{proxy.admin_port()}.come_to(others, "state=succeeded"));
  }
  // Of each poison its recoveries and its attempts.
  void check_counts(const Operator& desk, std::pair<int, int> wanted) const {
    for (const std::string& id : ids) {
      const json job = desk.get("/jobs/" + id);
      CHECK(std::pair<int, int>(job.at("recoveries"), job.at("attempts")) == wanted);
    }
  }
  void check_came_four_times() const {
    CHECK(backend.came() == 4 * poisons.size());
    for (const std::string& poison : poisons)
      CHECK(backend.attempts(poison) == std::vector<std::string>{"1", "2", "3", "4"});
  }

  const std::vector<std::string> poisons;
  const TemporaryDirectory directory;
  Backend backend;
  std::vector<std::string> ids;
  std::size_t others = 0;  // that were done
};

// All of it is dead once each has ended a proxy alone, and nothing else has paid for it.
void check_several(std::vector<std::string> poisons) {
  Victims victims(4, std::move(poisons));
  const std::size_t count = victims.poisons.size();
  victims.kill(jobs::kMostRecoveries + count);
  ProxyProcess proxy(victims.settings());
  const Operator desk{proxy.admin_port()};
  REQUIRE(desk.come_to(count, "state=dead&cause=poison"));
  CHECK(desk.get("/jobs?state=dead").at("jobs").size() == count);
  victims.check_counts(desk, {3, 0});
  victims.do_others(proxy);
  for (const json& other : desk.get("/jobs?state=succeeded").at("jobs")) {
    CHECK(other.at("recoveries") == 0);
    CHECK(other.at("attempts") == 1);
  }
  victims.check_came_four_times();
}

}  // namespace

TEST_CASE(
    "a job that is at its upstream in four kills is dead as poison, and the others are done") {
  Victims victims(4);
  victims.kill(4);
  ProxyProcess proxy(victims.settings());
  const Operator desk{proxy.admin_port()};
  REQUIRE(desk.come_to(1, "state=dead&cause=poison"));
  victims.check_counts(desk, {3, 0});
  victims.do_others(proxy);
  victims.check_came_four_times();
}

TEST_CASE("control: in three kills it is not, and how proxies ended is not counted as attempts") {
  Victims victims(3);
  victims.kill(3);
  ProxyProcess proxy(victims.settings());
  const Operator desk{proxy.admin_port()};
  REQUIRE(desk.come_to(victims.others + 1, "state=succeeded"));
  victims.check_counts(desk, {3, 1});
  victims.check_came_four_times();
}

TEST_CASE("several poison jobs of one lane are dead one after another, and no other job is") {
  check_several({"/export/poison-1", "/export/poison-2", "/export/poison-3"});
}

TEST_CASE("several poison jobs of several lanes are, too") {
  check_several({"/export/poison-1", "/mail/poison-1", "/export/poison-2", "/mail/poison-2"});
}
