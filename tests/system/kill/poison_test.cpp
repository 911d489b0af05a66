// A job that is at its upstream whenever the proxy ends: it may be what ends proxies.
#include <doctest/doctest.h>

#include <condition_variable>
#include <csignal>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "support/proxy_process.hpp"
#include "support/proxy_under_test.hpp"
#include "support/temporary_directory.hpp"
#include "system/integration/jobs_operator.hpp"

using namespace spillway;
using namespace spillway::support;
using nlohmann::json;

namespace {

constexpr const char* kOk = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";

// Holds /export/poison until its proxy ends, for as long as it does so; answers everything else.
class Backend {
 public:
  explicit Backend(std::size_t holds)
      : peer_([this, holds](PeerConnection& proxy) {
          while (const auto request = proxy.read_request()) {
            if (request->target() == "/export/poison" && note(*request) <= holds) {
              proxy.wait_closed();
              return;
            }
            if (!proxy.send(kOk)) return;
          }
        }) {}

  std::string address() const { return peer_.address(); }
  // Of each time that the poison came, what number of an attempt it said.
  std::vector<std::string> attempts() const {
    const std::lock_guard lock(mutex_);
    return attempts_;
  }
  bool comes_to_have(std::size_t times) const {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, kPatience, [&] { return attempts_.size() >= times; });
  }

 private:
  std::size_t note(const Message& request) {
    const std::lock_guard lock(mutex_);
    attempts_.push_back(request.field("Spillway-Attempt").value_or("none"));
    changed_.notify_all();
    return attempts_.size();
  }

  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  std::vector<std::string> attempts_;
  ScriptedPeer peer_;
};

struct Victims {
  explicit Victims(std::size_t holds) : backend(holds) {}

  json settings() const {
    return configuration(
        {backend.address()},
        deferring({{"store", {{"url", "sqlite:" + (directory.path() / "jobs.db").string()}}},
                   {"log", {{"level", "error"}}}}));
  }
  // So many proxies end with the poison at their upstream. Each has done another job beside it.
  void kill(std::size_t proxies) {
    for (std::size_t n = 1; n <= proxies; ++n) {
      CAPTURE(n);
      ProxyProcess proxy(settings());
      if (n == 1) poison = defer(proxy.port(), "/export/poison");
      REQUIRE(backend.comes_to_have(n));
      defer(proxy.port(), "/export/other");
      CHECK(Operator{proxy.admin_port()}.come_to(n, "state=succeeded"));
      proxy.process().signal(SIGKILL);
      REQUIRE(proxy.process().wait());
    }
  }

  // Its recoveries and its attempts.
  std::pair<int, int> counts_of_poison(const Operator& desk) const {
    const json job = desk.get("/jobs/" + poison);
    return {job.at("recoveries"), job.at("attempts")};
  }

  const TemporaryDirectory directory;
  Backend backend;
  std::string poison;
};

}  // namespace

TEST_CASE(
    "a job that is at its upstream in four kills is dead as poison, and the others are done") {
  Victims victims(4);
  victims.kill(4);
  ProxyProcess proxy(victims.settings());
  const Operator desk{proxy.admin_port()};
  REQUIRE(desk.come_to(1, "state=dead&cause=poison"));
  CHECK(victims.counts_of_poison(desk) == std::pair(3, 0));
  defer(proxy.port(), "/export/other");
  CHECK(desk.come_to(5, "state=succeeded"));
  CHECK(victims.backend.attempts() == std::vector<std::string>{"1", "2", "3", "4"});
}

TEST_CASE("control: in three kills it is not, and how proxies ended is not counted as attempts") {
  Victims victims(3);
  victims.kill(3);
  ProxyProcess proxy(victims.settings());
  const Operator desk{proxy.admin_port()};
  REQUIRE(desk.come_to(4, "state=succeeded"));
  CHECK(victims.counts_of_poison(desk) == std::pair(3, 1));
  CHECK(victims.backend.attempts() == std::vector<std::string>{"1", "2", "3", "4"});
}
