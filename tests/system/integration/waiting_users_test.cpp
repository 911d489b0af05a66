// A verified user has one place in a waiting room, with whatever it comes.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "support/temporary_directory.hpp"
#include "system/integration/jobs_operator.hpp"
#include "system/integration/sale.hpp"

using namespace spillway;
using namespace spillway::support;
using nlohmann::json;

namespace {

const std::string kTickets = "/_spillway/rooms/sale/tickets";
const std::string kAnn = "X-User: ann@example.org\r\n";
const std::string kBob = "X-User: bob\r\n";
const std::string kKey = "X-Api-Key: of-the-shop-acme\r\n";

json with_users(json more = json::object()) {
  json changes{{"tenants", {{"api_keys", {{{"name", "acme"}, {"key", "of-the-shop-acme"}}}}}},
               {"trusted_peers", {"127.0.0.0/8"}},
               {"trusted_headers", {{"user", "X-User"}}}};
  changes.merge_patch(more);
  return changes;
}

// A sale with one session, which is taken by somebody of whom nothing is verified.
struct Full {
  explicit Full(const json& more = with_users(), const json& room = always())
      : proxy(shop.address(), selling(room, more)) {
    inside.join();
    REQUIRE(inside.is_called());
    REQUIRE(is_in(inside.visit()));
  }
  bool make_room() {
    return inside
               .ask("POST", "/_spillway/rooms/sale/leave",
                    "Spillway-Leave: 1\r\nContent-Length: 0\r\n")
               .status() == 204;
  }
  // A program's contact.
  Message post(const std::string& fields) {
    return RawClient(proxy.port())
        .ask("POST " + kTickets + " HTTP/1.1\r\nHost: a\r\n" + fields +
             "Spillway-Join: 1\r\nContent-Length: 0\r\n\r\n");
  }
  // The token of a first contact.
  std::string stamp(const std::string& fields) {
    const Message noted = post(fields);
    CHECK(noted.status() == 202);
    leave_the_millisecond();
    return "Spillway-Ticket: " + noted.field("Spillway-Ticket").value_or("") + "\r\n";
  }

  Shop shop;
  ProxyUnderTest proxy;
  Visitor inside{proxy};
};

}  // namespace

TEST_CASE("a second join of a verified user is 409 and names its ticket, which it cannot use") {
  Full full;
  const std::string first = full.stamp(kAnn), second = full.stamp(kAnn);
  const Message made = full.post(first);  // the user is in the stamp
  REQUIRE(made.status() == 201);
  const std::string id = json::parse(made.body).at("id");
  for (const std::string& fields : {second, kAnn, second + kBob}) {
    CAPTURE(fields);
    const Message refused = full.post(fields);
    CHECK(refused.status() == 409);
    CHECK(refused.field("Content-Type") == "application/problem+json");
    CHECK(refused.field("Link") == "<" + kTickets + "/" + id + ">; rel=\"status\"");
    CHECK(refused.field("Cache-Control") == "no-store");
    CHECK_FALSE(refused.field("Spillway-Ticket"));
    CHECK_FALSE(refused.field("Set-Cookie"));
    const json problem = json::parse(refused.body);
    CHECK(problem.at("state") == "elsewhere");
    CHECK(problem.at("id") == id);
    CHECK(problem.at("status") == 409);
    CHECK(problem.at("title") == "This User Has a Place Already");
  }
  Visitor looking(full.proxy, "");
  CHECK(looking.look(id).at("state") == "waiting");
  CHECK(looking.ask("DELETE", kTickets + "/" + id, kAnn).status() == 404);
  CHECK(looking.ask("GET", "/sale/page", kAnn).status() == 409);
  // Others are not bounded by it, nor is its own token.
  CHECK(full.post(full.stamp(kBob)).status() == 201);
  CHECK(full.post(full.stamp("")).status() == 201);
  CHECK(full.post(full.stamp("")).status() == 201);
  const std::string ticket = "Spillway-Ticket: " + made.field("Spillway-Ticket").value_or("");
  CHECK(full.post(ticket + "\r\n" + kAnn).status() == 200);
  CHECK(full.proxy.metric(R"(spillway_waiting_room_user_refused_total{room="sale"})") == 4);
  CHECK(Operator{full.proxy.admin_port()}.get("/rooms/sale").at("refused_users") == 4);
}

