// Places in a waiting room survive the process; what happens when they cannot be written down.
#include <doctest/doctest.h>
#include <sys/resource.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "store/contract/place_store.hpp"
#include "support/postgres.hpp"
#include "support/proxy_process.hpp"
#include "support/temporary_directory.hpp"
#include "system/integration/jobs_operator.hpp"
#include "system/integration/sale.hpp"

using namespace spillway;
using namespace spillway::support;
using nlohmann::json;

namespace {

const std::string kKept = "spillway_waiting_room_places_kept";

json kept_in(const TemporaryDirectory& directory) {
  return {{"workers", 1},
          {"store", {{"url", "sqlite:" + (directory.path() / "jobs.db").string()}}}};
}

json one_at_a_time(const TemporaryDirectory& directory, json more = json::object()) {
  json room{{"active_sessions", 1}, {"when", "always"}};
  room.merge_patch(more);
  return selling(room, kept_in(directory));
}

// Whose files may not grow beyond this, so that it soon cannot write.
class CrampedProxy {
 public:
  CrampedProxy(const Shop& shop, const TemporaryDirectory& directory, const std::string& policy,
               json room = json::object())
      : proxy_(configuration({shop.address()}, one_at_a_time(directory, with(policy, room))),
               {"prlimit", "--fsize=131072:unlimited"}) {}

