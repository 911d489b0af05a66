// Jobs in hand when the proxy ends or is given another configuration.
#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "support/proxy_process.hpp"
#include "support/temporary_directory.hpp"
#include "system/integration/jobs_operator.hpp"
#include "system/integration/wire.hpp"

using namespace spillway;
using namespace spillway::support;
using nlohmann::json;

namespace {

// Keeps the targets it is asked for and answers when it may.
class HoldingBackend {
 public:
  std::string address() const { return peer_.address(); }
  void answer() { go_.set(); }
  std::size_t times(const std::string& target) const {
    const std::lock_guard lock(mutex_);
    return static_cast<std::size_t>(std::count(targets_.begin(), targets_.end(), target));
  }
  std::size_t requests() const { return peer_.seen().requests; }
  bool comes_to_have(std::size_t requests) const {
    return peer_.wait_until([&](const auto& seen) { return seen.requests == requests; });
  }

 private:
  Event go_;
  mutable std::mutex mutex_;
  std::vector<std::string> targets_;
  ScriptedPeer peer_{[this](PeerConnection& proxy) {
    while (const auto request = proxy.read_request()) {
      {
        const std::lock_guard lock(mutex_);
        targets_.push_back(request->target());
      }
      if (request->target() != "/mail/1" && !proxy.wait(go_)) return;
      if (!proxy.send(ok("done"))) return;
    }
  }};
};

// Of a proxy with one slot: the first job is at its upstream, the second is in hand and waits for
// the slot.
struct TwoInHand {
  TwoInHand() {
    first = defer(proxy.port(), "/export/1");
    REQUIRE(backend.comes_to_have(1));
    second = defer(proxy.port(), "/export/2");
    REQUIRE(desk.come_to(2, "state=leased"));
  }