TEST_CASE("another tab is the same ticket, another browser is told of it, until it has ended") {
  Full full;
  Visitor first(full.proxy, kNavigation + kAnn);
  const std::string id = first.join().at("id");
  Visitor tab(full.proxy, kNavigation + kAnn);
  tab.carry(first.jar());
  CHECK(tab.visit().status() == 503);
  CHECK(tab.poll().at("id") == id);

  Visitor other(full.proxy, kNavigation + kAnn);
  const Message page = other.visit();
  CHECK(page.status() == 503);
  CHECK(page.field("Retry-After"));
  CHECK(page.body.find("You have a place already") != std::string::npos);
  CHECK(page.body.find(id) == std::string::npos);
  CHECK(other.jar().empty());
  // A stamp from before, of which the page asks.
  Visitor early(full.proxy, kNavigation + kBob), late(full.proxy, kNavigation + kBob);
  CHECK(early.visit().status() == 503);
  CHECK(late.visit().status() == 503);
  const std::string bobs = early.poll().at("id");
  const json told = late.poll();
  CHECK(told.at("state") == "elsewhere");
  CHECK(told.at("id") == bobs);
  CHECK_FALSE(told.contains("position"));

  CHECK(
      first.ask("POST", "/_spillway/rooms/sale/leave", "Spillway-Leave: 1\r\nContent-Length: 0\r\n")
          .status() == 204);
  CHECK(other.join().at("state") == "waiting");
}

TEST_CASE("who is inside gets no second ticket, and the end of the session gives it back") {
  Full full;
  Visitor ann(full.proxy, kNavigation + kAnn);
  const std::string id = ann.join().at("id");
  REQUIRE(full.make_room());
  REQUIRE(ann.is_called());
  REQUIRE(is_in(ann.visit()));
  CHECK(is_in(ann.visit()));
  const Message refused = full.post(kAnn);
  CHECK(refused.status() == 409);
  CHECK(json::parse(refused.body).at("id") == id);
  CHECK(Visitor(full.proxy, "").look(id).at("state") == "fulfilled");
  CHECK(Operator{full.proxy.admin_port()}.ask("DELETE", "/rooms/sale/tickets/" + id).status() ==
        200);
  CHECK(full.post(kAnn).status() == 202);
}

TEST_CASE("a user is what a key or a trusted peer says, and what a client says is nothing") {
  Full untrusted(with_users({{"trusted_peers", json::array()}}));
  for (int n = 0; n < 2; ++n) CHECK(untrusted.post(untrusted.stamp(kAnn)).status() == 201);
  CHECK(untrusted.post(untrusted.stamp(kKey)).status() == 201);
  CHECK(untrusted.post(kKey).status() == 409);
  CHECK(untrusted.post(kKey + kAnn).status() == 409);

  Full trusted;
  CHECK(trusted.post(trusted.stamp("X-User: acme\r\n")).status() == 201);
  CHECK(trusted.post(trusted.stamp(kKey)).status() == 201);  // not the same acme
  CHECK(trusted.post(trusted.stamp(kKey + kAnn)).status() == 201);
  CHECK(trusted.post(kAnn).status() == 409);
}

TEST_CASE("per_user 0 is no limit, and more than one are as many") {
  json room = always();
  room["per_user"] = 0;
  Full none(with_users(), room);
  for (int n = 0; n < 5; ++n) CHECK(none.post(none.stamp(kAnn)).status() == 201);
  room["per_user"] = 2;
  Full two(with_users(), room);
  for (int n = 0; n < 2; ++n) CHECK(two.post(two.stamp(kAnn)).status() == 201);
  CHECK(two.post(kAnn).status() == 409);
}

