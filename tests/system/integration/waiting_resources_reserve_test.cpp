// A visitor that leaves with a reservation where resources are handed out, over HTTP.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "support/temporary_directory.hpp"
#include "system/integration/jobs_operator.hpp"
#include "system/integration/webhook_receiver.hpp"

using namespace spillway;
using namespace spillway::support;
using nlohmann::json;

namespace {

const std::string kRoom = "/_spillway/rooms/sale";
const std::string kEmpty = "Content-Length: 0\r\n";
const std::string kForm = "Accept: text/html\r\nSec-Fetch-Site: same-origin\r\n" + kEmpty;

json lending(const TemporaryDirectory& directory, const std::string& shop,
             const std::string& receiver) {
  json settings = telling(directory, shop, receiver);
  json& room = settings["routes"][0]["waiting_room"];
  room["resources"] = json::array({{{"type", "gpu"}, {"name", "one"}}});
  room["reserve"] = {{"anonymous", true}};
  room["poll"] = {{"min_ms", 1000}, {"max_ms", 1000}};
  return settings;
}

void give_back(Visitor& visitor) {
  visitor.ask("POST", kRoom + "/leave", "Spillway-Leave: 1\r\n" + kEmpty);
}

std::vector<json> calls_of(const std::vector<Message>& requests, const std::string& id) {
  std::vector<json> calls;
  for (const Message& request : requests) {
    json body = json::parse(request.body);
    if (body.at("ticket") == id && body.at("event") == "called") calls.push_back(std::move(body));
  }
  return calls;
}

}  // namespace

TEST_CASE("no device is kept for a visitor that is away, and it has the next one when it comes") {
  const TemporaryDirectory directory;
  Shop shop;
  Receiver receiver;
  ProxyUnderTest proxy(lending(directory, shop.address(), receiver.address()));
  Visitor inside(proxy);
  inside.join();
  REQUIRE(inside.is_called());
  REQUIRE(is_in(inside.visit()));
  Visitor ann(proxy);
  const std::string id = ann.join().at("id");
  CHECK(ann.ask("POST", kRoom + "/reserve", kForm).status() == 303);
  Visitor other(proxy);
  other.join();
  CHECK(other.visit().status() == 503);  // it stays at its page

  const Operator operates{proxy.admin_port()};
  const Deadline deadline(kPatience);
  bool is_away = false;
  while (!is_away && !deadline.passed())
    is_away = operates.get("/rooms/sale/tickets/" + id).contains("away");
  REQUIRE(is_away);
  give_back(inside);
  REQUIRE(other.is_called());
  REQUIRE(is_in(other.visit()));
  CHECK(shop.requests().back().field("Spillway-Pass")->find("resource=one") != std::string::npos);
  const json called = ann.look(id);
  CHECK(called.at("state") == "processing");
  CHECK_FALSE(called.contains("resource"));

  // It comes, and nothing is free: it waits where it was, and may go again.
  CHECK(ann.visit().status() == 503);
  const json waits = ann.poll();
  CHECK(waits.at("state") == "waiting");
  CHECK(waits.at("position") == 1);
  CHECK(waits.at("reserved") == true);
  give_back(other);
  REQUIRE(ann.is_called());
  CHECK(ann.look(id).at("resource") == "one");
  CHECK(is_in(ann.visit()));
  // The events of four tickets: three joined, one reserved, four calls, three came in, one or two
  // have ended.
  const auto calls = calls_of(receiver.requests(11), id);
  REQUIRE(calls.size() == 2);
  CHECK_FALSE(calls[0].contains("resource"));
  CHECK(calls[0].at("type") == "gpu");
  CHECK(calls[1].at("resource") == "one");
}
