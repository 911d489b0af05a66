// A place takes a proof of work (waiting_room.challenge): of browsers, of programs, of forms; whom
// it does not ask; what a reload changes.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "base/sha256.hpp"
#include "system/integration/sale.hpp"

using namespace spillway;
using namespace spillway::support;
using nlohmann::json;

namespace {

constexpr unsigned kBits = 8;
const std::string kTicket = "/_spillway/rooms/sale/ticket";
const std::string kTickets = "/_spillway/rooms/sale/tickets";
const std::string kCors = "Sec-Fetch-Mode: cors\r\n";

json challenging(json more = json::object(), unsigned bits = kBits) {
  json room = always();
  room["challenge"] = {{"work_bits", bits}};
  room.merge_patch(more);
  return room;
}

unsigned leading_zeros(const Sha256& digest) {
  unsigned n = 0;
  while (n < 256 && (digest[n / 8] >> (7 - n % 8) & 1) == 0) ++n;
  return n;
}

// The first nonce of exactly so many zero bits.
std::string solve(const std::string& prefix, unsigned bits = kBits) {
  for (int n = 0;; ++n) {
    const std::string nonce = std::to_string(n);
    if (leading_zeros(sha256(prefix + nonce)) == bits) return nonce;
  }
}

// One that is good for the first prefix, and not for the second.
std::string solve_but_not(const std::string& prefix, const std::string& other) {
  for (int n = 0;; ++n) {
    const std::string nonce = std::to_string(n);
    const bool is_good = leading_zeros(sha256(prefix + nonce)) >= kBits;
    if (is_good && leading_zeros(sha256(other + nonce)) < kBits) return nonce;
  }
}

std::string work(const std::string& nonce) { return "Spillway-Work: " + nonce + "\r\n"; }

std::string between(const std::string& text, const std::string& begin, const std::string& end) {
  const std::size_t at = text.find(begin);
  if (at == std::string::npos) return {};
  const std::string rest = text.substr(at + begin.size());
  return rest.substr(0, rest.find(end));
}
std::string prefix_of(const Message& page) { return between(page.body, "data-prefix=\"", "\""); }

double count(const ProxyUnderTest& proxy, const std::string& result) {
  return proxy.metric(R"(spillway_waiting_room_work_total{room="sale",result=")" + result + "\"}");
}
double joined(const ProxyUnderTest& proxy) {
  return proxy.metric(R"(spillway_waiting_room_joined_total{room="sale"})");
}

std::string reason_of(const Message& answer) {
  return json::parse(answer.body).value("reason", "");
}

}  // namespace

TEST_CASE("a visitor gets its place with the work for its own stamp, and with nothing else") {
  Shop shop;
  ProxyUnderTest proxy(shop.address(), selling(challenging()));
  Visitor visitor(proxy), other(proxy);
  const Message page = visitor.visit();
  CHECK(page.status() == 503);
  CHECK(between(page.body, "data-bits=\"", "\"") == "8");
  CHECK(between(page.body, "id=\"heading\">", "<") == "Checking");
  const std::string prefix = prefix_of(page);
  const std::string foreign = prefix_of(other.visit());
  REQUIRE(prefix.size() == 33);
  REQUIRE(foreign != prefix);
  const std::string nonce = solve(prefix);
  const std::string unlucky = solve_but_not(foreign, prefix);
  const auto poll = [&visitor](const std::string& fields) {
    return visitor.ask("GET", kTicket, kCors + fields);
  };
  const std::string stamp = visitor.jar();
  int wrong = 0;
  for (const std::string& fields :
       {work(solve(prefix, kBits - 1)), work(unlucky), work(nonce + " 1"), work("+" + nonce),
        work("0x" + nonce), work(std::string(5000, '7'))}) {
    CAPTURE(fields);
    const Message refused = poll(fields);
    CHECK(refused.status() == 403);
    CHECK(refused.field("Content-Type") == "application/problem+json");
    CHECK(reason_of(refused) == "WORK_REQUIRED");
    CHECK(count(proxy, "wrong") == ++wrong);
  }
  CHECK(poll("").status() == 403);
  CHECK(poll(work("")).status() == 403);
  CHECK(poll(work(nonce) + work(nonce)).status() == 403);  // which of them counts?
  CHECK(count(proxy, "missing") == 3);
  CHECK(visitor.jar() == stamp);
  CHECK(joined(proxy) == 0);
  CHECK(proxy.metrics().find("reason=\"WORK_REQUIRED\"") != std::string::npos);

  const Message placed = poll(work(nonce));
  CHECK(placed.status() == 200);
  CHECK(json::parse(placed.body).at("position") == 1);
  CHECK(count(proxy, "done") == 1);
  CHECK(joined(proxy) == 1);
  // A visitor with a ticket needs no more work, and the backend does not get the field.
  CHECK(visitor.poll().at("state") != "arrived");
  REQUIRE(visitor.is_called());
  CHECK(is_in(visitor.ask("GET", "/sale/page", kNavigation + work(nonce))));
  REQUIRE(shop.requests().size() == 1);
  CHECK_FALSE(shop.requests()[0].field("Spillway-Work"));
  // The stamp with its work is its ticket, not another one.
  Visitor again(proxy);
  again.carry(stamp);
  again.ask("GET", kTicket, kCors + work(nonce));
  CHECK(joined(proxy) == 1);
}

