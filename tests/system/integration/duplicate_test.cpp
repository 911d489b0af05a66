// A request that comes again with its Idempotency-Key: it is told what has become of its job.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "system/integration/jobs_operator.hpp"
#include "system/integration/wire.hpp"

using namespace spillway;
using namespace spillway::support;
using nlohmann::json;

namespace {

constexpr const char* kLater =
    "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 3600\r\nContent-Length: 0\r\n\r\n";
constexpr const char* kNo = "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n";

// Says what the last part of the path says. A request of `mail` is over before it may be tried
// again, one of `export` is not.
struct Shop {
  explicit Shop(const json& all = settings())
      : proxy(peer.address(), all), desk{proxy.admin_port()} {}
  ~Shop() { go.set(); }

  static json settings() {
    json all = deferring();
    for (json& route : all["routes"])
      if (route["name"] == "mail") route["defer"]["ttl_ms"] = 60'000;
    all["routes"].push_back(
        {{"name", "live"}, {"match", {{"path", "/live/**"}}}, {"defer", json::object()}});
    return all;
  }

  Message ask(std::string_view target) {
    return RawClient(proxy.port()).ask(post(target, "x", "Idempotency-Key: order-7\r\n"));
  }
  // The location of a job that has come to this state.
  std::string job(std::string_view target, const std::string& state) {
    const Message accepted = ask(target);
    REQUIRE(accepted.status() == 202);
    CHECK(json::parse(accepted.body).at("state") == "queued");
    REQUIRE(desk.come_to(1, "state=" + state));
    return std::string(accepted.field("Location").value_or(""));
  }
  // A duplicate is told of the job, and in which state it is.
  void check_told(std::string_view target, const std::string& location, const std::string& state) {
    CAPTURE(state);
    const Message again = ask(target);
    REQUIRE(again.status() == 202);
    CHECK(again.field("Location") == location);
    const json told = json::parse(again.body);
    CHECK(told.at("state") == state);
    CHECK(told.at("location") == location);
    const bool is_over = state != "queued" && state != "leased" && state != "retrying";
    CHECK(again.field("Retry-After").has_value() == !is_over);
    CHECK(told.contains("retry_after_ms") == !is_over);
    CHECK(proxy.metric("spillway_jobs_accepted_total") == 1);
  }

  Event go;
  ScriptedPeer peer{[this](PeerConnection& connection) {
    while (const auto request = connection.read_request()) {
      const std::string target(request->target());
      if (target.ends_with("/held") && !connection.wait(go)) return;
      if (target.ends_with("/mute")) return;
      if (target.ends_with("/later")) {
        connection.send(kLater);
      } else if (!connection.send(target.ends_with("/no") ? kNo : ok("done"))) {
        return;
      }
    }
  }};
  ProxyUnderTest proxy;
  Operator desk;
};

}  // namespace

TEST_CASE("a duplicate is told of a job that is under way, or waits to be tried again") {
  {
    Shop shop;
    const std::string held = shop.job("/export/held", "leased");
    shop.check_told("/export/held", held, "leased");
  }
  Shop shop;
  const std::string later = shop.job("/export/later", "retrying");
  shop.check_told("/export/later", later, "retrying");
  const Message again = shop.ask("/export/later");
  CHECK(std::stoi(std::string(again.field("Retry-After").value_or("0"))) > 3000);
}

TEST_CASE("a duplicate is not told that a job waits which has ended") {
  for (const auto& [target, state] :
       {std::pair("/export/ok", "succeeded"), {"/export/no", "dead"}, {"/mail/later", "expired"}}) {
    Shop shop;
    shop.check_told(target, shop.job(target, state), state);
    CHECK(shop.peer.seen().requests == 1);
  }
}

TEST_CASE("a duplicate is told that its job was cancelled") {
  Shop shop;
  const std::string location = shop.job("/export/later", "retrying");
  const Message cancelled =
      RawClient(shop.proxy.port()).ask("DELETE " + location + " HTTP/1.1\r\nHost: a\r\n\r\n");
  REQUIRE(cancelled.status() == 200);
  shop.check_told("/export/later", location, "cancelled");
}

