// Requests served through a client session without a socket.
#include "proxy/request/client/client_session.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/exchange/exchange.hpp"
#include "unit/cache/rules/asking.hpp"
#include "unit/proxy/request/lone_process.hpp"
#include "unit/proxy/request/scripted_session.hpp"

namespace spillway::proxy {
namespace {

using nlohmann::json;
using std::chrono::seconds;

// One request, served as far as it goes without being told of anything.
struct Request {
  Request(Process& process, std::string head, std::vector<std::string> body = {},
          std::size_t room = kAnyNumber, bool has_head_room = true)
      : session(std::move(head), room) {
    session.has_head_room = has_head_room;
    for (std::string& piece : body) session.receive(std::move(piece));
    exchange.emplace(process.services, *process.generation, session, parking, key);
    serve();
  }

  ScriptedSession session;
  Parking parking;
  cache::CacheKey key;
  std::optional<Exchange> exchange;
  bool is_over = false;

 private:
  Detached serve() {
    co_await exchange->serve(std::nullopt);
    is_over = true;
  }
};

}  // namespace

TEST_CASE("a request that is not well formed is answered without its upstream") {
  struct Case {
    std::string_view name;
    std::string head;
    unsigned status;
    std::string problem;
    bool is_next_known;
  };
  const std::vector<Case> cases{
      {"no host", "GET / HTTP/1.1\r\n\r\n", 400, "BAD_REQUEST", false},
      {"a tunnel", "CONNECT h:1 HTTP/1.1\r\nHost: h\r\n\r\n", 405, "BAD_REQUEST", false},
      {"a length and chunks", post("Content-Length: 1\r\nTransfer-Encoding: chunked\r\n"), 400,
       "BAD_REQUEST", false},
      {"a body above the limit", post("Content-Length: 1001\r\n"), 413, "BAD_REQUEST", false},
      {"no further than here", "OPTIONS * HTTP/1.1\r\nHost: h\r\nMax-Forwards: 0\r\n\r\n", 200, "",
       true},
  };
  Process process;
  for (const Case& c : cases) {
    CAPTURE(c.name);
    const Request request(process, c.head);
    CHECK(request.is_over);
    CHECK(request.session.status() == c.status);
    CHECK(request.session.problem == c.problem);
    CHECK(request.session.is_next_known == c.is_next_known);
    CHECK(request.session.is_open());
  }
}

TEST_CASE("a refused request is answered without its upstream") {
  struct Case {
    std::string_view name;
    json rule;
    std::string head;
    unsigned status;  // 0: closed without an answer
    std::string problem;
  };
  const json deny = {{"strategy", "deny"}, {"probability", 1}};
  const json drop = {{"strategy", "drop"}, {"probability", 1}};
  const std::vector<Case> cases{
      {"denied", deny, get(), 503, "ERROR_BURST"},
      {"denied with a body on its way", deny, post("Content-Length: 10\r\n"), 503, "ERROR_BURST"},
      {"dropped", drop, get(), 0, ""},
      {"too late",
       {{"strategy", "allow"}},
       get("X-Request-Deadline: 0ms\r\n"),
       503,
       "DEADLINE_EXPIRED"},
  };
  for (const Case& c : cases) {
    CAPTURE(c.name);
    Process process(c.rule);
    process.overload();
    const Request request(process, c.head);
    CHECK(request.is_over);
    CHECK(request.session.status() == c.status);
    CHECK(request.session.problem == c.problem);
    CHECK(request.session.is_open() == (c.status != 0));
    CHECK(request.session.is_next_known);
  }
}

TEST_CASE("a route's fallback is sent as fast as the client takes it") {
  const json skip = {{"strategy", "degrade"}, {"mode", "skip_downstream"}};
  for (const std::size_t room : {kAnyNumber, std::size_t{1000}, std::size_t{5}, std::size_t{0}}) {
    CAPTURE(room);
    Process process(skip);
    process.overload();
    Request request(process, get(), {}, room);
    int turns = 0;
    for (; !request.is_over; ++turns) {
      REQUIRE(turns < 100);
      CHECK(request.session.client_turns == 1);  // from the first wait to the last byte
      request.session.take_more(1);
    }
    CHECK((turns == 0) == (room > 12));
    CHECK(request.session.status() == 203);
    CHECK(request.session.sent == "{\"items\":[]}");
    CHECK(request.session.degraded == "skip_downstream");
  }
}

TEST_CASE("a response of the proxy itself whose head has no room is no fault of the client's") {
  Process process(json{{"strategy", "degrade"}, {"mode", "skip_downstream"}});
  const auto is_told = [&process] {
    const Request request(process, get(), {}, kAnyNumber, false);
    CHECK(request.is_over);
    CHECK(request.session.status() == 500);
    CHECK(request.session.problem == "RESPONSE_TOO_LARGE");
    CHECK(request.session.is_open());
  };
  SUBCASE("the fallback") { process.overload(); }
  SUBCASE("a stored one") {
    cache::Request asked("/a");
    asked.authority = "h";
    cache::Response stored("stored", {{"Cache-Control", "max-age=60"}});
    REQUIRE(cache::store(*process.generation->cache(RouteId{}), asked, stored, Clock::now()));
  }
  is_told();
}

TEST_CASE("what is stored answers without its upstream") {
  struct Case {
    std::string_view name;
    seconds age;  // of what is stored, which is fresh for 60 s
    std::string fields;
    unsigned status;
    std::string sent;
    int refreshes = 0;
  };
  const std::vector<Case> cases{
      {"fresh", seconds(10), "", 200, "stored"},
      {"only if stored", seconds(10), "Cache-Control: only-if-cached\r\n", 200, "stored"},
      {"known to the client", seconds(10), "If-None-Match: \"1\"\r\n", 304, ""},
      {"stale and soon fresh again", seconds(70), "", 200, "stored", 1},
      {"too old", seconds(1000), "Cache-Control: only-if-cached\r\n", 504, ""},
      {"not fresh enough", seconds(10), "Cache-Control: only-if-cached, max-age=5\r\n", 504, ""},
  };
  for (const Case& c : cases) {
    CAPTURE(c.name);
    for (const std::size_t room : {kAnyNumber, std::size_t{4}}) {
      Process process;
      cache::Request asked("/a");
      asked.authority = "h";
      cache::Response stored("stored", {{"Cache-Control", "max-age=60, stale-while-revalidate=60"},
                                        {"ETag", "\"1\""}});
      REQUIRE(
          cache::store(*process.generation->cache(RouteId{}), asked, stored, Clock::now() - c.age));
      Request request(process, get(c.fields), {}, room);
      if (room < c.sent.size()) {
        CHECK_FALSE(request.is_over);
        CHECK(request.session.sent == c.sent.substr(0, room));
        request.session.take_more(100);
      }
      CHECK(request.is_over);
      CHECK(request.session.status() == c.status);
      CHECK(request.session.sent == c.sent);
      CHECK(request.session.problem == (c.status == 504 ? "NOT_STORED" : ""));
      CHECK(process.owner.refreshes == c.refreshes);
    }
  }
}

TEST_CASE("a client that leaves while it is sent something ends its request") {
  const json skip = {{"strategy", "degrade"}, {"mode", "skip_downstream"}};
  Process process(skip);
  process.overload();
  Request request(process, get(), {}, 5);
  CHECK_FALSE(request.is_over);
  request.session.leave();
  CHECK(request.is_over);
  CHECK_FALSE(request.session.is_open());
}

TEST_CASE("a small body is read in pieces before the request asks for a slot") {
  struct Case {
    std::string_view name;
    std::string fields;
    std::vector<std::string> first, later;
    unsigned status;
    std::string problem;
  };
  // The deadline has passed: the gate refuses at once, and shows that the request came to it.
  const std::string late = "X-Request-Deadline: 0ms\r\n";
  const std::string counted = late + "Content-Length: 5\r\n";
  const std::string chunked = late + "Transfer-Encoding: chunked\r\n";
  const std::vector<Case> cases{
      {"at hand", counted, {"hello"}, {}, 503, "DEADLINE_EXPIRED"},
      {"in two pieces", counted, {"he"}, {"llo"}, 503, "DEADLINE_EXPIRED"},
      {"later", counted, {}, {"h", "e", "llo"}, 503, "DEADLINE_EXPIRED"},
      {"chunked", chunked, {"3\r\nab"}, {"c\r\n0\r", "\n\r\n"}, 503, "DEADLINE_EXPIRED"},
      {"a bad chunk at hand", chunked, {"x\r\n"}, {}, 400, "BAD_REQUEST"},
      {"a bad chunk later", chunked, {"3\r\nabc\r\n"}, {"x\r\n"}, 400, "BAD_REQUEST"},
      {"too large", chunked, {}, {"fff\r\n"}, 413, "BAD_REQUEST"},
  };
  for (const Case& c : cases) {
    CAPTURE(c.name);
    Process process;
    Request request(process, post(c.fields), c.first);
    for (const std::string& piece : c.later) {
      CHECK_FALSE(request.is_over);
      CHECK(request.parking.parked());
      CHECK(request.parking.deadline() < kNever);
      request.session.receive(piece);
    }
    CHECK(request.is_over);
    CHECK(request.session.status() == c.status);
    CHECK(request.session.problem == c.problem);
  }
}

TEST_CASE("a body that does not come in time and a client that leaves before end the request") {
  Process process;
  Request slow(process, post("Content-Length: 5\r\n"), {"he"});
  REQUIRE_FALSE(slow.is_over);
  slow.parking.wake(Wake::timeout);
  CHECK(slow.is_over);
  CHECK(slow.session.status() == 408);
  CHECK(slow.session.problem == "REQUEST_TIMEOUT");
  CHECK_FALSE(slow.session.is_next_known);

  Request gone(process, post("Content-Length: 5\r\n"), {"he"});
  REQUIRE_FALSE(gone.is_over);
  gone.session.leave();
  CHECK(gone.is_over);
  CHECK(gone.session.status() == 0);
  CHECK_FALSE(gone.session.is_open());
}

TEST_CASE("a request in the queue ends with its wait or with its client") {
  Process process;
  process.take_the_only_slot();
  Request gone(process, get());
  REQUIRE_FALSE(gone.is_over);
  CHECK(gone.parking.watches_client());
  gone.parking.wake(Wake::client_gone);
  CHECK(gone.is_over);
  CHECK(gone.session.status() == 0);
  CHECK_FALSE(gone.session.is_open());

  Request waits(process, get("X-Request-Deadline: 60000ms\r\n"));
  REQUIRE_FALSE(waits.is_over);
  process.loop.poll();
  CHECK_FALSE(waits.is_over);
  process.gate().expire(Clock::now() + std::chrono::hours(1));
  process.loop.poll();  // its worker is told
  CHECK(waits.is_over);
  CHECK(waits.session.status() == 503);
  CHECK(waits.session.is_open());
}

}  // namespace spillway::proxy
