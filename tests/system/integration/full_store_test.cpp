// A store without room: what is refused, what is not, and how that is said.
#include <doctest/doctest.h>
#include <sys/resource.h>

#include <csignal>
#include <nlohmann/json.hpp>
#include <string>

#include "support/proxy_process.hpp"
#include "support/temporary_directory.hpp"
#include "system/integration/jobs_operator.hpp"
#include "system/integration/refusal.hpp"
#include "system/integration/wire.hpp"

using namespace spillway;
using namespace spillway::support;
using nlohmann::json;

namespace {

constexpr const char* kKey = "Idempotency-Key: order-7\r\n";

void check_told_again(std::uint16_t port, const Message& first) {
  RawClient client(port);
  const Message again = client.ask(post("/export/1", "order 7", kKey));
  CHECK(again.status() == 202);
  CHECK(again.field("Location") == first.field("Location"));
  CHECK(client.ask(post("/export/1", "another", kKey)).status() == 422);
}

// Files of the process may be so long.
bool allow(ProxyProcess& proxy, rlim_t bytes) {
  const rlimit limit{bytes, RLIM_INFINITY};
  return ::prlimit(proxy.process().pid(), RLIMIT_FSIZE, &limit, nullptr) == 0;
}

// False: nothing can be written down within the patience of tests.
bool comes_to_defer(RawClient& client) {
  const Deadline deadline;
  while (client.ask(post("/export/1", "x")).status() != 202)
    if (deadline.passed()) return false;
  return true;
}

}  // namespace

TEST_CASE("a store that takes as much as it may tells duplicates of their jobs all the same") {
  const RefusingPort refusing;
  ProxyUnderTest proxy(refusing.address(),
                       deferring({{"store", {{"url", "memory:"}, {"max_bytes", 1 << 20}}}}));
  RawClient client(proxy.port());
  const Message first = client.ask(post("/export/1", "order 7", kKey));
  REQUIRE(first.status() == 202);
  const std::string large(600'000, 'x');
  for (int n = 0; n < 2; ++n) CHECK(client.ask(post("/mail/1", large)).status() == 202);
  const Deadline deadline;  // its size is looked at every second
  Message refused;
  do {
    refused = client.ask(post("/mail/1", "x"));
  } while (refused.status() == 202 && !deadline.passed());
  check_refusal(refused, 503, "P2", "STORE_FULL");
  check_told_again(proxy.port(), first);
  const Message other = client.ask(post("/export/1", "x", "Idempotency-Key: order-8\r\n"));
  check_refusal(other, 503, "P2", "STORE_FULL");
}

TEST_CASE("a route with as many jobs as may wait tells duplicates of theirs") {
  const RefusingPort refusing;
  const json route{{"name", "export"},
                   {"match", {{"path", "/export/**"}}},
                   {"class", "P2"},
                   {"defer", {{"when", "always"}, {"max_pending", 1}}}};
  ProxyUnderTest proxy(refusing.address(), deferring({{"routes", json::array({route})}}));
  RawClient client(proxy.port());
  const Message first = client.ask(post("/export/1", "order 7", kKey));
  REQUIRE(first.status() == 202);
  check_refusal(client.ask(post("/export/2", "x")), 503, "P2", "STORE_FULL");
  check_told_again(proxy.port(), first);
}

TEST_CASE("a full disk is said to be full until something is written again") {
  const RefusingPort refusing;
  ProxyProcess proxy(configuration(
      {refusing.address()},
      deferring({{"store", {{"url", "sqlite:jobs.db"}}}, {"log", {{"level", "error"}}}})));
  RawClient client(proxy.port());
  REQUIRE(client.ask(post("/export/1", "x")).status() == 202);
  REQUIRE(allow(proxy, 1));
  // All but the first meet a store that has failed, or is tried again.
  for (int n = 0; n < 20; ++n)
    check_refusal(client.ask(post("/export/1", "x")), 503, "P2", "STORE_FULL");
  REQUIRE(allow(proxy, RLIM_INFINITY));
  CHECK(comes_to_defer(client));
  CHECK(client.ask(post("/export/1", "x")).status() == 202);
}

TEST_CASE("a disk that is full at the start refuses deferrals, and live requests do not notice") {
  const ScriptedPeer peer(ok("done"));
  for (const bool is_there : {false, true}) {
    CAPTURE(is_there);
    const TemporaryDirectory directory;
    const json settings = configuration(
        {peer.address()},
        deferring({{"store", {{"url", "sqlite:" + (directory.path() / "jobs.db").string()}}},
                   {"log", {{"level", "error"}}}}));
    if (is_there) {
      ProxyProcess before(settings);
      before.process().signal(SIGTERM);
      REQUIRE(before.process().wait() == 0);
    }
    ProxyProcess proxy(settings, {"sh", "-c", "ulimit -S -f 0; exec \"$@\"", "sh"});
    RawClient client(proxy.port());
    CHECK(client.ask(get("/live")).status() == 200);
    check_refusal(client.ask(post("/export/1", "x")), 503, "P2", "STORE_FULL");
    REQUIRE(allow(proxy, RLIM_INFINITY));
    CHECK(comes_to_defer(client));
  }
}
