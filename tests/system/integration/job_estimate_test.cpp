// What clients are told about when a job will have ended: its position over the rate at which jobs
// end.
#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <string>

#include "base/time_text.hpp"
#include "system/integration/jobs_operator.hpp"
#include "system/integration/wire.hpp"

using namespace spillway;
using namespace spillway::support;
using nlohmann::json;

namespace {

constexpr double kRate = 20;
constexpr int kJobs = 300;
constexpr int kUnknown = 5000;  // ms, before any job has ended

json at_a_rate(double rate) {
  json changes = deferring();
  changes["routes"][0]["defer"]["rate"] = rate;
  return changes;
}

struct Told {
  double position = 0;
  double retry_after_ms = 0;
  std::string field;
};

Told told_of(const ProxyUnderTest& proxy, const std::string& id) {
  const Message answer = RawClient(proxy.port()).ask(get("/_spillway/jobs/" + id));
  const json job = json::parse(answer.body);
  return {job.value("position", 0.0), job.value("retry_after_ms", 0.0),
          answer.field("Retry-After").value_or("")};
}

// A long queue before a quick backend; the last of it.
std::string fill(const ProxyUnderTest& proxy) {
  std::string last;
  for (int n = 0; n < kJobs; ++n) last = defer(proxy.port(), "/export/1");
  return last;
}

}  // namespace

TEST_CASE("Retry-After is a job's position over the rate at which jobs have ended") {
  const ScriptedPeer peer(ok("done"));
  ProxyUnderTest proxy(peer.address(), at_a_rate(kRate));
  const std::string last = fill(proxy);
  // Three seconds' worth, so that the rate is known.
  const Deadline deadline;
  while (proxy.metric("spillway_jobs_succeeded_total") < 3 * kRate && !deadline.passed()) {
  }
  const Told told = told_of(proxy, last);
  CAPTURE(told.position);
  CAPTURE(told.retry_after_ms);
  CHECK(told.position > kJobs / 2);
  CHECK(told.retry_after_ms > 1000 * told.position / kRate / 1.5);
  CHECK(told.retry_after_ms < 1000 * told.position / kRate * 1.5 + 1000);
  CHECK(told.field == std::to_string(static_cast<int>(told.retry_after_ms) / 1000));
  // Of a new one, which is behind all.
  const Message accepted = RawClient(proxy.port()).ask(post("/export/1", "x"));
  const double of_new = json::parse(accepted.body).at("retry_after_ms");
  CHECK(of_new > told.retry_after_ms / 1.5);
}

TEST_CASE("where tenants take turns a job is told of the jobs of all that go before it") {
  constexpr int kTenants = 30;
  const ScriptedPeer peer(ok("done"));
  json settings = at_a_rate(kRate);
  settings["trusted_peers"] = {"127.0.0.0/8"};
  settings["trusted_headers"] = {{"tenant", "X-Tenant"}};
  ProxyUnderTest proxy(peer.address(), settings);
  std::string last;
  for (int n = 0; n < kJobs; ++n)
    last = defer(proxy.port(), "/export/1", "x",
                 "X-Tenant: t" + std::to_string(n % kTenants) + "\r\n");
  const Deadline deadline;
  while (proxy.metric("spillway_jobs_succeeded_total") < 3 * kRate && !deadline.passed()) {
  }
  const Told told = told_of(proxy, last);
  CAPTURE(told.position);
  CAPTURE(told.retry_after_ms);
  REQUIRE(told.position > 0);
  CHECK_MESSAGE(told.position <= kJobs / kTenants, "the control: it is told by tenant");
  const double left = kJobs - proxy.metric("spillway_jobs_succeeded_total");
  CHECK(told.retry_after_ms > 1000 * left / kRate / 2);
  CHECK(told.retry_after_ms < 1000 * left / kRate * 1.5 + 1000);
}

TEST_CASE("a client is told to come back no earlier than the next attempt") {
  const ScriptedPeer peer("HTTP/1.1 500 Broken\r\nContent-Length: 0\r\n\r\n");
  json settings = at_a_rate(kRate);
  settings["jobs"]["backoff"] = {{"base_ms", 3'000'000}, {"max_ms", 3'000'000}};
  ProxyUnderTest proxy(peer.address(), settings);
  const Operator desk{proxy.admin_port()};
  for (int n = 0; n < 3; ++n) {
    const std::string id = defer(proxy.port(), "/export/1");
    REQUIRE(desk.come_to(n + 1, "state=retrying"));
    const json job = json::parse(RawClient(proxy.port()).ask(get("/_spillway/jobs/" + id)).body);
    const auto due = parse_time(job.at("next_attempt_at").get<std::string>());
    REQUIRE(due);
    const auto until = *due - std::chrono::system_clock::now();
    const double least = std::chrono::duration<double, std::milli>(until).count();
    CHECK(job.at("retry_after_ms") >= least);
    CHECK(job.at("retry_after_ms") <= std::max(least, 1.0 * kUnknown) + 2000);
  }
}

TEST_CASE("control: before any job has ended nothing is known of their rate") {
  const RefusingPort refusing;
  ProxyUnderTest proxy(refusing.address(), deferring());
  const std::string last = fill(proxy);
  const Told told = told_of(proxy, last);
  CHECK(told.position > kJobs / 2);
  CHECK(told.retry_after_ms == kUnknown);
}