  std::uint16_t port() const { return proxy_.port(); }
  bool keeps_places() const {
    const Message metrics =
        RawClient(proxy_.admin_port()).ask("GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n");
    return metrics.body.find("\n" + kKept + " 1\n") != std::string::npos;
  }
  // By what `comes` has a visitor do.
  template <class Comes>
  bool becomes_cramped(Comes comes) {
    const Deadline deadline(Milliseconds(30'000));
    while (keeps_places() && !deadline.passed()) {
      Visitor visitor(*this);
      comes(visitor);
    }
    return !keeps_places();
  }
  void give_room() {
    const rlimit unlimited{RLIM_INFINITY, RLIM_INFINITY};
    REQUIRE(::prlimit(proxy_.process().pid(), RLIMIT_FSIZE, &unlimited, nullptr) == 0);
  }

 private:
  static json with(const std::string& policy, json room) {
    room.merge_patch({{"on_store_failure", policy}, {"max_wait_ms", 86'400'000}});
    return room;
  }

  mutable ProxyProcess proxy_;
};

bool leave_line(Visitor& visitor) {
  const Message answer = visitor.ask("POST", "/_spillway/rooms/sale/leave",
                                     "Spillway-Leave: 1\r\nContent-Length: 0\r\n");
  return answer.status() == 204;
}

}  // namespace

TEST_CASE("after a restart everybody is where it was") {
  const TemporaryDirectory directory;
  Shop shop;
  std::string inside;
  std::vector<std::string> waiting;
  {
    ProxyUnderTest proxy(shop.address(), one_at_a_time(directory));
    CHECK(proxy.metric(kKept) == 1);
    Visitor visitor(proxy);
    visitor.join();
    REQUIRE(visitor.is_called());
    REQUIRE(is_in(visitor.visit()));
    inside = visitor.jar();
    for (int n = 0; n < 5; ++n) {
      Visitor next(proxy);
      CHECK(next.join().value("position", 0) == n + 1);
      waiting.push_back(next.jar());
    }
  }
  CHECK(std::filesystem::exists(directory.path() / "jobs-places.db"));
  CHECK_FALSE(std::filesystem::exists(directory.path() / "jobs.db"));  // no route defers
  ProxyUnderTest proxy(shop.address(), one_at_a_time(directory));
  Visitor newcomer(proxy);
  CHECK(newcomer.join().value("position", 0) == 6);
  for (std::size_t n = waiting.size(); n-- > 0;) {
    Visitor visitor(proxy);
    visitor.carry(waiting[n]);
    CHECK(visitor.poll().value("position", 0) == static_cast<int>(n) + 1);
  }
  Visitor visitor(proxy);
  visitor.carry(inside);
  CHECK(is_in(visitor.visit()));
  Visitor first(proxy);
  first.carry(waiting[0]);
  CHECK(first.visit().status() == 503);  // the session still counts
  CHECK(leave_line(visitor));
  REQUIRE(first.is_called());
  CHECK(is_in(first.visit()));
}

TEST_CASE(
    "after a restart a waiting room is paused as it was, and its visitors are told the same") {
  const TemporaryDirectory directory;
  Shop shop;
  std::string ticket;
  {
    ProxyUnderTest proxy(shop.address(), one_at_a_time(directory));
    const Operator desk{proxy.admin_port()};
    desk.post("/rooms/sale/pause");
    desk.post("/rooms/sale/message", {{"text", "Back at three."}});
    Visitor visitor(proxy);
    CHECK(visitor.join().value("why", "") == "paused");
    ticket = visitor.jar();
  }
  ProxyUnderTest proxy(shop.address(), one_at_a_time(directory));
  Visitor visitor(proxy);
  visitor.carry(ticket);
  const json told = visitor.poll();
  CHECK(told.value("state", "") == "waiting");
  CHECK(told.value("why", "") == "paused");
  CHECK(told.value("message", "") == "Back at three.");
  Operator{proxy.admin_port()}.post("/rooms/sale/resume");
  CHECK(visitor.is_called());
}

TEST_CASE("a waiting room that is gone at a restart or a reload takes its places with it") {
  const TemporaryDirectory directory;
  Shop shop;
  const json with = configuration({shop.address()}, one_at_a_time(directory));
  const json without = configuration({shop.address()}, kept_in(directory));
  std::string ticket;
  const auto take_ticket = [&](const ProxyUnderTest& proxy) {
    Visitor inside(proxy);
    inside.join();
    Visitor visitor(proxy);
    CHECK(visitor.join().value("position", 0) == 2);
    ticket = visitor.jar();
  };
  const auto has_place = [&](const ProxyUnderTest& proxy) {
    Visitor visitor(proxy);
    visitor.carry(ticket);
    return visitor.poll().value("state", "") == "waiting";
  };
  {
    ProxyUnderTest proxy(with);
    take_ticket(proxy);
    CHECK(has_place(proxy));
    CHECK(proxy.reload(without).status() == 200);
  }
  {
    ProxyUnderTest proxy(without);  // which does not keep the file open
    CHECK(is_in(Visitor(proxy).visit()));
    CHECK(proxy.reload(with).status() == 200);
    CHECK(proxy.metric(kKept) == 1);
    take_ticket(proxy);
  }
  ProxyUnderTest proxy(with);
  CHECK(has_place(proxy));
}

TEST_CASE("a process without waiting rooms deletes the places that a former one left in the file") {
  const TemporaryDirectory directory;
  Shop shop;
  const auto rooms_in_file = [&] {
    const auto opened = store::open_places(directory.path() / "jobs-places.db", {});
    store::PlacesRead read;
    REQUIRE(opened.store);
    REQUIRE(!opened.store->read(read));
    return read.rooms.size();
  };
  {
    ProxyUnderTest proxy(shop.address(), one_at_a_time(directory));
    Visitor(proxy).join();
  }
  REQUIRE(rooms_in_file() == 1);
  const auto start_without = [&] {
    const ProxyUnderTest proxy(configuration({shop.address()}, kept_in(directory)));
  };
  start_without();
  CHECK_MESSAGE(rooms_in_file() == 1, "it may be a mistake");
  const auto file = directory.path() / "jobs-places.db";
  std::filesystem::last_write_time(
      file, std::filesystem::file_time_type::clock::now() - std::chrono::days(8));
  start_without();
  CHECK(rooms_in_file() == 0);
}

TEST_CASE("a file of places that is in use stops no process without waiting rooms") {
  const TemporaryDirectory directory;
  Shop shop;
  ProxyUnderTest keeper(shop.address(), one_at_a_time(directory));
  Visitor visitor(keeper);
  visitor.join();
  ProxyUnderTest proxy(configuration({shop.address()}, kept_in(directory)));
  CHECK(is_in(Visitor(proxy).visit()));
  CHECK(visitor.is_called());
}

TEST_CASE(
    "a process without waiting rooms deletes rooms that no proxy has any more, in PostgreSQL") {
  if (!Postgres::is_installed()) return;
  Postgres postgres;
  Shop shop;
  const std::string url = postgres.create_database();
  const json kept{{"store", {{"url", url}}}};
  {
    ProxyUnderTest proxy(shop.address(), selling(always(), kept));
    Visitor(proxy).join();
  }
  const std::string rooms = "SELECT count(*) FROM room";
  Postgres::ask(url, "INSERT INTO room SELECT 'fresh', number, time FROM room");
  Postgres::ask(url, "UPDATE room SET time = 1 WHERE name = 'sale'");
  REQUIRE(Postgres::ask(url, rooms) == "2");
  const ProxyUnderTest proxy(configuration({shop.address()}, kept));
  const Deadline deadline(kPatience);
  while (Postgres::ask(url, rooms) != "1" && !deadline.passed()) {
  }
  CHECK(Postgres::ask_all(url, "SELECT name FROM room") == "fresh\n");
  CHECK(Postgres::ask(url, "SELECT count(*) FROM room_row WHERE room = 'sale'") == "0");
}

TEST_CASE("a reload that renames a route with visitors in its waiting room is refused") {
  Shop shop;
  const auto named = [&shop](const std::string& name) {
    json settings = configuration({shop.address()}, selling(always()));
    settings["routes"][0]["name"] = name;
    return settings;
  };
  ProxyUnderTest proxy(named("sale"));
  Visitor visitor(proxy);
  visitor.join();
  const Message refused = proxy.reload(named("shop"));
  CHECK(refused.status() == 422);
  CHECK(refused.body.find("whose waiting room has visitors (1)") != std::string::npos);
  CHECK(refused.body.find("or end the waiting room first") != std::string::npos);
  CHECK(visitor.is_called());
  CHECK(is_in(visitor.visit()));
  CHECK(proxy.reload(named("shop")).status() == 422);  // it is inside
  CHECK(
      visitor
          .ask("POST", "/_spillway/rooms/sale/leave", "Spillway-Leave: 1\r\nContent-Length: 0\r\n")
          .status() == 204);
  CHECK(proxy.reload(named("shop")).status() == 200);  // the control: no visitors
}

TEST_CASE("a file that is no store of places is not touched, and the proxy does not start") {
  const TemporaryDirectory directory;
  Shop shop;
  directory.write("jobs-places.db", std::string(5000, 'x'));
  std::string problem;
  try {
    const ProxyUnderTest proxy(shop.address(), one_at_a_time(directory));
  } catch (const std::exception& error) {
    problem = error.what();
  }
  CAPTURE(problem);
  CHECK(problem.find("jobs-places.db") != std::string::npos);
  CHECK(std::filesystem::file_size(directory.path() / "jobs-places.db") == 5000);
}

TEST_CASE("while places cannot be written, hold calls nobody and open goes on") {
  Shop shop;
  for (const std::string policy : {"hold", "open"}) {
    CAPTURE(policy);
    const TemporaryDirectory directory;
    CrampedProxy proxy(shop, directory, policy);
    CHECK(proxy.keeps_places());
    Visitor inside(proxy);
    inside.join();
    REQUIRE(inside.is_called());
    REQUIRE(is_in(inside.visit()));
    Visitor next(proxy);
    CHECK(next.join().value("position", 0) == 1);
    REQUIRE(proxy.becomes_cramped([](Visitor& more) { more.join(); }));
    CHECK(is_in(inside.visit()));  // who is inside goes on
    CHECK(leave_line(inside));
    if (policy == "hold") {
      const Deadline some_ticks(Milliseconds(500));
      const std::string id = next.poll().value("id", "");
      while (!some_ticks.passed()) CHECK(next.look(id).value("state", "") == "waiting");
      CHECK_FALSE(proxy.keeps_places());
      proxy.give_room();
    }
    CHECK(next.is_called());
    CHECK(is_in(next.visit()));
    CHECK(proxy.keeps_places() == (policy == "hold"));
  }
}

TEST_CASE("while places cannot be written, hold lets no newcomer in and makes no ticket") {
  Shop shop;
  for (const std::string policy : {"hold", "open"}) {
    CAPTURE(policy);
    const bool is_held = policy == "hold";
    const TemporaryDirectory directory;
    // There is room, and no line.
    CrampedProxy proxy(shop, directory, policy, {{"active_sessions", 1'000'000}, {"when", "full"}});
    Visitor inside(proxy);
    REQUIRE(is_in(inside.visit()));
    const auto begin_session = [](Visitor& visitor) {
      visitor.visit();
      visitor.visit();
    };
    begin_session(inside);
    REQUIRE(proxy.becomes_cramped(begin_session));
    CHECK(is_in(inside.visit()));
    Visitor newcomer(proxy);
    const Deadline a_tick(kPatience);
    while (is_held && is_in(Visitor(proxy).visit()) && !a_tick.passed()) {
    }
    CHECK(is_in(newcomer.visit()) != is_held);
    const Message form = Visitor(proxy).ask("POST", "/sale/page", "Content-Length: 0\r\n");
    CHECK(is_in(form) != is_held);
    if (!is_held) continue;
    CHECK(newcomer.visit().status() == 503);
    const json told = newcomer.poll();
    CHECK(told.value("state", "") == "arrived");
    CHECK_FALSE(told.contains("position"));
    const std::string join = "Spillway-Join: 1\r\nContent-Length: 0\r\n";
    const Message refused = newcomer.ask("POST", "/_spillway/rooms/sale/tickets", join);
    CHECK(refused.status() == 503);
    CHECK(refused.body.find("STORE_UNAVAILABLE") != std::string::npos);
    proxy.give_room();
    const Deadline deadline(kPatience);
    bool is_let_in = false;
    while (!is_let_in && !deadline.passed()) is_let_in = is_in(newcomer.visit());
    CHECK(is_let_in);
  }
}
