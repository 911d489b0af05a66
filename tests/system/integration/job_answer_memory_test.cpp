// The memory of stored answers that clients take slowly: half as much as limits.buffer_bytes,
// whatever the number of connections that ask for one, and whatever bodies take.
#include <doctest/doctest.h>

#include <deque>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "support/proxy_under_test.hpp"
#include "support/raw_client.hpp"
#include "support/scripted_peer.hpp"
#include "system/integration/jobs_operator.hpp"
#include "system/integration/wire.hpp"

using namespace spillway;
using namespace spillway::support;
using nlohmann::json;

namespace {

constexpr std::size_t kAnswer = 4'000'000;
// Of so many buffer_bytes the answers' part holds three answers, and one client's part holds one.
constexpr std::size_t kThreeAnswers = 6 * kAnswer;
constexpr const char* kBuffered = "spillway_body_buffer_bytes";

json answering(std::size_t buffer_bytes) {
  json settings = deferring({{"jobs", {{"max_result_bytes", kAnswer}}},
                             {"limits", {{"buffer_bytes", buffer_bytes}, {"min_rate_bytes", 0}}}});
  settings["routes"][0]["defer"]["when"] = "prefer";
  return settings;
}

// Where the answer of a job is that has ended.
std::string answered(const ProxyUnderTest& proxy) {
  const std::string at = "/_spillway/jobs/" +
                         defer(proxy.port(), "/export/1", "x", "Prefer: respond-async\r\n") +
                         "/response";
  const Deadline deadline;
  while (RawClient(proxy.port()).ask(get(at)).status() == 409) REQUIRE_FALSE(deadline.passed());
  return at;
}

// Takes none of it.
RawClient& ask_slowly(std::deque<RawClient>& clients, const ProxyUnderTest& proxy,
                      const std::string& at, const char* from) {
  return clients.emplace_back(proxy.port(), 4096, from).send(get(at));
}

}  // namespace

TEST_CASE("slow clients of stored answers take half as much memory as there is for bodies") {
  const ScriptedPeer backend(ok(std::string(kAnswer, 'x')));
  const ProxyUnderTest proxy(backend.address(), answering(kThreeAnswers));
  const std::string at = answered(proxy);
  std::deque<RawClient> slow;
  for (const char* from : {"127.0.0.2", "127.0.0.3"}) {
    CHECK(ask_slowly(slow, proxy, at, from).read_head().status() == 200);
    const Message second = RawClient(proxy.port(), 0, from).ask(get(at));
    CHECK(second.status() == 429);
    CHECK(second.body.find("BUDGET_EXCEEDED") != std::string::npos);
    CHECK(second.field("Retry-After"));
  }
  CHECK(proxy.metric_becomes(kBuffered, 2 * kAnswer));
  CHECK(RawClient(proxy.port()).ask(get(at)).body.size() == kAnswer);
  ask_slowly(slow, proxy, at, "127.0.0.4").read_head();
  CHECK(RawClient(proxy.port()).ask(get(at)).status() == 429);
  slow.clear();
  CHECK(proxy.metric_becomes(kBuffered, 0));
  CHECK(RawClient(proxy.port()).ask(get(at)).body.size() == kAnswer);
}

TEST_CASE("slow uploads that fill the memory keep no stored answer out") {
  const ScriptedPeer backend(ok(std::string(kAnswer, 'x')));
  const ProxyUnderTest proxy(backend.address(), answering(kThreeAnswers));
  const std::string at = answered(proxy);
  const std::string upload = post("/upload", std::string(2'000'000, 'x'));
  std::deque<RawClient> uploads;  // of each client a quarter of the memory
  for (const char* from : {"127.0.0.2", "127.0.0.3", "127.0.0.4", "127.0.0.5", "127.0.0.6"}) {
    for (int n = 0; n < 8; ++n)
      uploads.emplace_back(proxy.port(), 0, from).send(upload.substr(0, 900'000));
  }
  CHECK(proxy.state_becomes(
      [&](const json&) { return proxy.metric(kBuffered) > kThreeAnswers - 100'000; }));
  CHECK(RawClient(proxy.port()).ask(get(at)).body.size() == kAnswer);
  std::deque<RawClient> slow;
  for (const char* from : {"127.0.0.2", "127.0.0.3", "127.0.0.7"})
    CHECK(ask_slowly(slow, proxy, at, from).read_head().status() == 200);
  CHECK(RawClient(proxy.port()).ask(get(at)).status() == 429);  // they have all of theirs
  slow.clear();
  const Deadline deadline;
  while (RawClient(proxy.port()).ask(get(at)).status() == 429) REQUIRE_FALSE(deadline.passed());
}

TEST_CASE("an answer larger than all the memory for slow clients is sent, one at a time") {
  const ScriptedPeer backend(ok(std::string(kAnswer, 'x')));
  const ProxyUnderTest proxy(backend.address(), answering(0));
  const std::string at = answered(proxy);
  for (int n = 0; n < 2; ++n) CHECK(RawClient(proxy.port()).ask(get(at)).body.size() == kAnswer);
}

TEST_CASE("small answers have room for each client in any case") {
  const ScriptedPeer backend(ok(std::string(60'000, 'x')));
  const ProxyUnderTest proxy(backend.address(), answering(0));
  const std::string at = answered(proxy);
  std::deque<RawClient> slow;
  for (int n = 0; n < 8; ++n)
    CHECK(ask_slowly(slow, proxy, at, "127.0.0.2").read_head().status() == 200);
  CHECK(proxy.metric(kBuffered) == 0);
}

TEST_CASE("who takes an answer too slowly is cut off once others find no room") {
  const ScriptedPeer backend(ok(std::string(kAnswer, 'x')));
  const ProxyUnderTest proxy(backend.address(), answering(kAnswer));
  const std::string at = answered(proxy);
  std::deque<RawClient> slow;
  CHECK(ask_slowly(slow, proxy, at, "127.0.0.2").read_head().status() == 200);
  const Deadline deadline(Milliseconds{20'000});
  Message told;
  do {
    told = RawClient(proxy.port()).ask(get(at));
  } while (told.status() == 429 && !deadline.passed());
  CHECK(told.body.size() == kAnswer);
}