TEST_CASE("a stamp that has a ticket already is asked for no work, as after a lost answer") {
  Shop shop;
  ProxyUnderTest proxy(shop.address(), selling(challenging()));
  Visitor first(proxy), visitor(proxy);
  const auto join = [](Visitor& who) {
    const std::string nonce = solve(prefix_of(who.visit()));
    return json::parse(who.ask("GET", kTicket, kCors + work(nonce)).body);
  };
  join(first);
  REQUIRE(first.is_called());
  const std::string nonce = solve(prefix_of(visitor.visit()));
  const std::string stamp = visitor.jar();
  const json placed = json::parse(visitor.ask("GET", kTicket, kCors + work(nonce)).body);
  Visitor again(proxy);
  again.carry(stamp);
  const Message told = again.ask("GET", kTicket, kCors);
  CHECK(told.status() == 200);
  CHECK(json::parse(told.body).value("id", "") == placed.at("id"));
  CHECK(count(proxy, "missing") == 0);
  Visitor stranger(proxy);
  stranger.visit();
  CHECK(stranger.ask("GET", kTicket, kCors).status() == 403);
}

TEST_CASE("a page that is loaded again keeps what its visitor asks for") {
  Shop shop;
  const json devices = json::array({{{"type", "cpu"}, {"name", "old"}, {"count", 1}},
                                    {{"type", "gpu"}, {"name", "lab"}, {"count", 1}}});
  ProxyUnderTest proxy(shop.address(),
                       selling(challenging({{"resources", devices}, {"default_type", "cpu"}})));
  Visitor visitor(proxy);
  visitor.visit("/sale/page?spillway-want=gpu");
  const std::string nonce = solve(prefix_of(visitor.visit()));
  CHECK(visitor.ask("GET", kTicket, kCors + work(nonce)).status() == 200);
  REQUIRE(visitor.is_called());
  CHECK(is_in(visitor.visit()));
  REQUIRE(shop.requests().size() == 1);
  CHECK(shop.requests()[0].field("Spillway-Pass").value_or("").find("lab") != std::string::npos);
}

TEST_CASE("a page that is loaded again has the same challenge, and makes no ticket") {
  Shop shop;
  ProxyUnderTest proxy(shop.address(), selling(challenging()));
  Visitor visitor(proxy);
  const std::string prefix = prefix_of(visitor.visit());
  for (int n = 0; n < 3; ++n) {
    const Message page = visitor.visit();
    CHECK(page.status() == 503);
    CHECK(prefix_of(page) == prefix);
  }
  CHECK(joined(proxy) == 0);
  // Neither does a visit with the wrong work. One with the right one is the second contact.
  CHECK(prefix_of(visitor.ask("GET", "/sale/page", kNavigation + work("x"))) == prefix);
  CHECK(joined(proxy) == 0);
  const Message page = visitor.ask("GET", "/sale/page", kNavigation + work(solve(prefix)));
  CHECK(page.body.find("data-state=\"waiting\"") != std::string::npos);
  CHECK(prefix_of(page).empty());
  CHECK(joined(proxy) == 1);
}

TEST_CASE("a program is told the challenge at its first contact, at the route and where it joins") {
  Shop shop;
  ProxyUnderTest proxy(shop.address(), selling(challenging()));
  RawClient program(proxy.port());
  const auto token_of = [](const Message& answer) {
    return "Spillway-Ticket: " + answer.field("Spillway-Ticket").value_or("") + "\r\n";
  };
  const auto join = [&program](const std::string& fields) {
    return program.ask(post(kTickets, "", "Spillway-Join: 1\r\n" + fields));
  };
  const Message told = program.ask(get("/sale/page"));
  REQUIRE(told.status() == 503);
  const json challenge = json::parse(told.body).at("challenge");
  CHECK(challenge.at("algorithm") == "SHA-256");
  CHECK(challenge.at("work_bits") == kBits);
  CHECK(challenge.size() == 3);
  const Message refused = program.ask(get("/sale/page", token_of(told)));
  CHECK(refused.status() == 403);
  CHECK(reason_of(refused) == "WORK_REQUIRED");
  const Message made = join(token_of(told) + work(solve(challenge.at("prefix"))));
  CHECK(made.status() == 201);

  const Message noted = join("");
  REQUIRE(noted.status() == 202);
  const std::string prefix = json::parse(noted.body).at("challenge").at("prefix");
  CHECK(join(token_of(noted)).status() == 403);
  CHECK(join(token_of(noted) + work(solve(prefix, kBits - 1))).status() == 403);
  CHECK(joined(proxy) == 1);
  const Message second = join(token_of(noted) + work(solve(prefix)));
  CHECK(second.status() == 201);
  CHECK_FALSE(json::parse(second.body).contains("challenge"));
  CHECK(joined(proxy) == 2);
  CHECK(join(token_of(second)).status() == 200);
}

