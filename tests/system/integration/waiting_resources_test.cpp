// A waiting room that hands out resources, over HTTP.
#include <doctest/doctest.h>

#include <csignal>

#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "support/proxy_process.hpp"
#include "support/temporary_directory.hpp"
#include "system/integration/sale.hpp"
#include "system/integration/upgrade.hpp"

using namespace spillway;
using namespace spillway::support;
using nlohmann::json;

namespace {

const std::string kTickets = "/_spillway/rooms/sale/tickets";

json devices() {
  return json::array({{{"type", "gpu"}, {"name", "small"}, {"sizes", {{"memory_gb", 16}}}},
                      {{"type", "gpu"}, {"name", "large"}, {"sizes", {{"memory_gb", 64}}}},
                      {{"type", "scope"}, {"count", 1}}});
}

json lending(json more = json::object(), json outside = json::object()) {
  json room{{"resources", devices()}, {"default_type", "gpu"}, {"poll", {{"min_ms", 1000}}}};
  room.merge_patch(more);
  return selling(std::move(room), std::move(outside));
}

class Borrower {
 public:
  template <class Proxy>
  explicit Borrower(const Proxy& proxy, std::string token = {})
      : token(std::move(token)), client_(proxy.port()) {}

  Message ask(const std::string& method, const std::string& target, const std::string& body = {}) {
    std::string fields = token.empty() ? "" : "Spillway-Ticket: " + token + "\r\n";
    if (method == "POST") fields += "Spillway-Join: 1\r\nContent-Type: application/json\r\n";
    Message answer =
        client_.ask(method + " " + target + " HTTP/1.1\r\nHost: a\r\n" + fields +
                    "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body);
    token = answer.field("Spillway-Ticket").value_or(token);
    return answer;
  }
  Message post(const json& body = json::object()) { return ask("POST", kTickets, body.dump()); }
  // Both contacts; the ticket.
  json join(const json& wish) {
    CHECK(post(wish).status() == 202);
    leave_the_millisecond();
    const Message made = post();
    REQUIRE(made.status() == 201);
    id = json::parse(made.body)["id"];
    return json::parse(made.body);
  }
  json look() { return json::parse(ask("GET", kTickets + "/" + id).body); }
  bool is(const std::string& state) {
    const Deadline deadline(kPatience);
    RawClient& client = client_;
    while (!deadline.passed()) {
      const Message seen = client.ask(get(kTickets + "/" + id));
      if (json::parse(seen.body).value("state", "") == state) return true;
    }
    return false;
  }
  bool enters() { return is("processing") && is_in(ask("GET", "/sale/page")); }

  std::string token;
  std::string id;

 private:
  RawClient client_;
};

std::string let_in(const Shop& shop) {
  const auto requests = shop.requests();
  return requests.empty() ? "" : requests.back().field("Spillway-Pass").value_or("");
}

}  // namespace

TEST_CASE("what nothing could ever meet is refused at both contacts, and says what fails") {
  Shop shop;
  ProxyUnderTest proxy(shop.address(), lending());
  struct Case {
    json wish;
    unsigned status;
    std::string requirement;
  };
  const std::vector<Case> cases{
      {{{"type", "laser"}}, 422, "type"},
      {{{"type", "gpu"}, {"sizes", {{"memory_gb", 65}}}}, 422, "memory_gb"},
      {{{"type", "scope"}, {"sizes", {{"memory_gb", 1}}}}, 422, "memory_gb"},
      {{{"type", "gpu"}, {"duration_ms", 1}}, 422, "duration_ms"},
      {{{"type", "gpu"}, {"max_wait_ms", 86'400'000}}, 422, "max_wait_ms"},
      {{{"tier", "vip"}}, 400, ""},
      {{{"user", "ann"}}, 400, ""},
      {{{"type", 1}}, 400, ""},
      {{{"sizes", {{"memory_gb", -1}}}}, 400, ""},
      {{{"sizes", {{"memory_gb", 1.5}}}}, 400, ""},
      {{{"sizes", {{"memory_gb", {{"a", 1}}}}}}, 400, ""},
      {json::array(), 400, ""}};
  for (const Case& each : cases) {
    CAPTURE(each.wish.dump());
    Borrower borrower(proxy);
    const Message answer = borrower.post(each.wish);
    CHECK(answer.status() == each.status);
    const json problem = json::parse(answer.body);
    CHECK(answer.field("Content-Type") == "application/problem+json");
    CHECK(problem.value("requirement", "") == each.requirement);
    CHECK_FALSE(problem.value("detail", "").empty());
    CHECK(borrower.token.empty());
    CHECK(borrower.post().status() == 202);
    CHECK(borrower.post(each.wish).status() == each.status);
  }
  Borrower twice(proxy);
  CHECK(twice.ask("POST", kTickets, R"({"type":"gpu","type":"scope"})").status() == 400);
  CHECK(proxy.metric(R"(spillway_waiting_room_joined_total{room="sale"})") == 0);
}

TEST_CASE("control: a waiting room without resources has nothing to ask for") {
  Shop shop;
  ProxyUnderTest proxy(shop.address(), selling(always()));
  Borrower borrower(proxy);
  CHECK(borrower.post({{"type", "gpu"}}).status() == 422);
  CHECK(borrower.post(json::object()).status() == 202);
}

TEST_CASE("a ticket gets the smallest device that is enough, and the backend is told which") {
  Shop shop;
  ProxyUnderTest proxy(shop.address(), lending());
  Borrower small(proxy);
  const json ticket = small.join({{"sizes", {{"memory_gb", 8}}}, {"duration_ms", 60'000}});
  CHECK(ticket["type"] == "gpu");
  CHECK(ticket["duration_ms"] == 60'000);
  REQUIRE(small.enters());
  CHECK(let_in(shop) == "room=sale; id=" + small.id + "; resource=small");
  Borrower large(proxy);
  large.join({{"sizes", {{"memory_gb", 8}}}});
  REQUIRE(large.enters());
  CHECK(let_in(shop).ends_with("; resource=large"));
  // With the pass that it was given.
  CHECK(is_in(small.ask("GET", "/sale/more")));
  CHECK(let_in(shop).ends_with("; resource=small"));
  const json inside = json::parse(small.ask("GET", "/_spillway/rooms/sale/ticket").body);
  CHECK(inside["state"] == "fulfilled");
  CHECK(inside["resource"] == "small");
  CHECK(inside["session_remaining_ms"] <= 60'000);
}

TEST_CASE("the position is that of the type, and a small device goes past a large ticket") {
  Shop shop;
  ProxyUnderTest proxy(shop.address(), lending());
  Borrower first(proxy);
  Borrower second(proxy);
  first.join(json::object());
  second.join(json::object());
  REQUIRE(first.enters());
  REQUIRE(second.enters());
  Borrower large(proxy);
  Borrower small(proxy);
  Borrower scope(proxy);
  CHECK(large.join({{"sizes", {{"memory_gb", 64}}}})["position"] == 1);
  CHECK(small.join({{"sizes", {{"memory_gb", 1}}}})["position"] == 2);
  CHECK(scope.join({{"type", "scope"}})["position"] == 1);
  REQUIRE(scope.enters());
  CHECK(let_in(shop).ends_with("; resource=scope-1"));
  CHECK(first.ask("DELETE", kTickets + "/" + first.id).status() == 204);
  REQUIRE(small.enters());
  CHECK(large.look()["position"] == 1);
  CHECK(second.ask("DELETE", kTickets + "/" + second.id).status() == 204);
  REQUIRE(large.enters());
  CHECK(let_in(shop).ends_with("; resource=large"));
}

TEST_CASE("a session ends when its duration is over: its pass and its tunnel with it") {
  ScriptedPeer peer(echo_lines);
  json settings = lending({{"resources", {{{"type", "scope"}, {"name", "only"}}}},
                           {"default_type", "scope"},
                           {"duration", {{"min_ms", 1000}}}});
  settings["routes"][0]["match"]["path"] = "/**";
  ProxyUnderTest proxy(peer.address(), settings);
  Borrower first(proxy);
  Borrower second(proxy);
  first.join({{"duration_ms", 1500}});
  second.join(json::object());
  REQUIRE(first.is("processing"));
  RawClient client(proxy.port());
  const std::string token = "Spillway-Ticket: " + first.token + "\r\n";
  const Message switched = client.send(upgrade("/chat", token)).read_head();
  REQUIRE(switched.status() == 101);
  const std::string pass = switched.field("Spillway-Ticket").value_or("");
  CHECK(client.send("hello\n").read_bytes(6) == "hello\n");
  CHECK(second.look()["state"] == "waiting");
  REQUIRE(second.is("processing"));
  CHECK(client.is_closed());
  CHECK(proxy.metric_becomes(ended("stopped"), 1));
  Borrower late(proxy, pass);
  CHECK(late.ask("GET", "/plain").status() == 503);
}

TEST_CASE("control: a tunnel of a session that goes on is left alone") {
  ScriptedPeer peer(echo_lines);
  json settings = lending();
  settings["routes"][0]["match"]["path"] = "/**";
  ProxyUnderTest proxy(peer.address(), settings);
  Borrower first(proxy);
  first.join({{"duration_ms", 60'000}});
  REQUIRE(first.is("processing"));
  RawClient client(proxy.port());
  client.send(upgrade("/chat", "Spillway-Ticket: " + first.token + "\r\n"));
  REQUIRE(client.read_head().status() == 101);
  CHECK_FALSE(client.is_closed(Milliseconds(3'000)));
  CHECK(client.send("hello\n").read_bytes(6) == "hello\n");
}

TEST_CASE("a browser asks by the link that it follows, and its polls keep to that") {
  Shop shop;
  ProxyUnderTest proxy(shop.address(), lending());
  const std::string link = "/sale/page?a=1&spillway-want=gpu;memory_gb=64;duration_ms=60000";
  Visitor visitor(proxy);
  CHECK(visitor.visit(link).status() == 503);
  const json ticket = visitor.poll();
  CHECK(ticket["state"] == "waiting");
  CHECK(ticket["type"] == "gpu");
  CHECK(ticket["duration_ms"] == 60'000);
  REQUIRE(visitor.is_called());
  CHECK(is_in(visitor.visit(link)));
  CHECK(let_in(shop).ends_with("; resource=large"));
  CHECK(shop.requests().back().target() == link);

  Visitor plain(proxy);
  CHECK(plain.visit().status() == 503);
  CHECK(plain.poll()["type"] == "gpu");
  Visitor wrong(proxy);
  const Message unmet = wrong.visit("/sale/page?spillway-want=gpu;memory_gb=65");
  CHECK(unmet.status() == 422);
  CHECK(json::parse(unmet.body)["requirement"] == "memory_gb");
  CHECK(wrong.visit("/sale/page?spillway-want=gpu;memory_gb").status() == 400);
  CHECK(wrong.visit("/sale/page?spillway-wanted=gpu;;;").status() == 503);
}

TEST_CASE("without a default a visitor that asks for no type is refused") {
  Shop shop;
  ProxyUnderTest proxy(shop.address(), lending({{"default_type", ""}}));
  Visitor visitor(proxy);
  CHECK(visitor.visit().status() == 422);
  CHECK(Borrower(proxy).post().status() == 422);
  CHECK(Borrower(proxy).post({{"type", "scope"}}).status() == 202);
}

TEST_CASE("tier and user are not what the wish says") {
  Shop shop;
  ProxyUnderTest proxy(shop.address(), lending());
  for (const char* const body : {R"({"tier":"vip"})", R"({"user":"ann"})", R"({"priority":9})"}) {
    Borrower borrower(proxy);
    CHECK(borrower.ask("POST", kTickets, body).status() == 400);
  }
  Visitor visitor(proxy);
  CHECK(visitor.visit("/sale/page?spillway-want=gpu;tier=3").status() == 422);
}

TEST_CASE("a stamp that means something else since a reload is spent, and gets no other type") {
  Shop shop;
  for (const std::string join : {"auto", "offer"}) {
    CAPTURE(join);
    ProxyUnderTest proxy(shop.address(), lending({{"join", join}}));
    Borrower program(proxy);
    Borrower same(proxy);
    Visitor browser(proxy);
    CHECK(program.post({{"type", "scope"}}).status() == 202);
    CHECK(same.post({{"type", "scope"}}).status() == 202);
    CHECK(browser.visit("/sale/page?spillway-want=scope").status() == 503);
    json more{{"resources", devices()}, {"join", join}};
    more["resources"].insert(more["resources"].begin(), json{{"type", "laser"}, {"count", 1}});
    REQUIRE(proxy.reload(configuration({shop.address()}, lending(more))).status() == 200);
    const Deadline deadline(kPatience);
    const std::string lasers =
        R"(spillway_waiting_room_resources{room="sale",type="laser",state="free"})";
    while (proxy.metric(lasers) != 1) REQUIRE_FALSE(deadline.passed());
    CHECK(program.post().status() == 202);
    // What says itself what it asks for goes on.
    const Message joined = same.post({{"type", "scope"}});
    CHECK(joined.status() == 201);
    CHECK(json::parse(joined.body)["type"] == "scope");
    CHECK(browser.poll()["state"] == "arrived");
    CHECK(browser.visit("/sale/page?spillway-want=scope").status() == 503);
    CHECK(browser.poll()["state"] == (join == "offer" ? "offered" : "waiting"));
  }
}

TEST_CASE("after a kill each session has its device and each ticket what it asked for") {
  const TemporaryDirectory directory;
  Shop shop;
  const json kept{{"workers", 1},
                  {"store", {{"url", "sqlite:" + (directory.path() / "jobs.db").string()}}}};
  const json settings = configuration({shop.address()}, lending(json::object(), kept));
  std::string inside;
  std::string inside_id;
  std::string waiting;
  std::string waiting_id;
  {
    ProxyProcess proxy(settings);
    Borrower one(proxy);
    one.join({{"sizes", {{"memory_gb", 64}}}});
    REQUIRE(one.enters());
    Borrower two(proxy);
    two.join({{"sizes", {{"memory_gb", 17}}}, {"duration_ms", 60'000}});
    inside = one.token;
    inside_id = one.id;
    waiting = two.token;
    waiting_id = two.id;
    // At once: what is not written yet is in what the visitors carry.
    proxy.process().signal(SIGKILL);
    proxy.process().wait();
  }
  ProxyProcess proxy(settings);
  Borrower one(proxy, inside);
  one.id = inside_id;
  CHECK(is_in(one.ask("GET", "/sale/page")));
  CHECK(let_in(shop).ends_with("; resource=large"));
  Borrower two(proxy, waiting);
  two.id = waiting_id;
  const json ticket = two.look();
  CHECK(ticket["state"] == "waiting");
  CHECK(ticket["duration_ms"] == 60'000);
  CHECK(one.ask("DELETE", kTickets + "/" + one.id).status() == 204);
  REQUIRE(two.enters());
  CHECK(let_in(shop).ends_with("; resource=large"));
}

TEST_CASE("the operator sees types and devices, lists one type, and calls the next of it") {
  Shop shop;
  ProxyUnderTest proxy(shop.address(), lending());
  RawClient admin(proxy.admin_port());
  const auto ask = [&](const std::string& method, const std::string& target,
                       const std::string& body = {}) {
    return admin.ask(method + " " + target +
                     " HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                     "Content-Length: " +
                     std::to_string(body.size()) + "\r\n\r\n" + body);
  };
  Borrower gpu(proxy);
  gpu.join(json::object());
  REQUIRE(gpu.enters());
  CHECK(ask("POST", "/rooms/sale/pause", "{}").status() == 200);
  Borrower other(proxy);
  Borrower scope(proxy);
  other.join(json::object());
  scope.join({{"type", "scope"}});
  const json listed = json::parse(ask("GET", "/rooms/sale/tickets?type=scope").body)["tickets"];
  REQUIRE(listed.size() == 1);
  CHECK(listed[0]["id"] == scope.id);
  CHECK(listed[0]["type"] == "scope");
  const json sessions =
      json::parse(ask("GET", "/rooms/sale/tickets?status=fulfilled&type=gpu").body)["tickets"];
  REQUIRE(sessions.size() == 1);
  CHECK(sessions[0]["resource"] == "small");
  CHECK(ask("GET", "/rooms/sale/tickets?type=laser").status() == 400);
  const json called =
      json::parse(ask("POST", "/rooms/sale/call", R"({"count":2,"type":"scope"})").body);
  REQUIRE(called["successes"].size() == 1);
  CHECK(called["successes"][0]["id"] == scope.id);
  CHECK(called["failures"][0]["error"] == "nobody_present");
  CHECK(ask("POST", "/rooms/sale/call", R"({"type":"laser"})").status() == 400);
  const json room = json::parse(ask("GET", "/rooms/sale").body);
  REQUIRE(room["resources"].size() == 2);
  CHECK(room["resources"][0]["in_use"] == 1);
  CHECK(room["resources"][1]["called"] == 1);
  CHECK(proxy.metric(R"(spillway_waiting_room_resources{room="sale",type="gpu",state="free"})") ==
        1);
}
