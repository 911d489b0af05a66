// The way back: a response that the test plays, to a client that takes it as the test says.
#include "proxy/exchange/response_relay.hpp"

#include <doctest/doctest.h>

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "unit/proxy/exchange/relayed_response.hpp"

namespace spillway::proxy {
namespace {

using observe::ServerFailure;
using std::chrono::seconds;

const std::string kLength5 = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n";
const std::string kChunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
const std::string kUntilClose = "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n";

}  // namespace

TEST_CASE("a response comes to its client as it is, in pieces of any size, however it is taken") {
  struct Case {
    std::string_view what;
    std::string head, body, content;
    bool ends_with_connection = false;
  };
  const std::vector<Case> cases{
      {"with a length", kLength5, "hello", "hello"},
      {"in chunks", kChunked, "2\r\nhe\r\n3;x=y\r\nllo\r\n0\r\nA: b\r\n\r\n", "hello"},
      {"until the end", kUntilClose, "hello", "hello", true},
  };
  for (const Case& c : cases) {
    CAPTURE(c.what);
    for (const std::size_t room : {kAnyNumber, std::size_t{0}, std::size_t{1}}) {
      CAPTURE(room);
      for (std::size_t first = 0; first <= c.body.size(); ++first) {
        CAPTURE(first);
        RelayedResponse it(c.head + c.body.substr(0, first), {.room = room});
        it.relays();
        if (first < c.body.size()) it.connection.send(c.body.substr(first));
        if (c.ends_with_connection) it.connection.half_close();
        // However slow its client is, the slot is free once the response is here.
        REQUIRE(runs_until(it.process, [&] { return it.process.has_free_slot(); }));
        CHECK(it.is_over == (room == kAnyNumber));
        while (!it.is_over && it.asked.session.sent.size() <= c.content.size())
          it.asked.session.take_more(1);
        REQUIRE(it.is_over);
        CHECK_FALSE(it.fault);
        CHECK(it.asked.session.sent == c.content);
        CHECK(it.asked.session.status() == 200);
        CHECK(it.asked.session.connection == ScriptedSession::Connection::open);
        CHECK(it.asked.failures() == 0);
      }
    }
  }
}

TEST_CASE("a response that breaks fails its server, and what had come is with the client") {
  enum class Ends { no, closes, resets };
  struct Case {
    std::string_view what;
    std::string response, more;  // once the client has what came with the head
    Ends ends;
    std::string sent;
    ServerFailure failure;
  };
  const std::vector<Case> cases{
      {"too short", kLength5 + "he", "l", Ends::closes, "hel", ServerFailure::truncated},
      {"nothing of it", kLength5, "", Ends::closes, "", ServerFailure::truncated},
      {"reset", kLength5 + "he", "", Ends::resets, "he", ServerFailure::truncated},
      {"reset without a length", kUntilClose + "he", "", Ends::resets, "he",
       ServerFailure::truncated},
      {"ends within a chunk", kChunked + "5\r\nhe", "l", Ends::closes, "hel",
       ServerFailure::truncated},
      {"ends ahead of the last chunk", kChunked + "2\r\nhe\r\n", "", Ends::closes, "he",
       ServerFailure::truncated},
      {"ends within the trailers", kChunked + "2\r\nhe\r\n0\r\nA: b\r\n", "", Ends::closes, "he",
       ServerFailure::truncated},
      {"no chunk", kChunked + "2\r\nhe\r\n", "x\r\n", Ends::no, "he", ServerFailure::invalid},
      {"more than the chunk says", kChunked + "2\r\nhe", "llo", Ends::no, "he",
       ServerFailure::invalid},
  };
  for (const Case& c : cases) {
    CAPTURE(c.what);
    RelayedResponse it(c.response);
    it.relays();
    CHECK_FALSE(it.is_over);
    if (!c.more.empty()) it.connection.send(c.more);
    if (c.ends != Ends::no) it.takes_all();
    if (c.ends == Ends::closes) it.connection.close();
    if (c.ends == Ends::resets) it.connection.reset();
    REQUIRE(it.ends());
    CHECK(it.reason() == Reason::upstream_invalid);
    CHECK(it.asked.session.sent == c.sent);
    CHECK(it.asked.failures() == 1);
    CHECK(it.asked.failures(c.failure) == 1);
    it.asked.call.abandon();
    CHECK(it.process.has_free_slot());
  }
}

TEST_CASE("bytes behind a response go to no client, and their connection is closed") {
  for (const std::string& response : {kLength5 + "hello", kChunked + "5\r\nhello\r\n0\r\n\r\n"}) {
    CAPTURE(response);
    for (const bool come_with_it : {false, true}) {
      CAPTURE(come_with_it);
      const std::string surplus = "HTTP/1.1 200 OK\r\n";
      RelayedResponse it(come_with_it ? response + surplus : response);
      if (!come_with_it) it.connection.send(surplus);
      it.relays();
      REQUIRE(it.ends());
      CHECK_FALSE(it.fault);
      CHECK(it.asked.session.sent == "hello");
      CHECK(runs_until(it.process,
                       [&] { return it.connection.end() != SteppedConnection::End::none; }));
      CHECK(it.asked.failures() == 0);
    }
  }
}

TEST_CASE("a response that does not go on ends by its server's time or by its own") {
  struct Case {
    std::string_view what;
    std::uint64_t total_ms;
    bool is_clients_turn;  // it takes nothing
    bool is_servers_fault;
  };
  const std::vector<Case> cases{
      {"nothing comes for as long as the timeout", 3'600'000, false, true},
      {"its time as a whole is over while the server owes it", 10'000, false, true},
      {"its time as a whole is over while the client takes nothing", 10'000, true, false},
  };
  for (const Case& c : cases) {
    CAPTURE(c.what);
    RelayedResponse it(
        "HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\nhe",
        {.room = c.is_clients_turn ? 0 : kAnyNumber, .change = [&](nlohmann::json& all) {
           all["upstreams"][0]["total_timeout_ms"] = c.total_ms;
           all["limits"]["buffer_bytes"] = 0;
           all["limits"]["temp_file_bytes"] = 0;
         }});
    it.relays();
    if (c.is_clients_turn) it.fills_up();
    // Whether there is room elsewhere is looked at a few times.
    for (int n = 0; c.is_clients_turn && n < 5; ++n)
      it.asked.is_late_at(it.asked.parking.deadline());
    const TimePoint due = it.asked.parking.deadline();
    if (c.total_ms == 10'000) CHECK(due == it.asked.call.deadlines().response_due());
    it.asked.is_late_at(due);
    REQUIRE(it.is_over);
    CHECK(it.reason() == Reason::upstream_timeout);
    CHECK(it.asked.failures() == (c.is_servers_fault ? 1 : 0));
    if (c.is_servers_fault) CHECK(it.asked.failures(ServerFailure::body_timeout) == 1);
  }
}

TEST_CASE("a client that leaves within a response is held against no server") {
  enum class Leaves { while_it_waits, while_it_takes };
  for (const Leaves how : {Leaves::while_it_waits, Leaves::while_it_takes}) {
    CAPTURE(static_cast<int>(how));
    RelayedResponse it(kLength5 + "he");
    it.relays();
    REQUIRE_FALSE(it.is_over);
    if (how == Leaves::while_it_waits) {
      CHECK(it.asked.parking.watches_client());
      it.asked.parking.wake(Wake::client_gone);
    } else {
      it.asked.session.leave();
      it.connection.send("l");
    }
    REQUIRE(it.ends());
    CHECK(it.reason() == Reason::client_gone);
    CHECK(it.asked.failures() == 0);
    it.asked.call.abandon();
    CHECK_FALSE(it.process.has_free_slot());  // its upstream is at work still
    it.connection.send(how == Leaves::while_it_waits ? "llo" : "lo");
    CHECK(runs_until(it.process, [&] { return it.process.owner.swept.empty(); }));
    CHECK(it.process.has_free_slot());
  }
}

TEST_CASE("a response whose slot is taken back ends at once, and frees it") {
  RelayedResponse it(kLength5 + "he");
  it.relays();
  it.asked.parking.wake(Wake::cancelled);
  REQUIRE(it.is_over);
  CHECK(it.reason() == Reason::slow_client);
  it.asked.call.drop();
  CHECK(it.process.has_free_slot());
  CHECK(it.process.owner.swept.empty());
  CHECK(it.asked.failures() == 0);
}

TEST_CASE("a head that its client cannot be sent fails the response") {
  RelayedResponse it(kLength5 + "he");
  it.asked.session.has_head_room = false;
  it.relays();
  REQUIRE(it.is_over);
  CHECK(it.reason() == Reason::upstream_invalid);
  CHECK_FALSE(it.asked.session.has_started());
}

TEST_CASE("a long response is moved without a copy, and comes whole to a client of any pace") {
  std::string body(3 << 20, '\0');
  for (std::size_t at = 0; at < body.size(); ++at) body[at] = static_cast<char>(at * 7 + at / 251);
  const std::string head = "HTTP/1.1 200 OK\r\nCache-Control: no-store\r\nContent-Length: " +
                           std::to_string(body.size()) + "\r\n\r\n";
  for (const bool is_whole : {true, false}) {
    CAPTURE(is_whole);
    RelayedResponse it(head + body.substr(0, 10), {.room = 0});
    it.relays();
    std::string_view rest = std::string_view(body).substr(10);
    if (!is_whole) rest.remove_suffix(1);
    while (!it.is_over && (!rest.empty() || it.asked.session.sent.size() < body.size() - 1)) {
      rest.remove_prefix(it.connection.send_some(rest));
      it.process.loop.poll();
      it.asked.session.take_more(100'000);
    }
    CHECK(it.process.services.pipes.open() == 1);
    if (!is_whole) it.connection.half_close();
    REQUIRE(it.ends());
    CHECK(it.reason() == (is_whole ? Reason::none : Reason::upstream_invalid));
    CHECK(it.asked.failures() == (is_whole ? 0 : 1));
    CHECK(body.starts_with(it.asked.session.sent));
    CHECK(it.asked.session.sent.size() == body.size() - (is_whole ? 0 : 1));
  }
}

}  // namespace spillway::proxy
