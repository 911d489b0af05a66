// `order_by`: a request for which there is room does not overtake the jobs of its order.
#include <doctest/doctest.h>

#include <algorithm>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "support/temporary_directory.hpp"
#include "system/integration/jobs_operator.hpp"
#include "system/integration/refusal.hpp"
#include "system/integration/wire.hpp"

using namespace spillway;
using namespace spillway::support;
using nlohmann::json;

namespace {

constexpr const char* kAccount7 = "X-Account: 7\r\n";
constexpr const char* kAccount8 = "X-Account: 8\r\n";

// Keeps the targets in their order, and holds what has "held" in its path until `go`.
class Accounts {
 public:
  ~Accounts() { go.set(); }

  std::string address() const { return peer_.address(); }
  bool is_asked(std::size_t requests) const {
    return peer_.wait_until([=](const auto& seen) { return seen.requests == requests; });
  }
  // Those of the order.
  std::vector<std::string> orders() const {
    const std::lock_guard lock(mutex_);
    std::vector<std::string> found;
    for (const std::string& target : targets_)
      if (target.starts_with("/export/order")) found.push_back(target);
    return found;
  }

  Event go;

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> targets_;
  ScriptedPeer peer_{[this](PeerConnection& proxy) {
    while (const auto request = proxy.read_request()) {
      const std::string target(request->target());
      {
        const std::lock_guard lock(mutex_);
        targets_.push_back(target);
      }
      if (target.find("held") != std::string::npos && !proxy.wait(go)) return;
      if (!proxy.send(ok("done"))) return;
    }
  }};
};

json in_order_of_accounts(json defer, const std::string& url = "memory:") {
  defer["order_by"] = "X-Account";
  json settings = deferring({{"store", {{"url", url}}}});
  settings["routes"][0]["defer"] = std::move(defer);
  return settings;
}

Message ask_in_order(const ProxyUnderTest& proxy, std::string_view target,
                     const std::string& lines) {
  return RawClient(proxy.port()).ask(post(target, "x", lines));
}

using Targets = std::vector<std::string>;

}  // namespace

TEST_CASE("a request for which there is room by now waits for the jobs of its order") {
  const RefusingPort refusing;
  Accounts accounts;
  const TemporaryDirectory directory;
  std::string url = "memory:";
  SUBCASE("in memory") {}
  SUBCASE("in a file") { url = "sqlite:" + (directory.path() / "jobs.db").string(); }
  const json settings = in_order_of_accounts(json::object(), url);
  ProxyUnderTest proxy(configuration({refusing.address()}, settings));
  REQUIRE(ask_in_order(proxy, "/export/order/1held", kAccount7).status() == 202);
  REQUIRE(proxy.reload(configuration({accounts.address()}, settings)).status() == 200);

  CHECK(ask_in_order(proxy, "/export/order/2", kAccount7).status() == 202);
  CHECK(ask_in_order(proxy, "/export/order/3", kAccount7).status() == 202);
  // Negative controls: of another order, of none, and what only reads.
  CHECK(ask_in_order(proxy, "/export/other", kAccount8).status() == 200);
  CHECK(ask_in_order(proxy, "/export/other", "").status() == 200);
  CHECK(RawClient(proxy.port()).ask(get("/export/other", kAccount7)).status() == 200);
  accounts.go.set();
  REQUIRE(Operator{proxy.admin_port()}.come_to(3, "state=succeeded"));
  CHECK(ask_in_order(proxy, "/export/order/4", kAccount7).status() == 200);
  CHECK(accounts.orders() ==
        Targets{"/export/order/1held", "/export/order/2", "/export/order/3", "/export/order/4"});
}

TEST_CASE(
    "where clients ask to be deferred, others wait for the jobs of their order all the same") {
  Accounts accounts;
  ProxyUnderTest proxy(accounts.address(), in_order_of_accounts({{"when", "prefer"}}));
  const std::string async = std::string(kAccount7) + "Prefer: respond-async\r\n";
  REQUIRE(ask_in_order(proxy, "/export/order/1held", async).status() == 202);
  REQUIRE(accounts.is_asked(1));
  CHECK(ask_in_order(proxy, "/export/order/2", kAccount7).status() == 202);
  CHECK(ask_in_order(proxy, "/export/other", kAccount8).status() == 200);  // negative control
  RawClient patient(proxy.port());
  patient.send(post("/export/order/3", "x", std::string(kAccount7) + "Prefer: wait=30\r\n"));
  REQUIRE(proxy.metric_becomes("spillway_jobs_accepted_total", 3));
  accounts.go.set();
  CHECK(patient.read_response().body == "done");
  CHECK(accounts.orders() == Targets{"/export/order/1held", "/export/order/2", "/export/order/3"});
}