TEST_CASE("an offered place takes the work in the form") {
  Shop shop;
  ProxyUnderTest proxy(shop.address(), selling(challenging({{"join", "offer"}})));
  Visitor visitor(proxy);
  const Message page = visitor.visit();
  const std::string prefix = prefix_of(page);
  const std::string offer = "offer=" + between(page.body, "name=\"offer\" value=\"", "\"");
  CHECK(page.body.find("<input type=\"hidden\" name=\"work\" value=\"\">") != std::string::npos);
  const auto take = [&](const std::string& form, const std::string& accept) {
    const Message answer = visitor.client().ask(
        post("/_spillway/rooms/sale/join", form,
             "Content-Type: application/x-www-form-urlencoded\r\nCookie: " + visitor.jar() +
                 "\r\nAccept: " + accept + "\r\n"));
    if (const auto set = answer.field("Set-Cookie")) visitor.carry(set->substr(0, set->find(';')));
    return answer;
  };
  CHECK(visitor.poll().at("state") == "offered");
  for (const std::string& form :
       {offer, offer + "&work=", offer + "&work=" + solve(prefix, kBits - 1)}) {
    CHECK(take(form, "text/html").status() == 303);  // to the page, which says what it takes
    const Message refused = take(form, "application/json");
    CHECK(refused.status() == 403);
    CHECK(reason_of(refused) == "WORK_REQUIRED");
  }
  // What is not the page's form is none.
  CHECK(take(offer + "&work=" + solve(prefix) + "&work=1", "application/json").status() == 403);
  CHECK(take("work=" + solve(prefix) + "&" + offer, "application/json").status() == 403);
  CHECK(joined(proxy) == 0);
  CHECK(prefix_of(visitor.visit()) == prefix);
  CHECK(take(offer + "&work=" + solve(prefix), "text/html").status() == 303);
  CHECK(joined(proxy) == 1);
  CHECK(visitor.poll().at("position") == 1);
}

TEST_CASE("verified visitors pass without work, and others cannot say that they are") {
  Shop shop;
  const json sources{
      {"tenants",
       {{"api_keys", {{{"name", "acme"}, {"key", "of-the-shop-acme"}, {"tier", "standard"}}}}}},
      {"trusted_peers", {"127.0.0.0/8"}},
      {"trusted_headers", {{"user", "X-User"}, {"tier", "X-Tier"}}}};
  ProxyUnderTest proxy(shop.address(), selling(challenging(json::object(), 24), sources));
  double places = 0;
  for (const std::string field :
       {"X-Api-Key: of-the-shop-acme\r\n", "X-User: ann\r\n", "X-Tier: vip\r\n"}) {
    CAPTURE(field);
    Visitor known(proxy, kNavigation + field);
    const Message page = known.visit();
    CHECK(prefix_of(page).empty());
    CHECK(known.poll().value("state", "") != "arrived");
    CHECK(joined(proxy) == ++places);
  }
  for (const std::string field :
       {"X-Api-Key: of-another-shop\r\n", "X-Tier: standard\r\n", "X-Tier: none\r\n"}) {
    CAPTURE(field);
    Visitor stranger(proxy, kNavigation + field);
    CHECK(prefix_of(stranger.visit()).size() == 33);
    CHECK(stranger.ask("GET", kTicket, kCors).status() == 403);
  }
  CHECK(joined(proxy) == places);
  CHECK(count(proxy, "done") == 0);
  // Whom somebody verifies later needs none from then on.
  Visitor late(proxy);
  CHECK(prefix_of(late.visit()).size() == 33);
  CHECK(prefix_of(late.ask("GET", "/sale/page", kNavigation + "X-User: bob\r\n")).empty());
  CHECK(late.poll().value("state", "") != "arrived");
}

