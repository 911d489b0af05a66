// A store without room: what is refused, what is not, and how that is said.
#include <doctest/doctest.h>
#include <sys/resource.h>

#include <nlohmann/json.hpp>
#include <string>

#include "support/proxy_process.hpp"
#include "system/integration/jobs_operator.hpp"
#include "system/integration/refusal.hpp"

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

}  // namespace

TEST_CASE("a store that takes as much as it may tells duplicates of their jobs all the same") {
  const RefusingPort nobody;
  ProxyUnderTest proxy(nobody.address(),
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
  const RefusingPort nobody;
  const json route{{"name", "export"},
                   {"match", {{"path", "/export/**"}}},
                   {"class", "P2"},
                   {"defer", {{"when", "always"}, {"max_pending", 1}}}};
  ProxyUnderTest proxy(nobody.address(), deferring({{"routes", json::array({route})}}));
  RawClient client(proxy.port());
  const Message first = client.ask(post("/export/1", "order 7", kKey));
  REQUIRE(first.status() == 202);
  check_refusal(client.ask(post("/export/2", "x")), 503, "P2", "STORE_FULL");
  check_told_again(proxy.port(), first);
}

TEST_CASE("a full disk is said to be full until something is written again") {
  const RefusingPort nobody;
  ProxyProcess proxy(configuration(
      {nobody.address()},
      deferring({{"store", {{"url", "sqlite:jobs.db"}}}, {"log", {{"level", "error"}}}})));
  RawClient client(proxy.port());
  REQUIRE(client.ask(post("/export/1", "x")).status() == 202);
  const auto allow = [&](rlim_t bytes) {
    const rlimit limit{bytes, RLIM_INFINITY};
    return ::prlimit(proxy.process().pid(), RLIMIT_FSIZE, &limit, nullptr) == 0;
  };
  REQUIRE(allow(1));
  // All but the first meet a store that has failed, or is tried again.
  for (int n = 0; n < 20; ++n)
    check_refusal(client.ask(post("/export/1", "x")), 503, "P2", "STORE_FULL");
  REQUIRE(allow(RLIM_INFINITY));
  const Deadline deadline;
  while (client.ask(post("/export/1", "x")).status() != 202 && !deadline.passed()) {
  }
  CHECK(client.ask(post("/export/1", "x")).status() == 202);
}
