// A webhook is told what becomes of tickets.
#include <doctest/doctest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "base/base64.hpp"
#include "base/hmac.hpp"
#include "system/integration/webhook_receiver.hpp"

using namespace spillway;
using namespace spillway::support;
using nlohmann::json;

namespace {

std::string expected_signature(const Message& request) {
  HmacKey key;
  std::copy(kWebhookSecret.begin(), kWebhookSecret.end(), key.begin());
  const Sha256 code =
      hmac_sha256(key, *request.field("Webhook-Id") + "." + *request.field("Webhook-Timestamp") +
                           "." + request.body);
  return "v1," + base64({reinterpret_cast<const char*>(code.data()), code.size()});
}

std::string told(std::string_view event) {
  return R"(spillway_waiting_room_events_total{room="sale",event=")" + std::string(event) + "\"}";
}

}  // namespace

TEST_CASE("a webhook is told of joined, called and fulfilled: once each, in order, signed") {
  const TemporaryDirectory directory;
  Shop shop;
  Receiver receiver;
  ProxyUnderTest proxy(telling(directory, shop.address(), receiver.address()));
  Visitor visitor(proxy);
  const std::string ticket = visitor.join()["id"];
  REQUIRE(visitor.is_called());
  REQUIRE(is_in(visitor.visit()));
  const auto requests = receiver.requests(3);
  REQUIRE(requests.size() == 3);
  std::vector<std::string> events;
  std::set<std::string> ids;
  for (const Message& request : requests) {
    events.push_back(event_of(request));
    ids.insert(*request.field("Webhook-Id"));
    CHECK(request.start_line == "POST /waiting?v=1 HTTP/1.1");
    CHECK(request.field("Content-Type") == "application/json");
    CHECK(request.field("Webhook-Signature") == expected_signature(request));
    const json body = json::parse(request.body);
    CHECK(body["room"] == "sale");
    CHECK(body["ticket"] == ticket);
    CHECK(body["tier"] == "standard");
    CHECK(body["waited_ms"] >= 0);
  }
  CHECK(events == std::vector<std::string>{"joined", "called", "fulfilled"});
  CHECK(ids.size() == 3);
  for (const auto& event : events) CHECK(proxy.metric_becomes(told(event), 1));
  CHECK(proxy.metric_becomes(R"(spillway_jobs_succeeded_total)", 3));
  CHECK(receiver.requests(3).size() == 3);
}

TEST_CASE("a webhook that answers 500 is told again, with the same id, before what came later") {
  const TemporaryDirectory directory;
  Shop shop;
  Receiver receiver(2);
  ProxyUnderTest proxy(telling(directory, shop.address(), receiver.address()));
  Visitor visitor(proxy);
  visitor.join();
  REQUIRE(visitor.is_called());
  const auto requests = receiver.requests(4);
  REQUIRE(requests.size() == 4);
  for (std::size_t n = 0; n < 3; ++n) {
    CHECK(event_of(requests[n]) == "joined");
    CHECK(requests[n].field("Webhook-Id") == requests[0].field("Webhook-Id"));
    CHECK(requests[n].field("Webhook-Signature") == expected_signature(requests[0]));
    CHECK(requests[n].field("Spillway-Attempt") == std::to_string(n + 1));
  }
  CHECK(event_of(requests[3]) == "called");
  CHECK(requests[3].field("Webhook-Id") != requests[0].field("Webhook-Id"));
}

TEST_CASE("a webhook is told of the events that are configured, and no others") {
  const TemporaryDirectory directory;
  Shop shop;
  Receiver receiver;
  ProxyUnderTest proxy(telling(directory, shop.address(), receiver.address(),
                               {{"events", json::array({"fulfilled"})}}));
  Visitor visitor(proxy);
  visitor.join();
  REQUIRE(visitor.is_called());
  REQUIRE(is_in(visitor.visit()));
  const auto requests = receiver.requests(1);
  REQUIRE(requests.size() == 1);
  CHECK(event_of(requests[0]) == "fulfilled");
  CHECK(proxy.metric(told("joined")) == 0);
}

TEST_CASE("visitors do not notice that the webhook is down") {
  const TemporaryDirectory directory;
  Shop shop;
  std::string nobody;
  {
    const Receiver gone;
    nobody = gone.address();
  }
  ProxyUnderTest proxy(telling(directory, shop.address(), nobody));
  Visitor visitor(proxy);
  visitor.join();
  REQUIRE(visitor.is_called());
  CHECK(is_in(visitor.visit()));
  CHECK(proxy.metric_becomes(told("fulfilled"), 1));  // it is kept for the webhook
  CHECK(proxy.metric(R"(spillway_waiting_room_events_lost_total{room="sale",cause="store"})") == 0);
}

TEST_CASE("no client reaches the upstream of an internal route") {
  const TemporaryDirectory directory;
  Shop shop;
  Receiver receiver;
  ProxyUnderTest proxy(telling(directory, shop.address(), receiver.address()));
  RawClient client(proxy.port());
  for (const char* path : {"/waiting?v=1", "/", "/hooks"}) {
    const Message answer = client.ask("POST " + std::string(path) +
                                      " HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n");
    CHECK(answer.status() == 200);  // the shop's, of the default route
  }
  CHECK(shop.requests().size() == 3);
  CHECK(receiver.requests(0).empty());
}

TEST_CASE("a webhook without a key is no configuration") {
  const TemporaryDirectory directory;
  Shop shop;
  json settings = telling(directory, shop.address(), shop.address());
  settings["routes"][0]["waiting_room"]["webhook"]["key_file"] =
      (directory.path() / "absent").string();
  CHECK_THROWS_WITH_AS(ProxyUnderTest{settings}, doctest::Contains("absent"), std::runtime_error);
}