TEST_CASE("the operator lists the tickets and the session of a user, who is named nowhere") {
  json room = always(2);
  room["per_user"] = 0;
  Full full(with_users(), room);
  const Operator desk{full.proxy.admin_port()};
  Visitor ann(full.proxy, kNavigation + kAnn);
  const std::string inside = ann.join().at("id");
  REQUIRE(ann.is_called());
  REQUIRE(is_in(ann.visit()));
  const std::string waits = json::parse(full.post(full.stamp(kAnn)).body).at("id");
  full.post(full.stamp(kBob));
  const std::string users = "/rooms/sale/tickets?user=ann%40example.org";
  const json held = desk.get(users).at("tickets");
  REQUIRE(held.size() == 2);
  CHECK(held.at(0).at("id") == waits);
  CHECK(held.at(1).at("id") == inside);
  CHECK(held.at(1).at("status") == "fulfilled");
  CHECK(held.dump().find("ann") == std::string::npos);
  CHECK(desk.get(users + "&status=fulfilled").at("tickets").size() == 1);
  CHECK(desk.get(users + "&status=processing").at("tickets").empty());
  CHECK(desk.get(users + "&limit=1").at("tickets").size() == 1);
  CHECK(desk.get("/rooms/sale/tickets?user=eve").at("tickets").empty());
  for (const char* const more : {"&status=ended", "&tier=vip", "&after=1.0."})
    CHECK(desk.ask("GET", users + more).status() == 400);
}

TEST_CASE("of a user the operator lists what is of one type of resource") {
  json room = always(2);
  room.erase("active_sessions");
  room.merge_patch(
      {{"per_user", 0},
       {"default_type", "gpu"},
       {"resources", {{{"type", "gpu"}, {"count", 2}}, {{"type", "scope"}, {"count", 1}}}}});
  Shop shop;
  ProxyUnderTest proxy(shop.address(), selling(room, with_users()));
  Visitor of_gpu(proxy, kNavigation + kAnn), of_scope(proxy, kNavigation + kAnn);
  of_gpu.visit();
  of_scope.visit("/sale/page?spillway-want=scope");
  const std::string gpu = of_gpu.poll().at("id"), scope = of_scope.poll().at("id");
  const Operator desk{proxy.admin_port()};
  const std::string users = "/rooms/sale/tickets?user=ann%40example.org";
  CHECK(desk.get(users).at("tickets").size() == 2);
  for (const auto& [type, id] : {std::pair("gpu", gpu), std::pair("scope", scope)}) {
    const json held = desk.get(users + "&type=" + type).at("tickets");
    REQUIRE(held.size() == 1);
    CHECK(held.at(0).at("id") == id);
  }
  CHECK(desk.ask("GET", users + "&type=laser").status() == 400);
}

TEST_CASE("a user has one place after a restart, too") {
  const TemporaryDirectory directory;
  Shop shop;
  const json settings =
      selling(always(),
              with_users({{"store", {{"url", "sqlite:" + (directory.path() / "j.db").string()}}}}));
  std::string id, jar;
  {
    ProxyUnderTest proxy(shop.address(), settings);
    Operator{proxy.admin_port()}.post("/rooms/sale/pause");
    Visitor ann(proxy, kNavigation + kAnn);
    id = ann.join().at("id");
    jar = ann.jar();
  }
  ProxyUnderTest proxy(shop.address(), settings);
  const Operator desk{proxy.admin_port()};
  desk.post("/rooms/sale/pause");
  Visitor other(proxy, kAnn);
  const Message refused = other.ask("GET", "/sale/page", kAnn);
  CHECK(refused.status() == 409);
  CHECK(json::parse(refused.body).at("id") == id);
  CHECK(desk.get("/rooms/sale/tickets?user=ann%40example.org").at("tickets").size() == 1);
  Visitor ann(proxy);
  ann.carry(jar);
  CHECK(ann.poll().at("id") == id);
}
