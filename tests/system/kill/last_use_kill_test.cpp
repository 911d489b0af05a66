// kill -9 and the last use of sessions: an idle one ends as it would have, and none that is in use.
#include <doctest/doctest.h>

#include <csignal>
#include <nlohmann/json.hpp>
#include <string>

#include "support/proxy_process.hpp"
#include "support/proxy_under_test.hpp"
#include "support/raw_client.hpp"
#include "support/scripted_peer.hpp"
#include "support/temporary_directory.hpp"

using namespace spillway;
using namespace spillway::support;
using nlohmann::json;

namespace {

// A pass is renewed, and its use counted, after 20 s: so a session ends up to 25 s after a use.
json settings(const std::string& shop, const TemporaryDirectory& directory) {
  return configuration({shop},
                       {{"store", {{"url", "sqlite:" + (directory.path() / "jobs.db").string()}}},
                        {"log", {{"level", "error"}}},
                        {"routes",
                         {{{"name", "sale"},
                           {"match", {{"path", "/sale"}}},
                           {"class", "P1"},
                           {"waiting_room",
                            {{"active_sessions", 3},
                             {"when", "always"},
                             {"idle_ms", 5000},
                             {"secure_cookie", false}}}}}}});
}

struct Browser {
  std::string cookie;

  bool has_pass() const { return cookie.starts_with("spillway-sale=p"); }
  unsigned visit(std::uint16_t port) {
    const std::string jar = cookie.empty() ? "" : "Cookie: " + cookie + "\r\n";
    const Message answer = RawClient(port).ask(
        "GET /sale HTTP/1.1\r\nHost: a\r\n" + jar +
        "Accept: text/html\r\nSec-Fetch-Mode: navigate\r\nSec-Fetch-Dest: document\r\n\r\n");
    if (const auto set = answer.field("Set-Cookie")) cookie = set->substr(0, set->find(';'));
    return answer.status();
  }
  void enter(std::uint16_t port) {
    const Deadline deadline(kPatience);
    while (!has_pass() && !deadline.passed()) visit(port);
    REQUIRE(has_pass());
  }
  // Uses the pass until that counts.
  void renew(std::uint16_t port) {
    const std::string before = cookie;
    const Deadline deadline(Milliseconds(40'000));
    while (cookie == before && !deadline.passed()) REQUIRE(visit(port) == 200);
    REQUIRE(cookie != before);
  }
};

// -1: it is not said.
int sessions(const ProxyProcess& proxy) {
  const Message answer =
      RawClient(proxy.admin_port()).ask("GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n");
  const std::string sample = "spillway_waiting_room_visitors{room=\"sale\",state=\"active\"} ";
  const std::size_t at = answer.body.find(sample);
  return at == std::string::npos ? -1 : std::stoi(answer.body.substr(at + sample.size()));
}

}  // namespace

TEST_CASE("after kill -9 an idle session ends by its last use, and none that was used is lost") {
  const TemporaryDirectory directory;
  ScriptedPeer shop([](PeerConnection& proxy) {
    while (proxy.read_request()) {
      if (!proxy.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nin")) return;
    }
  });
  Browser idle, used, used_last;
  {
    ProxyProcess proxy(settings(shop.address(), directory));
    for (Browser* const each : {&idle, &used}) each->enter(proxy.port());
    const TimePoint later = Clock::now() + Milliseconds(2'500);
    while (Clock::now() < later) CHECK(sessions(proxy) == 2);
    used_last.enter(proxy.port());
    const TimePoint renewable = Clock::now() + Milliseconds(20'500);
    used.renew(proxy.port());  // and that is written a second later
    while (Clock::now() < renewable) CHECK(sessions(proxy) == 3);
    const std::string before = used_last.cookie;
    REQUIRE(used_last.visit(proxy.port()) == 200);  // its only use, and that is not written
    REQUIRE(used_last.cookie != before);
    proxy.process().signal(SIGKILL);
    REQUIRE(proxy.process().wait() != 0);
  }
  ProxyProcess proxy(settings(shop.address(), directory));
  const TimePoint begun = Clock::now();
  CHECK(sessions(proxy) == 3);
  // The idle one has some 2 s left of 25, the others do not say that they are there.
  const Deadline deadline(Milliseconds(15'000));
  while (sessions(proxy) > 1 && !deadline.passed()) {
  }
  CHECK(Clock::now() - begun < Milliseconds(12'000));
  CHECK(sessions(proxy) == 1);
  CHECK(used.visit(proxy.port()) == 200);
  CHECK(used_last.visit(proxy.port()) == 200);
  CHECK(idle.visit(proxy.port()) == 503);
}
