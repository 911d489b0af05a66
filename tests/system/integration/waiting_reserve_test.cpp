// A visitor that leaves with a reservation is called by the webhook while it is away.
#include <doctest/doctest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "support/temporary_directory.hpp"
#include "system/integration/jobs_operator.hpp"
#include "system/integration/webhook_receiver.hpp"

using namespace spillway;
using namespace spillway::support;
using nlohmann::json;

namespace {

const std::string kRoom = "/_spillway/rooms/sale";
const std::string kAnn = "X-User: ann \"the\" first\r\n";
const std::string kForm =
    "Accept: text/html\r\nSec-Fetch-Site: same-origin\r\nContent-Length: 0\r\n";
const std::string kEmpty = "Content-Length: 0\r\n";

json reserving(const TemporaryDirectory& directory, const std::string& shop,
               const std::string& receiver, json reserve = json::object()) {
  json settings = telling(directory, shop, receiver);
  settings.merge_patch(
      {{"trusted_peers", {"127.0.0.0/8"}}, {"trusted_headers", {{"user", "X-User"}}}});
  json& room = settings["routes"][0]["waiting_room"];
  room["reserve"] = std::move(reserve);
  room["poll"] = {{"min_ms", 1000}, {"max_ms", 1000}};
  return settings;
}

// A sale with one session, which is taken.
struct Full {
  explicit Full(json reserve = json::object())
      : proxy(reserving(directory, shop.address(), receiver.address(), std::move(reserve))) {
    inside.join();
    REQUIRE(inside.is_called());
    REQUIRE(is_in(inside.visit()));
  }
  void make_room() { inside.ask("POST", kRoom + "/leave", "Spillway-Leave: 1\r\n" + kEmpty); }
  json report(const std::string& id) const {
    return Operator{proxy.admin_port()}.get("/rooms/sale/tickets/" + id);
  }
  bool is_gone(const std::string& id) const {
    const Deadline deadline(kPatience);
    while (!deadline.passed()) {
      if (!report(id).at("present")) return true;
    }
    return false;
  }

  const TemporaryDirectory directory;
  Shop shop;
  Receiver receiver;
  ProxyUnderTest proxy;
  Visitor inside{proxy};
};

// Of one ticket.
std::vector<json> events_of(const std::vector<Message>& requests, const std::string& id) {
  std::vector<json> events;
  for (const Message& request : requests) {
    json body = json::parse(request.body);
    if (body.at("ticket") == id) events.push_back(std::move(body));
  }
  return events;
}

bool shows(const std::string& page, const std::string& when) {
  const std::size_t at = page.find(" data-when=\"" + when + "\"");
  REQUIRE(at != std::string::npos);
  return page.substr(at, page.find('>', at) - at).find(" hidden") == std::string::npos;
}

}  // namespace