TEST_CASE("what is too long to be deferred is refused while it would overtake its order") {
  Accounts accounts;
  ProxyUnderTest proxy(accounts.address(),
                       in_order_of_accounts({{"when", "always"}, {"max_body_bytes", 4}}));
  const auto ask_at_length = [&](const std::string& lines) {
    return RawClient(proxy.port()).ask(post("/export/order/2", "12345", lines));
  };
  REQUIRE(ask_in_order(proxy, "/export/order/1held", kAccount7).status() == 202);
  REQUIRE(accounts.is_asked(1));
  const Message refused = ask_at_length(kAccount7);
  CHECK(refused.status() == 413);
  CHECK(refused.field("Content-Type") == "application/problem+json");
  CHECK(ask_at_length(kAccount8).status() == 200);  // negative control
  accounts.go.set();
  REQUIRE(Operator{proxy.admin_port()}.come_to(1, "state=succeeded"));
  CHECK(ask_at_length(kAccount7).status() == 200);
  CHECK(accounts.orders() == Targets{"/export/order/1held", "/export/order/2", "/export/order/2"});
}

TEST_CASE("a request with a key that waits for its order is told of the same job again") {
  Accounts accounts;
  ProxyUnderTest proxy(accounts.address(), in_order_of_accounts({{"when", "prefer"}}));
  const std::string async = std::string(kAccount7) + "Prefer: respond-async\r\n";
  REQUIRE(ask_in_order(proxy, "/export/order/1held", async).status() == 202);
  REQUIRE(accounts.is_asked(1));
  const std::string lines = std::string(kAccount7) + "Idempotency-Key: order-2\r\n";
  const Message first = ask_in_order(proxy, "/export/order/2", lines);
  CHECK(first.status() == 202);
  const Message again = ask_in_order(proxy, "/export/order/2", lines);
  CHECK(again.status() == 202);
  CHECK(again.field("Location") == first.field("Location"));
  accounts.go.set();
  REQUIRE(Operator{proxy.admin_port()}.come_to(2, "state=succeeded"));
  CHECK(accounts.orders() == Targets{"/export/order/1held", "/export/order/2"});
}

TEST_CASE("a client does not hold up the order of a verified tenant with the same value") {
  Accounts accounts;
  json settings = in_order_of_accounts({{"when", "prefer"}});
  settings["trusted_peers"] = {"127.0.0.1"};
  settings["trusted_headers"] = {{"tenant", "X-Tenant"}};
  settings["tenants"] = {
      {"api_keys",
       {{{"name", "acme"}, {"key", "acme-key-0"}}, {{"name", "b"}, {"key", "b-key-00"}}}}};
  ProxyUnderTest proxy(accounts.address(), settings);
  const std::string async = std::string(kAccount7) + "Prefer: respond-async\r\n";
  // Whose request is held up, by whose job.
  const auto status_behind = [&](const std::string& job_of, const std::string& request_of) {
    REQUIRE(ask_in_order(proxy, "/export/order/1held", async + job_of).status() == 202);
    return ask_in_order(proxy, "/export/order/2", kAccount7 + request_of).status();
  };
  const std::string acme = "X-Api-Key: acme-key-0\r\n", b = "X-Api-Key: b-key-00\r\n";
  const std::string named = "X-Tenant: initech\r\n";
  CHECK(status_behind("", acme) == 200);
  CHECK(status_behind("", named) == 200);
  CHECK(status_behind(b, acme) == 200);
  CHECK(status_behind(b, named) == 200);
  // Negative controls: their own, and clients that are not told apart by what they are called.
  CHECK(status_behind(b, b) == 202);
  CHECK(status_behind(acme, acme) == 202);
  CHECK(status_behind(named, named) == 202);
  CHECK(status_behind("", "") == 202);
}
