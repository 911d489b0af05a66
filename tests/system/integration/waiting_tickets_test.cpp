// Programs that join a waiting room by POST.
#include <doctest/doctest.h>

#include <csignal>
#include <nlohmann/json.hpp>
#include <string>

#include "support/proxy_process.hpp"
#include "system/integration/sale.hpp"

using namespace spillway;
using namespace spillway::support;
using nlohmann::json;

namespace {

const std::string kTicketsPath = "/_spillway/rooms/sale/tickets";
const std::string kJoined = R"(spillway_waiting_room_joined_total{room="sale"})";

// Keeps what it is given in Spillway-Ticket, and where its ticket is.
class Program {
 public:
  explicit Program(const ProxyUnderTest& proxy) : client_(proxy.port()) {}

  Message ask(const std::string& method, const std::string& target, const std::string& fields = {},
              const std::string& body = {}) {
    const std::string token = this->token.empty() ? "" : "Spillway-Ticket: " + this->token + "\r\n";
    Message answer =
        client_.ask(method + " " + target + " HTTP/1.1\r\nHost: a\r\n" + token + fields +
                    "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body);
    this->token = answer.field("Spillway-Ticket").value_or(this->token);
    location = answer.field("Location").value_or(location);
    return answer;
  }
  Message post(const std::string& body = {}) {
    return ask("POST", kTicketsPath, "Spillway-Join: 1\r\nContent-Type: application/json\r\n",
               body);
  }
  // Both contacts; the ticket.
  json join() {
    CHECK(post().status() == 202);
    leave_the_millisecond();
    const Message made = post();
    REQUIRE(made.status() == 201);
    return json::parse(made.body);
  }
  bool is_called() {
    const Deadline deadline(kPatience);
    while (!deadline.passed()) {
      if (json::parse(client_.ask(get(location)).body).value("state", "") == "processing")
        return true;
    }
    return false;
  }

  std::string token;
  std::string location;

 private:
  RawClient client_;
};

}  // namespace

TEST_CASE("a program that has its token in a field goes first for less long than a browser") {
  Shop shop;
  ProxyUnderTest proxy(shop.address(), selling(always()));
  Program program(proxy);
  program.join();
  REQUIRE(program.is_called());
  const TimePoint begin = Clock::now();
  for (int n = 0; n < 300; ++n) REQUIRE(is_in(program.ask("GET", "/sale/page")));
  const double refilled = 5 * to_seconds(Clock::now() - begin) + 1;
  const std::string first =
      R"(spillway_requests_total{route="sale",class="P0",outcome="forwarded"})";
  CHECK(proxy.metric(first) >= 100);
  CHECK(proxy.metric(first) <= 100 + refilled);
}

TEST_CASE("a program joins by POST, follows its ticket, enters with it and gives it up") {
  Shop shop;
  ProxyUnderTest proxy(shop.address(), selling(always()));
  Program program(proxy);
  const Message noted = program.post();
  CHECK(noted.status() == 202);
  CHECK(noted.field("Link") == "<" + kTicketsPath + ">; rel=\"next\"");
  CHECK(noted.field("Retry-After") == "1");
  CHECK(noted.field("Cache-Control") == "no-store");
  CHECK_FALSE(noted.field("Location"));
  CHECK(json::parse(noted.body)["state"] == "arrived");
  CHECK(json::parse(noted.body)["token"] == program.token);
  CHECK(program.token.starts_with("s"));
  CHECK(proxy.metric(kJoined) == 0);

  const Message made = program.post("{}");
  CHECK(made.status() == 201);
  const json ticket = json::parse(made.body);
  CHECK(made.field("Location") == kTicketsPath + "/" + ticket["id"].get<std::string>());
  CHECK(made.field("Link") == "<" + program.location + ">; rel=\"status\"");
  CHECK(ticket["token"] == program.token);
  CHECK(program.token.starts_with("t"));
  CHECK(ticket["position"] == 1);
  CHECK(proxy.metric(kJoined) == 1);

  REQUIRE(program.is_called());
  CHECK(is_in(program.ask("GET", "/sale/page")));
  CHECK(program.token.starts_with("p"));
  CHECK(json::parse(program.ask("GET", program.location).body)["state"] == "fulfilled");
  CHECK(program.ask("DELETE", program.location).status() == 204);
  CHECK(json::parse(program.ask("GET", program.location).body)["state"] == "cancelled");
  CHECK(program.ask("DELETE", program.location).status() == 404);
  CHECK(program.post().status() == 202);  // its pass is over: it arrives anew
}

TEST_CASE("a program that is called asks for more time, as often as it may") {
  Shop shop;
  json room = always();
  room["claim_extensions"] = 1;
  ProxyUnderTest proxy(shop.address(), selling(room));
  Program program(proxy);
  const std::string extend = "/_spillway/rooms/sale/extend";
  CHECK(program.ask("POST", extend).status() == 404);  // without a ticket
  program.join();
  REQUIRE(program.is_called());
  CHECK(program.ask("GET", extend).status() == 405);
  const Message given = program.ask("POST", extend);
  CHECK(given.status() == 200);
  const json told = json::parse(given.body);
  CHECK(told["state"] == "processing");
  CHECK(told["extensions_left"] == 0);
  CHECK(told["claim_remaining_ms"] > 119'000);
  CHECK(program.ask("POST", extend).status() == 409);
  CHECK(is_in(program.ask("GET", "/sale/page")));
  CHECK(program.ask("POST", extend).status() == 404);  // it has a pass
}

TEST_CASE("the page's form gives a called visitor more time and leads back to the page") {
  Shop shop;
  json room = always();
  room["claim_extensions"] = 1;
  ProxyUnderTest proxy(shop.address(), selling(room));
  Visitor visitor(proxy);
  const auto press = [&visitor] {
    const Message back = visitor.ask("POST", "/_spillway/rooms/sale/extend",
                                     "Accept: text/html\r\nReferer: http://a/sale/page\r\n"
                                     "Content-Length: 0\r\n");
    CHECK(back.field("Location") == "/sale/page");
    return back.status();
  };
  CHECK(press() == 303);  // without a ticket: the page says what is to be done
  visitor.join();
  REQUIRE(visitor.is_called());
  CHECK(visitor.poll()["extensions_left"] == 1);
  CHECK(press() == 303);
  CHECK(visitor.poll()["extensions_left"] == 0);
  CHECK(press() == 303);  // there is no more
  CHECK(is_in(visitor.visit()));
}

TEST_CASE("the start warns of a time to come in that is too short, also with a store in memory") {
  for (const int time : {119'999, 120'000}) {
    CAPTURE(time);
    const RefusingPort refusing;
    json room = always();
    room["claim_ms"] = time;
    ProxyProcess proxy(
        configuration({refusing.address()}, selling(room, {{"log", {{"level", "warn"}}}})));
    proxy.process().signal(SIGTERM);
    CHECK(proxy.process().wait() == 0);
    const std::string said = proxy.process().out() + proxy.process().err();
    CHECK((said.find("waiting_room.claim_ms: a called visitor has") != std::string::npos) ==
          (time < 120'000));
  }
}

TEST_CASE("joins that keep nothing make no ticket, however many") {
  Shop shop;
  ProxyUnderTest proxy(shop.address(), selling(always()));
  Program program(proxy);
  for (int n = 0; n < 300; ++n) {
    CHECK(program.post().status() == 202);
    program.token.clear();
  }
  CHECK(proxy.metric(kJoined) == 0);
  CHECK(proxy.metric(R"(spillway_waiting_room_visitors{room="sale",state="waiting"})") == 0);
}

TEST_CASE("where there is room a program that joins may enter at once, and others need not wait") {
  Shop shop;
  ProxyUnderTest proxy(shop.address(), selling({{"active_sessions", 2}}));
  Program program(proxy);
  const json ticket = program.join();
  CHECK(ticket["state"] == "fulfilled");
  CHECK_FALSE(ticket.contains("waited_ms"));
  CHECK(is_in(Program(proxy).ask("GET", "/sale/page")));
  CHECK(is_in(program.ask("GET", "/sale/page")));
  CHECK(program.post().status() == 200);  // it has a pass
}

TEST_CASE("the same stamp or ticket is the same place, and a full room has none") {
  Shop shop;
  json room = always();
  room["max_tickets"] = 1;
  ProxyUnderTest proxy(shop.address(), selling(room));
  Program inside(proxy);
  inside.join();
  REQUIRE(inside.is_called());
  REQUIRE(is_in(inside.ask("GET", "/sale/page")));
  Program late(proxy);
  REQUIRE(late.post().status() == 202);
  Program program(proxy);
  REQUIRE(program.post().status() == 202);
  const std::string stamp = program.token;
  const json ticket = json::parse(program.post().body);
  const Message again = program.post();
  CHECK(again.status() == 200);
  CHECK(json::parse(again.body)["id"] == ticket["id"]);
  program.token = stamp;
  CHECK(json::parse(program.post().body)["id"] == ticket["id"]);
  CHECK(proxy.metric(kJoined) == 2);
  const Message full = late.post();
  CHECK(full.status() == 503);
  CHECK(full.field("Content-Type") == "application/problem+json");
  CHECK(full.field("Retry-After"));
  CHECK(json::parse(full.body)["state"] == "full");
  CHECK(json::parse(full.body)["reason"] == "WAITING_ROOM");
  CHECK(Program(proxy).post().status() == 503);
}

TEST_CASE("joining takes a field that no form can send, and a body that asks for nothing here") {
  Shop shop;
  ProxyUnderTest proxy(shop.address(), selling(always()));
  Program program(proxy);
  const std::string json_type = "Content-Type: application/json\r\n";
  const std::string join = "Spillway-Join: 1\r\n";
  CHECK(program.ask("POST", kTicketsPath, json_type, "{}").status() == 403);
  CHECK(program
            .ask("POST", kTicketsPath, "Content-Type: application/x-www-form-urlencoded\r\n", "a=1")
            .status() == 403);
  CHECK(program.ask("POST", kTicketsPath, join + "Content-Type: text/plain\r\n", "{}").status() ==
        415);
  CHECK(program.ask("POST", kTicketsPath, join, "{}").status() == 415);
  CHECK(program.ask("POST", kTicketsPath, join + json_type, "[]").status() == 400);
  CHECK(program.ask("POST", kTicketsPath, join + json_type, R"({"type":"camera"})").status() ==
        422);
  CHECK(program.ask("POST", kTicketsPath + "?type=camera", join).status() == 400);
  CHECK(
      Program(proxy).ask("POST", kTicketsPath, join + json_type, std::string(1025, ' ')).status() ==
      413);
  CHECK(program.token.empty());
  CHECK(
      program.ask("POST", kTicketsPath, join + json_type, std::string(1000, ' ') + "{}").status() ==
      202);
  const Message listed = program.ask("GET", kTicketsPath);
  CHECK(listed.status() == 405);
  CHECK(listed.field("Allow") == "POST");
  CHECK(program.ask("PUT", kTicketsPath + "/" + std::string(32, '0')).field("Allow") ==
        "GET, HEAD, DELETE");
}

TEST_CASE("a body that is too large for a room is refused before it is read") {
  Shop shop;
  ProxyUnderTest proxy(shop.address(), selling(always()));
  for (const std::string path : {kTicketsPath, std::string("/_spillway/rooms/sale/join")}) {
    const std::string head = "POST " + path +
                             " HTTP/1.1\r\nHost: a\r\nSpillway-Join: 1\r\n"
                             "Content-Type: application/json\r\n";
    CAPTURE(path);
    RawClient declared(proxy.port());
    declared.send(head + "Content-Length: 50000000\r\n\r\n");
    CHECK(declared.read_response().status() == 413);
    RawClient endless(proxy.port());
    endless.send(head + "Transfer-Encoding: chunked\r\n\r\n400\r\n" + std::string(1024, ' ') +
                 "\r\n1\r\n");
    CHECK(endless.read_response().status() == 413);
  }
}

TEST_CASE("an id may look, and only the token may cancel") {
  Shop shop;
  ProxyUnderTest proxy(shop.address(), selling(always()));
  Program inside(proxy);
  inside.join();
  REQUIRE(inside.is_called());
  REQUIRE(is_in(inside.ask("GET", "/sale/page")));
  Program owner(proxy);
  owner.join();
  Program other(proxy);
  other.join();
  Program stranger(proxy);
  const Message looked = stranger.ask("GET", owner.location);
  CHECK(looked.status() == 200);
  CHECK_FALSE(looked.field("Retry-After"));
  CHECK_FALSE(looked.field("Set-Cookie"));
  const json shown = json::parse(looked.body);
  CHECK(shown["position"] == 1);
  CHECK_FALSE(shown.contains("token"));
  CHECK_FALSE(shown.contains("poll_ms"));
  CHECK(owner.ask("GET", owner.location).field("Retry-After"));
  const auto refused = [&](Program& program, const std::string& method, const std::string& path) {
    const Message answer = program.ask(method, path);
    json problem = json::parse(answer.body);
    problem.erase("request_id");
    CHECK(answer.status() == 404);
    return problem;
  };
  const std::string unknown = kTicketsPath + "/" + std::string(32, '0');
  const json problem = refused(stranger, "GET", unknown);
  CHECK(refused(stranger, "GET", kTicketsPath + "/1") == problem);
  CHECK(refused(stranger, "DELETE", unknown) == problem);
  CHECK(refused(stranger, "DELETE", owner.location) == problem);
  CHECK(refused(other, "DELETE", owner.location) == problem);
  CHECK(owner.ask("DELETE", owner.location + "?why=none").status() == 400);
  CHECK(owner.ask("DELETE", owner.location + "?reason=" + std::string(201, 'x')).status() == 400);
  CHECK(owner.ask("DELETE", owner.location + "?reason=too%20slow").status() == 204);
  CHECK(refused(owner, "DELETE", owner.location) == problem);
  CHECK(json::parse(other.ask("GET", other.location).body)["position"] == 1);
}

TEST_CASE("a program goes on with one token of the field, and makes none of that of a cookie") {
  Shop shop;
  ProxyUnderTest proxy(shop.address(), selling(always()));
  Program program(proxy);
  program.join();
  REQUIRE(program.is_called());
  REQUIRE(is_in(program.ask("GET", "/sale/page")));
  const std::string kept = program.token;
  for (const std::string method : {"GET", "POST", "GET"}) {
    CHECK(is_in(program.ask(method, "/sale/page")));
    program.token = kept;
  }
  // Of a cookie, as the token of a page is: shown in a field it is still that of a cookie.
  const std::string jar = "spillway-sale=";
  const auto given = [&](const std::string& fields) {
    RawClient client(proxy.port());
    const Message told = client.ask(get("/sale/page", fields));
    const std::string cookie = told.field("Set-Cookie").value_or("");
    REQUIRE(cookie.starts_with(jar));
    return std::pair(cookie.substr(jar.size(), cookie.find(';') - jar.size()),
                     told.field("Spillway-Ticket").value_or(""));
  };
  const auto [in_cookie, in_field] = given("");
  CHECK(in_field.size() == in_cookie.size());
  CHECK(in_field != in_cookie);
  const auto [page_cookie, page_field] = given("Accept: text/html\r\n");
  CHECK(page_field == page_cookie);
  const auto [script_cookie, script_field] = given("Referer: http://a/sale/page\r\n");
  CHECK(script_field == script_cookie);
  for (const std::string& sent : {in_cookie, page_field}) {
    const auto [joined_cookie, joined_field] = given("Spillway-Ticket: " + sent + "\r\n");
    CHECK(joined_field == joined_cookie);
  }
  const auto [joined_cookie, joined_field] = given("Spillway-Ticket: " + in_field + "\r\n");
  CHECK(joined_field != joined_cookie);  // the control
}

TEST_CASE("a program's token counts in no cookie") {
  Shop shop;
  ProxyUnderTest proxy(shop.address(), selling(always()));
  Program program(proxy);
  program.join();
  REQUIRE(program.is_called());
  RawClient client(proxy.port());
  const auto carried = [&](const std::string& fields) {
    return client.ask(get("/sale/page", fields));
  };
  const std::string in_cookie = "Cookie: spillway-sale=";
  CHECK_FALSE(is_in(carried(in_cookie + program.token + "\r\n")));
  const Message entered = program.ask("GET", "/sale/page");
  REQUIRE(is_in(entered));
  CHECK_FALSE(is_in(carried(in_cookie + program.token + "\r\n")));
  // Beside the one in the field it is none either: that one counts.
  CHECK(is_in(
      carried("Spillway-Ticket: " + program.token + "\r\n" + in_cookie + program.token + "\r\n")));
  // The controls: in the field, and that of the cookie of the same response.
  CHECK(is_in(carried("Spillway-Ticket: " + program.token + "\r\n")));
  const std::string given = entered.field("Set-Cookie").value_or("");
  REQUIRE(given.starts_with("spillway-sale=p"));
  CHECK(is_in(carried("Cookie: " + given.substr(0, given.find(';')) + "\r\n")));
}

TEST_CASE("a script of a page joins with the cookie, and is not shown the token") {
  Shop shop;
  ProxyUnderTest proxy(shop.address(), selling(always()));
  Visitor page(proxy);
  const std::string fields =
      "Sec-Fetch-Site: same-origin\r\nSec-Fetch-Mode: cors\r\nSpillway-Join: 1\r\n"
      "Content-Length: 0\r\n";
  for (const unsigned status : {202U, 201U}) {
    const Message told = page.ask("POST", kTicketsPath, fields);
    CHECK(told.status() == status);
    CHECK_FALSE(told.field("Spillway-Ticket"));
    CHECK_FALSE(json::parse(told.body).contains("token"));
    CHECK(told.field("Set-Cookie").value_or("").find("HttpOnly") != std::string::npos);
  }
  CHECK(page.jar().starts_with("spillway-sale=t"));
  REQUIRE(page.is_called());
  CHECK(is_in(page.visit()));
}