TEST_CASE("a visitor leaves by the page's form, is called while it is away, and comes in") {
  Full full;
  Visitor ann(full.proxy, kNavigation + kAnn);
  const std::string id = ann.join().at("id");
  Visitor other(full.proxy);
  const std::string control = other.join().at("id");
  const std::string page = ann.visit().body;
  CHECK(page.find("action=\"" + kRoom + "/reserve\"") != std::string::npos);
  CHECK(shows(page, "may_reserve"));
  CHECK_FALSE(shows(page, "reserved"));
  CHECK_FALSE(shows(other.visit().body, "may_reserve"));  // whoever cannot be reached

  const Message back = ann.ask("POST", kRoom + "/reserve", kForm + kAnn);
  CHECK(back.status() == 303);
  CHECK(back.field("Set-Cookie"));
  const std::string after = ann.visit().body;
  CHECK_FALSE(shows(after, "may_reserve"));
  CHECK(shows(after, "reserved"));
  CHECK(after.find("15 min") != std::string::npos);
  CHECK(full.report(id).at("reserved") == true);

  // Both go. One is called; the other, that has not reserved, is not. It has asked as the page's
  // script does, so it is soon missed.
  other.poll();
  REQUIRE(full.is_gone(control));
  CHECK(full.report(id).at("present") == true);
  full.make_room();
  const auto events = events_of(full.receiver.requests(7), id);
  REQUIRE(events.size() == 3);
  CHECK(events[0].at("event") == "joined");
  CHECK(events[1].at("event") == "reserved");
  CHECK(events[1].at("user") == "ann \"the\" first");
  CHECK(events[2].at("event") == "called");
  CHECK(events[2].at("reserved") == true);
  CHECK(events[2].at("claim_ms") == 900'000);
  CHECK_FALSE(events[2].contains("user"));
  CHECK(events_of(full.receiver.requests(7), control).size() == 1);  // joined
  CHECK(is_in(ann.visit()));
}

TEST_CASE("a program reserves with its token at the address that it is told, and with no id") {
  Full full(json{{"anonymous", true}});
  const std::string post = "Spillway-Join: 1\r\n" + kEmpty;
  const auto ask = [&](const std::string& method, const std::string& target,
                       const std::string& fields) {
    return RawClient(full.proxy.port())
        .ask(method + " " + target + " HTTP/1.1\r\nHost: a\r\n" + fields + "\r\n");
  };
  const auto token = [](const Message& of) {
    return "Spillway-Ticket: " + of.field("Spillway-Ticket").value_or("") + "\r\n";
  };
  const auto join = [&] {
    const Message stamp = ask("POST", kRoom + "/tickets", post);
    leave_the_millisecond();
    return ask("POST", kRoom + "/tickets", token(stamp) + post);
  };
  const Message made = join();
  REQUIRE(made.status() == 201);
  const json state = json::parse(made.body);
  const std::string address = kRoom + "/tickets/" + state.at("id").get<std::string>() + "/reserve";
  const std::string link = "<" + address + ">; rel=\"edit\"";
  CHECK(state.at("may_reserve") == true);
  const auto links_to = [&](const Message& answer) {
    const std::pair<std::string, std::string> wanted{"Link", link};
    return std::ranges::find(answer.fields, wanted) != answer.fields.end();
  };
  CHECK(links_to(made));
  const Message problem = ask("GET", "/sale/page", token(made));
  CHECK(problem.field("Content-Type") == "application/problem+json");
  CHECK(links_to(problem));
  // An id is not enough, nor is another ticket's token; and a page of another site cannot.
  CHECK(ask("POST", address, kEmpty).status() == 404);
  CHECK(ask("POST", address, token(join()) + kEmpty).status() == 404);
  CHECK(ask("POST", address, token(made) + kEmpty + "Sec-Fetch-Site: cross-site\r\n").status() ==
        403);
  CHECK(ask("GET", address, token(made)).status() == 405);
  CHECK_FALSE(json::parse(ask("GET", kRoom + "/ticket", token(made)).body).contains("reserved"));

  const Message reserved = ask("POST", address, token(made) + kEmpty);
  REQUIRE(reserved.status() == 200);
  CHECK(json::parse(reserved.body).at("reserved") == true);
  CHECK_FALSE(json::parse(reserved.body).contains("may_reserve"));
  CHECK_FALSE(links_to(reserved));
  CHECK(ask("POST", address, token(reserved) + kEmpty).status() == 200);  // again
  full.make_room();
  const auto events = events_of(full.receiver.requests(7), state.at("id"));
  REQUIRE(events.size() == 3);
  CHECK(events[1].at("event") == "reserved");
  CHECK_FALSE(events[1].contains("user"));
  CHECK(is_in(ask("GET", "/sale/page", token(reserved))));
  CHECK(ask("POST", address, token(reserved) + kEmpty).status() == 404);  // it is inside
}

TEST_CASE("who cannot be reached makes no reservation unless it is configured so") {
  Full full;
  Visitor anybody(full.proxy);
  const json state = anybody.join();
  CHECK_FALSE(state.contains("may_reserve"));
  CHECK(anybody.ask("POST", kRoom + "/reserve", kEmpty).status() == 403);
  // Nor does one whose user is not the ticket's.
  CHECK(anybody.ask("POST", kRoom + "/reserve", kEmpty + kAnn).status() == 403);
  Visitor ann(full.proxy, kNavigation + kAnn);
  CHECK(ann.join().at("may_reserve") == true);
  CHECK(ann.ask("POST", kRoom + "/reserve", kEmpty).status() == 403);
  CHECK(ann.ask("POST", kRoom + "/reserve", kEmpty + kAnn).status() == 200);
}

TEST_CASE("without the key there are no reservations, and the page says nothing of them") {
  const TemporaryDirectory directory;
  Shop shop;
  Receiver receiver;
  ProxyUnderTest proxy(telling(directory, shop.address(), receiver.address()));
  Visitor first(proxy), visitor(proxy);
  first.join();
  CHECK_FALSE(visitor.join().contains("may_reserve"));
  CHECK(visitor.ask("POST", kRoom + "/reserve", kEmpty).status() == 404);
  CHECK(visitor.visit().body.find("/reserve\"") == std::string::npos);
}
