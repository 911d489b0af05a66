// One waiting room of two proxies: they tell the same places, no more are inside than may be, and
// nobody loses a place or is in twice, whatever becomes of a proxy.
#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "support/relay.hpp"
#include "system/fleet/line.hpp"

using namespace spillway;
using namespace spillway::support;
using nlohmann::json;

namespace {

constexpr Milliseconds kLong{60'000};
constexpr Milliseconds kNews{1'000};
constexpr Milliseconds kAgree{3'000};
constexpr Milliseconds kStay{1'200};

json always(std::uint32_t sessions) {
  return {{"active_sessions", sessions}, {"when", "always"}, {"on_store_failure", "hold"}};
}

// Through the relay's socket instead.
std::string url_through(const Relay& relay, const std::string& url) {
  std::string host;
  for (const char c : relay.directory().string()) host += c == '/' ? "%2F" : std::string(1, c);
  return url.substr(0, url.find("host=")) + "host=" + host;
}

std::string socket_of(const std::string& url) {
  std::string path = url.substr(url.find("host=") + 5);
  for (std::size_t at = path.find("%2F"); at != std::string::npos; at = path.find("%2F"))
    path.replace(at, 3, "/");
  return path + "/.s.PGSQL.5432";
}

struct TwoProxies {
  explicit TwoProxies(const json& room)
      : url(postgres.create_database()),
        relay(socket_of(url)),
        first(shared_sale(url_through(relay, url), shop.address(), room)),
        second(shared_sale(url, shop.address(), room)) {}

  std::vector<std::uint16_t> ports() const { return {first.port(), second.port()}; }

  Postgres postgres;
  const std::string url;
  Relay relay;
  SharedShop shop;
  ProxyProcess first;
  ProxyProcess second;
};

bool becomes(const std::function<bool()>& condition, Milliseconds within = kPatience) {
  const Deadline deadline(within);
  while (!condition()) {
    if (deadline.passed()) return false;
  }
  return true;
}

// A place: its first contact, and the second.
void join(Guest& guest, std::uint16_t port) {
  const auto page = guest.visit(port);
  REQUIRE(page);
  CHECK(page->status() == 503);
  REQUIRE(guest.poll(port) != "");
  REQUIRE(guest.holds() == 't');
}

bool enters(Guest& guest, std::uint16_t port) {
  return becomes([&] {
    const auto answer = guest.visit(port);
    return answer && answer->status() == 200;
  });
}

std::int64_t told(std::size_t position) { return static_cast<std::int64_t>(position); }

// The first one is inside, and has none.
bool is_numbered(const std::vector<Guest>& guests, std::uint16_t port) {
  std::set<std::int64_t> positions;
  for (const Guest& guest : guests) positions.insert(position(port, guest.id()));
  return positions.size() == guests.size() && *positions.rbegin() == told(guests.size() - 1);
}

double p99(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() * 99 / 100];
}

}  // namespace

TEST_CASE(
    "two proxies on one PostgreSQL have one line, and a free slot is called within a second") {
  if (!Postgres::is_installed()) return;
  TwoProxies sale(always(1));
  constexpr std::size_t kGuests = 15;
  std::vector<Guest> guests(kGuests);
  join(guests[0], sale.first.port());
  REQUIRE(becomes([&] { return enters(guests[0], sale.first.port()); }));
  for (std::size_t n = 1; n < kGuests; ++n) join(guests[n], sale.ports()[n % 2]);
  // Visitors that come to two proxies within a few milliseconds may change places.
  REQUIRE(becomes([&] { return is_numbered(guests, sale.first.port()); }, kNews));
  std::ranges::sort(guests, {},
                    [&](const Guest& guest) { return position(sale.first.port(), guest.id()); });
  for (std::size_t n = 1; n < kGuests; ++n)
    CHECK(becomes([&] { return position(sale.second.port(), guests[n].id()) == told(n); }, kNews));
  std::vector<double> waits;
  for (std::size_t n = 1; n < kGuests; ++n) {
    Guest& next = guests[n];
    // They ask as their pages do: who is not heard of is not called. One call a second is the pace.
    for (std::size_t m = n; m < std::min(n + 3, kGuests); ++m)
      CHECK(guests[m].poll(sale.ports()[n % 2]) == "waiting");
    const Deadline stay(kStay);
    while (!stay.passed())
      CHECK(look(sale.first.port(), next.id()).value("state", "") == "waiting");
    // The tick after it is told by the other proxy.
    REQUIRE(becomes([&] { return guests[n - 1].leave(sale.ports()[n % 2]); }));
    const auto left = std::chrono::steady_clock::now();
    REQUIRE(becomes([&] {
      return look(sale.ports()[(n + 1) % 2], next.id()).value("state", "") == "processing";
    }));
    const std::chrono::duration<double> wait = std::chrono::steady_clock::now() - left;
    waits.push_back(wait.count());
    REQUIRE(enters(next, sale.ports()[(n + 1) % 2]));
  }
  CHECK(p99(waits) <= 1.0);
  MESSAGE("free slot to called, p99 of ", waits.size(), ": ", p99(waits), " s");
}

TEST_CASE("the control: two proxies that share no store let in as many each") {
  const SharedShop shop;
  ProxyProcess first(shared_sale("memory:", shop.address(), always(1)));
  ProxyProcess second(shared_sale("memory:", shop.address(), always(1)));
  std::vector<Guest> guests(2);
  for (const std::size_t n : {0U, 1U}) {
    const std::uint16_t port = n == 0 ? first.port() : second.port();
    join(guests[n], port);
    CHECK(enters(guests[n], port));
  }
  CHECK(shop.ids().size() == 2);
}

namespace {

constexpr std::uint32_t kCap = 4;
constexpr std::size_t kGuests = 60;

// By id, as that proxy tells it; 0: it is called or inside.
using Places = std::map<std::string, std::int64_t>;

Places places_at(std::uint16_t port, const std::set<std::string>& ids) {
  Places places;
  for (const std::string& id : ids) places[id] = position(port, id);
  return places;
}

bool has_each_once(const Places& places) {
  std::set<std::int64_t> found;
  return std::ranges::all_of(places, [&](const auto& place) {
    return place.second == 0 || found.insert(place.second).second;
  });
}

void order(const ProxyProcess& proxy, const std::string& act) {
  const Message done = RawClient(proxy.admin_port())
                           .ask("POST /rooms/sale/" + act +
                                " HTTP/1.1\r\nHost: localhost\r\n"
                                "Content-Type: application/json\r\nContent-Length: 0\r\n\r\n");
  CHECK(done.status() == 200);
}

// Of all who wait both tell the same place. The room is paused meanwhile, so that none moves.
void check_places(const GuestCrowd& crowd, const ProxyProcess& one, const ProxyProcess& other) {
  order(other, "pause");
  const std::set<std::string> ids = crowd.waiting();
  CHECK(ids.size() >= kGuests / 5);
  Places here, there;
  CHECK(becomes(
      [&] {
        here = places_at(one.port(), ids);
        there = places_at(other.port(), ids);
        return here == there && has_each_once(here) && here != Places();
      },
      kAgree));
  for (const auto& [id, place] : here) {
    CAPTURE(id);
    CHECK(place == there[id]);
  }
  order(other, "resume");
}

// Its `fault` comes once a third are in, and `end` of it after another third, which returns who is
// to agree with the second one.
void check_crowd(TwoProxies& sale, const std::function<void()>& fault,
                 const std::function<const ProxyProcess&(const GuestCrowd&)>& end) {
  GuestCrowd crowd(sale.ports(), kGuests);
  REQUIRE(crowd.comes_to_have_entered(kGuests / 3, kLong));
  check_places(crowd, sale.first, sale.second);
  fault();
  CHECK(crowd.comes_to_have_entered(kGuests * 2 / 3, kLong));
  check_places(crowd, end(crowd), sale.second);
  CHECK(crowd.comes_to_have_entered(kGuests, kLong));
  CHECK(crowd.most_inside() <= kCap);
  CHECK(crowd.lost() == 0);
  CHECK(crowd.ids().size() == kGuests);
  CHECK(sale.shop.ids().size() == kGuests);
  MESSAGE("of ", kGuests, " entered ", crowd.entered(), ", at most ", crowd.most_inside(),
          " at once");
}

}  // namespace

TEST_CASE("of two proxies one is killed: the others go on in the same line") {
  if (!Postgres::is_installed()) return;
  TwoProxies sale(always(kCap));
  std::optional<ProxyProcess> third;
  check_crowd(
      sale, [&] { sale.first.process().signal(SIGKILL); },
      [&](const GuestCrowd&) -> const ProxyProcess& {
        return third.emplace(shared_sale(sale.url, sale.shop.address(), always(kCap)));
      });
}

TEST_CASE("a proxy that is stopped stops nobody's entry, and agrees again when it goes on") {
  if (!Postgres::is_installed()) return;
  TwoProxies sale(always(kCap));
  check_crowd(
      sale, [&] { sale.first.process().signal(SIGSTOP); },
      [&](const GuestCrowd&) -> const ProxyProcess& {
        sale.first.process().signal(SIGCONT);
        return sale.first;
      });
}

TEST_CASE("a proxy that is cut off from PostgreSQL lets nobody in, and comes back") {
  if (!Postgres::is_installed()) return;
  TwoProxies sale(always(kCap));
  check_crowd(
      sale, [&] { sale.relay.cut(); },
      [&](const GuestCrowd& crowd) -> const ProxyProcess& {
        // The control: it tells the places that it knew.
        const auto ids = crowd.waiting();
        CHECK(places_at(sale.first.port(), ids) != places_at(sale.second.port(), ids));
        sale.relay.mend();
        return sale.first;
      });
}

TEST_CASE("no more enter within a minute than per_minute, by both proxies together") {
  if (!Postgres::is_installed()) return;
  json room = always(50);
  room["per_minute"] = 6;
  const TwoProxies sale(room);
  const GuestCrowd crowd(sale.ports(), 12);
  REQUIRE(crowd.comes_to_have_entered(6, kLong));
  CHECK_FALSE(crowd.comes_to_have_entered(7, Milliseconds{5'000}));
  CHECK(crowd.most_in_a_minute() == 6);
}

TEST_CASE("a proxy that is cut off lets visitors in with `open`, and none with `hold`") {
  if (!Postgres::is_installed()) return;
  for (const bool is_open : {true, false}) {
    CAPTURE(is_open);
    json room = always(kCap);
    room["on_store_failure"] = is_open ? "open" : "hold";
    TwoProxies sale(room);
    const GuestCrowd crowd({sale.first.port()}, 16);
    REQUIRE(crowd.comes_to_have_entered(4, kLong));
    sale.relay.cut();
    CHECK(crowd.comes_to_have_entered(12, is_open ? kLong : Milliseconds{4'000}) == is_open);
    sale.relay.mend();
    CHECK(crowd.comes_to_have_entered(16, kLong));
    CHECK(crowd.most_inside() <= kCap);
    CHECK(crowd.lost() == 0);
    CHECK(sale.shop.ids().size() == 16);
  }
}

TEST_CASE("what is left of a place writes no rows in the log, however often it is shown") {
  if (!Postgres::is_installed()) return;
  TwoProxies sale(always(1));
  const auto rows = [&] {
    return std::stoll(Postgres::ask(sale.url, "SELECT number FROM room WHERE name = 'sale'"));
  };
  RawClient client(sale.first.port());
  std::string cookie;
  const auto ask = [&](const std::string& what, const std::string& fields) {
    const Message answer =
        client.ask(what + " HTTP/1.1\r\nHost: a\r\n" + fields + "Cookie: " + cookie + "\r\n\r\n");
    return std::pair(answer.status(), answer.field("Set-Cookie").value_or(""));
  };
  const std::string leave = "POST /_spillway/rooms/sale/leave";
  const std::string leaving = "Spillway-Leave: 1\r\nContent-Length: 0\r\n";
  const auto keep = [&](const std::string& set) { cookie = set.substr(0, set.find(';')); };

  keep(ask("GET /sale/page", "Accept: text/html\r\nSec-Fetch-Mode: navigate\r\n").second);
  REQUIRE(cookie.starts_with("spillway-sale=s"));
  auto before = rows();
  for (int n = 0; n < 200; ++n) REQUIRE(ask(leave, leaving).first == 204);
  CHECK(rows() - before < 100);

  keep(ask("GET /_spillway/rooms/sale/ticket", "Sec-Fetch-Mode: cors\r\n").second);
  REQUIRE(cookie.starts_with("spillway-sale=t"));
  const auto with = rows();
  REQUIRE(ask(leave, leaving).first == 204);
  CHECK(rows() > with);  // the control: it was a place
  before = rows();
  for (int n = 0; n < 200; ++n) {
    REQUIRE(ask(leave, leaving).first == 404);
    REQUIRE(ask("POST /_spillway/rooms/sale/extend", "Content-Length: 0\r\n").first == 404);
  }
  CHECK(rows() - before < 100);
}

TEST_CASE("a device is one visitor's: both proxies say whose, and one that is cut off gives none") {
  if (!Postgres::is_installed()) return;
  const json devices = json::array({{{"type", "gpu"}, {"name", "lab"}, {"count", 2}}});
  TwoProxies sale({{"resources", devices}, {"on_store_failure", "open"}});
  std::vector<Guest> guests(3);
  std::set<std::string> given;
  for (std::size_t n = 0; n < 2; ++n) {
    join(guests[n], sale.ports()[n % 2]);
    const std::uint16_t there = sale.ports()[(n + 1) % 2];
    REQUIRE(becomes([&] { return enters(guests[n], there); }));
    const std::string device = look(there, guests[n].id()).value("resource", "");
    given.insert(device);
    CHECK(becomes(
        [&] { return look(sale.ports()[n % 2], guests[n].id()).value("resource", "") == device; }));
  }
  CHECK(given == std::set<std::string>{"lab-1", "lab-2"});
  join(guests[2], sale.first.port());
  CHECK(position(sale.first.port(), guests[2].id()) == 1);
  sale.relay.cut();
  const Deadline while_cut(Milliseconds{4'000});
  while (!while_cut.passed()) {
    // What was given is good; nothing is given, though `open` lets visitors in elsewhere.
    const auto inside = guests[0].visit(sale.first.port());
    CHECK((inside && inside->status() == 200));
    CHECK(guests[2].poll(sale.first.port()) != "processing");
  }
  REQUIRE(becomes([&] { return guests[1].leave(sale.second.port()); }));
  REQUIRE(becomes([&] { return enters(guests[2], sale.second.port()); }));
  const std::string device = look(sale.second.port(), guests[2].id()).value("resource", "");
  CHECK(given.contains(device));
  sale.relay.mend();
  CHECK(becomes(
      [&] { return look(sale.first.port(), guests[2].id()).value("resource", "") == device; },
      kLong));
  CHECK(look(sale.first.port(), guests[0].id()).value("resource", "") != device);
}