  json settings(const std::string& server) const {
    return configuration(
        {server},
        deferring({{"store", {{"url", "sqlite:" + (directory.path() / "jobs.db").string()}}},
                   {"limits", {{"drain_timeout_ms", 60'000}}},
                   {"dispatch", {{"concurrency", 1}}},
                   {"log", {{"level", "error"}}}}));
  }
  // What the store has, told by a proxy that has no route for it.
  json in_store(const std::string& id) const {
    json settings = this->settings(backend.address());
    settings.erase("routes");
    ProxyUnderTest reader(settings);
    return Operator{reader.admin_port()}.get("/jobs/" + id);
  }

  const TemporaryDirectory directory;
  HoldingBackend backend;
  ProxyProcess proxy{settings(backend.address())};
  Operator desk{proxy.admin_port()};
  std::string first, second;
};

}  // namespace

TEST_CASE("a drain lets a job at its upstream finish and gives the others back at once") {
  TwoInHand jobs;
  jobs.proxy.process().signal(SIGTERM);
  CHECK(jobs.desk.come_to(1, "state=queued"));
  CHECK(jobs.desk.get("/jobs/" + jobs.second).at("state") == "queued");
  CHECK(jobs.desk.get("/jobs/" + jobs.first).at("state") == "leased");
  jobs.backend.answer();
  CHECK(jobs.proxy.process().wait() == 0);
  CHECK(jobs.in_store(jobs.first).at("state") == "succeeded");
  CHECK(jobs.in_store(jobs.second).at("state") == "queued");

  ProxyUnderTest next(jobs.settings(jobs.backend.address()));
  const Operator desk{next.admin_port()};
  CHECK(desk.come_to(2, "state=succeeded"));
  for (const std::string& id : {jobs.first, jobs.second}) {
    CHECK(desk.get("/jobs/" + id).at("recoveries") == 0);
    CHECK(desk.get("/jobs/" + id).at("attempts") == 1);
    const Message answer = RawClient(next.port()).ask(get("/_spillway/jobs/" + id + "/response"));
    CHECK(answer.body == "done");
  }
  CHECK(jobs.backend.times("/export/1") == 1);
  CHECK(jobs.backend.times("/export/2") == 1);
}

TEST_CASE("control: a proxy that is killed gives nothing back, and both jobs are recovered") {
  TwoInHand jobs;
  jobs.proxy.process().signal(SIGKILL);
  REQUIRE(jobs.proxy.process().wait());
  jobs.backend.answer();
  ProxyUnderTest next(jobs.settings(jobs.backend.address()));
  const Operator desk{next.admin_port()};
  CHECK(desk.come_to(2, "state=succeeded"));
  for (const std::string& id : {jobs.first, jobs.second})
    CHECK(desk.get("/jobs/" + id).at("recoveries") == 1);
  CHECK(jobs.backend.times("/export/1") == 2);
  CHECK(jobs.backend.times("/export/2") == 1);
}

TEST_CASE("what a drain closes at its upstream is sent again only if that is safe or configured") {
  struct Case {
    const char* method;
    bool retry_unanswered;
    bool is_sent_again;
  };
  for (const Case& one :
       {Case{"POST", false, false}, Case{"POST", true, true}, Case{"PUT", false, true}}) {
    CAPTURE(one.method);
    CAPTURE(one.retry_unanswered);
    const TemporaryDirectory directory;
    HoldingBackend backend;
    json settings =
        deferring({{"store", {{"url", "sqlite:" + (directory.path() / "jobs.db").string()}}},
                   {"limits", {{"drain_timeout_ms", 100}}},
                   {"log", {{"level", "error"}}}});
    settings["routes"][0]["defer"]["retry_unanswered"] = one.retry_unanswered;
    settings = configuration({backend.address()}, settings);
    std::string id;
    {
      ProxyProcess proxy(settings);
      std::string request = post("/export/1", "x");
      request.replace(0, 4, one.method);
      id = json::parse(RawClient(proxy.port()).ask(request).body).at("id");
      REQUIRE(backend.comes_to_have(1));
      proxy.process().signal(SIGTERM);
      REQUIRE(proxy.process().wait() == 0);
    }
    backend.answer();
    ProxyUnderTest next(settings);
    const Operator desk{next.admin_port()};
    CHECK(
        desk.come_to(1, one.is_sent_again ? "state=succeeded" : "state=dead&cause=not_idempotent"));
    const json job = desk.get("/jobs/" + id);
    const int attempts = one.is_sent_again ? 2 : 1;
    CHECK(job.at("attempts") == attempts);
    CHECK(job.at("recoveries") == 0);
    CHECK(job.at("history").size() == attempts);
    CHECK(job.at("history")[0].at("number") == 1);
    CHECK(job.at("history")[0].at("cause") == (one.is_sent_again ? "proxy_ended" : "unanswered"));
    CHECK(backend.times("/export/1") == attempts);
  }
}

TEST_CASE("a drain gives jobs back before its end, and leaves live requests all of its time") {
  const TemporaryDirectory directory;
  Event is_closed;
  ScriptedPeer backend([&](PeerConnection& proxy) {
    while (const auto request = proxy.read_request()) {
      if (request->target() == "/export/1") {
        if (proxy.wait_closed(4 * kPatience)) is_closed.set();
        return;
      }
      if (!proxy.wait(is_closed) || !proxy.send(ok("done"))) return;
    }
  });
  json settings =
      deferring({{"store", {{"url", "sqlite:" + (directory.path() / "jobs.db").string()}}},
                 {"limits", {{"drain_timeout_ms", 4000}}},
                 {"log", {{"level", "warn"}}}});
  settings["routes"][0]["defer"]["retry_unanswered"] = true;
  settings = configuration({backend.address()}, settings);
  ProxyProcess proxy(settings);
  const std::string id = defer(proxy.port(), "/export/1");
  REQUIRE(backend.wait_until([](const auto& seen) { return seen.requests == 1; }));
  RawClient live(proxy.port());
  live.send(get("/live"));
  REQUIRE(backend.wait_until([](const auto& seen) { return seen.requests == 2; }));
  proxy.process().signal(SIGTERM);
  CHECK(live.read_response().status() == 200);
  CHECK(proxy.process().wait() == 0);
  CHECK(proxy.process().err().find("drain timeout") == std::string::npos);

  settings.erase("routes");
  ProxyUnderTest reader(settings);
  const json job = Operator{reader.admin_port()}.get("/jobs/" + id);
  CHECK(job.at("state") == "retrying");
  CHECK(job.at("attempts") == 1);
  CHECK(job.at("recoveries") == 0);
}

namespace {

json capped(const std::string& server, int concurrency) {
  json changes = deferring();
  changes["routes"][0]["defer"]["concurrency"] = concurrency;
  return configuration({server}, changes);
}

}  // namespace

TEST_CASE("a reload keeps jobs in hand and those that wait, and its caps hold for both together") {
  for (const int cap : {1, 2, 3}) {
    CAPTURE(cap);
    HoldingBackend former, next;
    ProxyUnderTest proxy(capped(former.address(), 1));
    const Operator desk{proxy.admin_port()};
    for (const char* const target : {"/export/1", "/export/2", "/export/3"})
      defer(proxy.port(), target);
    REQUIRE(former.comes_to_have(1));
    REQUIRE(proxy.reload(capped(next.address(), cap)).status() == 200);
    const auto more = static_cast<std::size_t>(cap - 1);
    REQUIRE(next.comes_to_have(more));
    // Another job is pulled afterwards, and yet no more of these.
    defer(proxy.port(), "/mail/1");
    REQUIRE(desk.come_to(1, "state=succeeded&route=mail"));
    CHECK(next.requests() == more + 1);
    CHECK(former.requests() == 1);
    // The one that was in hand keeps to the configuration it began with.
    former.answer();
    next.answer();
    CHECK(desk.come_to(3, "state=succeeded&route=export"));
    CHECK(former.requests() == 1);
    CHECK(former.times("/export/1") == 1);
    for (const char* const target : {"/export/2", "/export/3"}) CHECK(next.times(target) == 1);
    for (const json& job : desk.get("/jobs").at("jobs")) {
      CHECK(job.at("attempts") == 1);
      CHECK(job.at("recoveries") == 0);
    }
  }
}