TEST_CASE(
    "a flood without cookies stores nothing, and a visitor that does not have to wait does no "
    "work") {
  Shop shop;
  ProxyUnderTest proxy(shop.address(), selling(challenging({{"when", "full"}}, 24)));
  Visitor inside(proxy);
  REQUIRE(is_in(inside.visit()));
  REQUIRE(is_in(inside.visit()));
  RawClient flood(proxy.port());
  for (int n = 0; n < 500; ++n)
    CHECK(flood.ask(get("/sale/page", kNavigation + work("1"))).status() == 503);
  CHECK(joined(proxy) == 0);
  CHECK(proxy.metric(R"(spillway_waiting_room_visitors{room="sale",state="waiting"})") == 0);
  for (const char* const result : {"done", "missing", "wrong"}) CHECK(count(proxy, result) == 0);

  Visitor waits(proxy);
  CHECK(prefix_of(waits.visit()).size() == 33);
  inside.ask("POST", "/_spillway/rooms/sale/leave", "Spillway-Leave: 1\r\nContent-Length: 0\r\n");
  CHECK(
      proxy.metric_becomes(R"(spillway_waiting_room_open{room="sale"})", 0, Milliseconds(30'000)));
  CHECK(waits.poll().at("state") == "closed");
  CHECK(is_in(waits.visit()));
  CHECK(joined(proxy) == 0);
}

TEST_CASE(
    "a stamp without its work is no way past a network's share while no visitor has to wait") {
  Shop shop;
  const json room = challenging({{"when", "full"}, {"active_sessions", 60}});
  ProxyUnderTest proxy(shop.address(), selling(room, {{"trusted_peers", {"127.0.0.1"}}}));
  const std::string from = "X-Forwarded-For: 203.0.113.7\r\n";
  Visitor visitor(proxy, kNavigation + from);
  Message page;
  for (int n = 0; n < 60 && page.status() != 503; ++n) {
    visitor.carry("");
    page = visitor.visit();
  }
  REQUIRE(page.status() == 503);
  const std::string stamp = visitor.jar();
  REQUIRE(stamp.starts_with("spillway-sale=s"));
  const std::string prefix = prefix_of(page);
  REQUIRE(prefix.size() == 33);
  int in = 0;
  for (int n = 0; n < 40; ++n) {
    visitor.carry(stamp);
    in += is_in(visitor.visit()) ? 1 : 0;
  }
  CHECK(in <= 15);  // as the share gets free again
  visitor.carry(stamp);
  const Message again = visitor.visit();
  REQUIRE(again.status() == 503);
  CHECK(prefix_of(again) == prefix);
  // A program is told so.
  RawClient program(proxy.port());
  const Message refused = program.ask(get("/sale/page", from + "Cookie: " + stamp + "\r\n"));
  CHECK(refused.status() == 403);
  CHECK(reason_of(refused) == "WORK_REQUIRED");
  // With its work it comes in, as its page asks.
  CHECK(visitor.ask("GET", kTicket, kCors + from).status() == 200);
  const Message done = visitor.ask("GET", kTicket, kCors + from + work(solve(prefix)));
  CHECK(json::parse(done.body).at("state") == "closed");
  CHECK(is_in(visitor.visit()));
}

TEST_CASE("a reload switches the challenge on and off, also for visitors that hold a stamp") {
  Shop shop;
  const auto with = [&shop](unsigned bits) {
    return configuration({shop.address()}, selling(challenging(json::object(), bits)));
  };
  ProxyUnderTest proxy(with(0));
  Visitor before(proxy);
  const Message page = before.visit();
  CHECK(between(page.body, "data-bits=\"", "\"").empty());
  REQUIRE(proxy.reload(with(kBits)).status() == 200);
  CHECK(before.ask("GET", kTicket, kCors).status() == 403);
  // The page loads itself again, with the challenge and the same arrival.
  const std::string prefix = prefix_of(before.visit());
  REQUIRE(prefix.size() == 33);
  Visitor during(proxy);
  CHECK(prefix_of(during.visit()).size() == 33);
  REQUIRE(proxy.reload(with(kBits + 4)).status() == 200);
  const std::string nonce = solve(prefix);  // of what was asked before
  CHECK(before.ask("GET", kTicket, kCors + work(nonce)).status() == 403);
  CHECK(before.ask("GET", kTicket, kCors + work(solve(prefix, kBits + 4))).status() == 200);
  CHECK(joined(proxy) == 1);
  REQUIRE(proxy.reload(with(0)).status() == 200);
  CHECK(during.poll().value("state", "") != "arrived");
  CHECK(joined(proxy) == 2);
  CHECK_FALSE(
      json::parse(RawClient(proxy.port()).ask(get("/sale/page")).body).contains("challenge"));
}