TEST_CASE("a duplicate of a job that was deleted is told so, and nothing is done or promised") {
  Shop shop;
  const std::string location = shop.job("/export/no", "dead");
  CHECK(shop.desk.post("/jobs/purge", {{"dry_run", false}, {"limit", 1}}).at("count") == 1);
  shop.check_told("/export/no", location, "deleted");
  CHECK(RawClient(shop.proxy.port()).ask(get(location)).status() == 404);
  const Message waits =
      RawClient(shop.proxy.port())
          .ask(post("/export/no", "x",
                    "Idempotency-Key: order-7\r\nPrefer: respond-async, wait=60\r\n"));
  CHECK(waits.status() == 202);  // at once
  CHECK(json::parse(waits.body).at("state") == "deleted");
  CHECK(shop.peer.seen().requests == 1);
  // Negative control: with another key it is taken.
  CHECK(RawClient(shop.proxy.port())
            .ask(post("/export/no", "x", "Idempotency-Key: order-8\r\n"))
            .status() == 202);
}

TEST_CASE("the same key with other credentials is of somebody else, who is not told of the job") {
  Shop shop;
  const auto location = [&](const std::string& credentials) {
    const Message answer =
        RawClient(shop.proxy.port())
            .ask(post("/export/ok", "x", "Idempotency-Key: order-7\r\n" + credentials));
    CHECK(answer.status() == 202);
    return std::string(answer.field("Location").value_or(""));
  };
  const std::vector<std::string> users{"",
                                       "Cookie: session=ann\r\n",
                                       "Cookie: session=bob\r\n",
                                       "Cookie: session=ann; visits=2\r\n",
                                       "Cookie: session=ann\r\nCookie: visits=2\r\n",
                                       "X-Api-Key: ann\r\n",
                                       "X-Api-Key: bob\r\n",
                                       "Authorization: Bearer ann\r\n",
                                       "Authorization: Bearer ann\r\nCookie: session=ann\r\n",
                                       "Proxy-Authorization: Bearer ann\r\n"};
  std::set<std::string> locations;
  for (const std::string& who : users) {
    CAPTURE(who);
    const std::string first = location(who);
    CHECK(locations.insert(first).second);
    CHECK(location(who) == first);  // the control
  }
  // What says nothing of who asks makes no difference, nor does the order of what does.
  CHECK(locations.contains(location("User-Agent: b\r\nCookie: session=ann\r\n")));
  CHECK(locations.contains(location("Cookie: session=ann\r\nAuthorization: Bearer ann\r\n")));
  CHECK(shop.proxy.metric("spillway_jobs_accepted_total") == double(users.size()));
}

TEST_CASE("a token that was renewed makes no other job where it is said by what users go") {
  json all = Shop::settings();
  all["routes"][0]["defer"]["idempotency_principal"] = {{"cookies", {"session"}}};
  Shop shop(all);
  const auto location = [&](const std::string& credentials) {
    const Message answer =
        RawClient(shop.proxy.port())
            .ask(post("/export/ok", "x", "Idempotency-Key: order-7\r\n" + credentials));
    CHECK(answer.status() == 202);
    return std::string(answer.field("Location").value_or(""));
  };
  const std::string ann = location("Cookie: session=ann; visits=1\r\nAuthorization: Bearer 1\r\n");
  CHECK(location("Cookie: visits=2; session=ann\r\nAuthorization: Bearer 2\r\n") == ann);
  CHECK(location("Cookie: session=bob; visits=1\r\nAuthorization: Bearer 1\r\n") != ann);
  // Of two behind one address who have no session nobody says that they are one user.
  CHECK(location("Authorization: Bearer 1\r\n") != location("Authorization: Bearer 2\r\n"));
  CHECK(shop.proxy.metric("spillway_jobs_accepted_total") == 4);
}

TEST_CASE("a request that is answered has its key alone among those of one user, not of all") {
  Shop shop;
  const auto asked = [](std::string_view who) {
    return post("/live/held", "x", "Idempotency-Key: order-7\r\nCookie: " + std::string(who));
  };
  RawClient first(shop.proxy.port()), again(shop.proxy.port()), other(shop.proxy.port());
  first.send(asked("session=ann\r\n"));
  REQUIRE(shop.peer.wait_until([](const auto& seen) { return seen.requests == 1; }));
  CHECK(again.ask(asked("session=ann\r\n")).status() == 409);
  other.send(asked("session=bob\r\n"));
  CHECK(shop.peer.wait_until([](const auto& seen) { return seen.requests == 2; }));
}

TEST_CASE("a client that waits in vain is told how its job stands by then") {
  Shop shop;
  const Message answer = RawClient(shop.proxy.port())
                             .ask(post("/export/mute", "x", "Prefer: respond-async, wait=30\r\n"));
  REQUIRE(answer.status() == 202);  // it is dead, without an answer that could be shown instead
  CHECK(json::parse(answer.body).at("state") == "dead");
  CHECK_FALSE(answer.field("Retry-After"));
}
