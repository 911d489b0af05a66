// A request at an upstream that is played step by step: the head of its response, the end of its
// connection, and whether it is sent again.
#include "proxy/call/upstream_call.hpp"

#include <doctest/doctest.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "unit/proxy/call/asked_upstream.hpp"

namespace spillway::proxy {
namespace {

using observe::ServerFailure;

const std::string kEmpty = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";

void spend_no_retry(nlohmann::json& all) {
  all["upstreams"][0]["retries"] = {{"budget_ratio", 0}, {"budget_per_second", 0}};
}
double retries_left(Process& process) {
  return process.generation->retry_budget(UpstreamId{}).balance(Clock::now());
}

// A connection to the server that is kept idle since a first request.
SteppedConnection kept_connection(Process& process, SteppedServer& server) {
  AskedUpstream first(process, get());
  first.ask();
  SteppedConnection connection = first.connects_to(server);
  first.is_read_by(connection);
  connection.send(kEmpty);
  REQUIRE(first.ends());
  REQUIRE_FALSE(first.fault);
  first.call.finish();
  return connection;
}

// What a request does once its connection has ended.
enum class Afterwards { fails, pauses, connects };
Afterwards goes_on_after(AskedUpstream& it, SteppedServer& server, SteppedConnection& next) {
  runs_until(it.process, [&] {
    next = server.accept();
    return next || it.is_over || it.process.services.pausing > 0;
  });
  return next ? Afterwards::connects : it.is_over ? Afterwards::fails : Afterwards::pauses;
}

}  // namespace

TEST_CASE("the head of a response may come in pieces of any size") {
  struct Case {
    std::string head, body;
    std::vector<unsigned> interims;
  };
  const std::vector<Case> cases{
      {kEmpty, "", {}},
      {"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", "hello", {}},
      {"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", "he", {}},
      {"HTTP/1.1 103 Early Hints\r\nLink: </s>\r\n\r\nHTTP/1.1 102 On\r\n\r\n"
       "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n",
       "hello",
       {103, 102}},
  };
  for (const Case& c : cases) {
    CAPTURE(c.head);
    SteppedServer server;
    Process process(settings_with({server.address()}));
    const std::string wire = c.head + c.body;
    for (std::size_t first = 1; first <= c.head.size(); ++first) {
      CAPTURE(first);
      AskedUpstream it(process, get());
      it.ask();
      SteppedConnection connection = it.connects_to(server);
      it.is_read_by(connection);
      connection.send(wire.substr(0, first));
      if (first < c.head.size()) {
        it.takes_all();
        CHECK_FALSE(it.is_over);
        connection.send(wire.substr(first));
      }
      REQUIRE(it.ends());
      REQUIRE_FALSE(it.fault);
      CHECK(it.call.response().status == 200);
      CHECK(it.session.interims == c.interims);
      // What came behind it is kept, as far as it came with its last byte.
      const std::size_t kept = it.call.state().end() - it.call.state().checked_to();
      CHECK(kept == (first < c.head.size() ? c.body.size() : 0));
      const std::string_view block(it.call.block().bytes().data(), it.call.state().end());
      CHECK(block.substr(it.call.state().checked_to()) == c.body.substr(0, kept));
      it.call.drop();
    }
  }
}

TEST_CASE("the head of a response may come byte by byte") {
  SteppedServer server;
  Process process(settings_with({server.address()}));
  AskedUpstream it(process, get());
  it.ask();
  SteppedConnection connection = it.connects_to(server);
  it.is_read_by(connection);
  const std::string wire = "HTTP/1.1 100 Continue\r\n\r\n" + kEmpty;
  for (const char byte : wire) {
    CHECK_FALSE(it.is_over);
    connection.send({&byte, 1});
    it.takes_all();
  }
  REQUIRE(it.is_over);
  CHECK_FALSE(it.fault);
  CHECK(it.session.interims == std::vector<unsigned>{100});
}

TEST_CASE("a head that is no head, or too long, fails the request and its server") {
  struct Case {
    std::string_view what;
    std::string wire;
    ServerFailure failure = ServerFailure::invalid;
  };
  std::string flood;
  for (int n = 0; n < 65; ++n) flood += "HTTP/1.1 102 On\r\n\r\n";
  const std::vector<Case> cases{
      {"another protocol", "SSH-2.0-OpenSSH_9.2\r\n\r\n"},
      {"two lengths", "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n"},
      {"a switch that was not asked for",
       "HTTP/1.1 101 Up\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n"},
      {"interim responses without end", flood},
      {"fields without end", "HTTP/1.1 200 OK\r\nA: " + std::string(70'000, 'x')},
  };
  for (const Case& c : cases) {
    CAPTURE(c.what);
    SteppedServer server;
    Process process(settings_with({server.address()}));
    AskedUpstream it(process, get());
    it.ask();
    SteppedConnection connection = it.connects_to(server);
    it.is_read_by(connection);
    connection.send(c.wire);
    REQUIRE(it.ends());
    CHECK(it.reason() == Reason::upstream_invalid);
    CHECK(it.failures(c.failure) == 1);
    CHECK(it.failures() == 1);
    CHECK_FALSE(server.accept());  // it is not sent again
  }
}

TEST_CASE("a request whose connection ends is sent again where that is safe") {
  struct Case {
    std::string_view what;
    bool is_kept;
    std::string head, before;  // of the response, ahead of the end
    Afterwards afterwards;
    Reason reason = Reason::none;
    std::optional<ServerFailure> failure = ServerFailure::reset;
    RequestContext::Kind kind = RequestContext::Kind::live;
  };
  const std::string put = "PUT /a HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\n\r\n";
  const std::string begun = "HTTP/1.1 2";
  const std::vector<Case> cases{
      {"a safe one pauses and is sent again", false, get(), "", Afterwards::pauses},
      {"an idempotent one does", false, put, "", Afterwards::pauses},
      {"another one is not", false, post("Content-Length: 0\r\n"), "", Afterwards::fails,
       Reason::upstream_unavailable},
      {"nor is one whose answer has begun", false, get(), begun, Afterwards::fails,
       Reason::upstream_invalid, ServerFailure::truncated},
      {"nor is one that had an interim answer", false, get(), "HTTP/1.1 102 On\r\n\r\n",
       Afterwards::fails, Reason::upstream_invalid, ServerFailure::truncated},
      {"on a kept connection it is replaced at once", true, get(), "", Afterwards::connects,
       Reason::none, std::nullopt},
      {"but not if it is not safe", true, post("Content-Length: 0\r\n"), "", Afterwards::fails,
       Reason::upstream_unavailable},
      {"nor once its answer has begun", true, get(), begun, Afterwards::fails,
       Reason::upstream_invalid, ServerFailure::truncated},
      {"in the background it is not tried again", false, get(), "", Afterwards::fails,
       Reason::upstream_unavailable, ServerFailure::reset, RequestContext::Kind::refresh},
      {"but a kept connection is replaced", true, get(), "", Afterwards::connects, Reason::none,
       std::nullopt, RequestContext::Kind::refresh},
  };
  for (const Case& c : cases) {
    CAPTURE(c.what);
    for (const bool is_reset : {false, true}) {
      CAPTURE(is_reset);
      SteppedServer server;
      Process process(settings_with({server.address()}));
      SteppedConnection connection;
      if (c.is_kept) connection = kept_connection(process, server);
      AskedUpstream it(process, c.head, c.kind);
      it.ask();
      if (!c.is_kept) connection = it.connects_to(server);
      it.is_read_by(connection);
      if (!c.before.empty()) {
        connection.send(c.before);
        it.takes_all();
      }
      is_reset ? connection.reset() : connection.close();
      SteppedConnection next;
      CHECK(goes_on_after(it, server, next) == c.afterwards);
      CHECK(it.reason() == c.reason);
      CHECK(it.failures() == (c.failure ? 1 : 0));
      if (c.failure) CHECK(it.failures(*c.failure) == 1);
      CHECK(it.call.was_sent());
      if (c.afterwards == Afterwards::fails) continue;
      if (c.afterwards == Afterwards::pauses) {
        it.parking.wake(Wake::timeout);
        next = it.connects_to(server);
      }
      it.is_read_by(next);
      next.send(kEmpty);
      REQUIRE(it.ends());
      CHECK_FALSE(it.fault);
      CHECK(it.failures() == (c.failure ? 1 : 0));  // what a retry repairs stays the server's
    }
  }
}

TEST_CASE("a kept connection is replaced once, then the budget of retries decides") {
  for (const bool has_budget : {true, false}) {
    CAPTURE(has_budget);
    SteppedServer server;
    Process process(has_budget ? settings_with({server.address()})
                               : settings_with({server.address()}, spend_no_retry));
    SteppedConnection kept = kept_connection(process, server);
    const double before = retries_left(process);
    AskedUpstream it(process, get());
    it.ask();
    it.is_read_by(kept);
    kept.close();
    SteppedConnection fresh;
    REQUIRE(goes_on_after(it, server, fresh) == Afterwards::connects);
    CHECK(it.failures() == 0);
    CHECK(retries_left(process) >= before);  // a replacement takes nothing
    it.is_read_by(fresh);
    fresh.close();
    SteppedConnection last;
    CHECK(goes_on_after(it, server, last) == (has_budget ? Afterwards::pauses : Afterwards::fails));
    CHECK(it.failures(ServerFailure::reset) == 1);
    CHECK(it.reason() == (has_budget ? Reason::none : Reason::upstream_unavailable));
  }
}

TEST_CASE("without a pause another server is asked, and only so often as the settings say") {
  for (const int attempts : {0, 1, 2}) {
    CAPTURE(attempts);
    SteppedServer first, second;
    Process process(settings_with({first.address(), second.address()}, [&](nlohmann::json& all) {
      all["upstreams"][0]["retries"] = {{"attempts", attempts}};
    }));
    AskedUpstream it(process, get());
    it.ask();
    int connections = 0;
    const auto breaks = [&] {
      SteppedConnection next;
      runs_until(process, [&] {
        if (!next) next = first.accept();
        if (!next) next = second.accept();
        return next || it.is_over || process.services.pausing > 0;
      });
      if (!next) return false;
      it.is_read_by(next);
      ++connections;
      return true;
    };
    while (breaks() && connections < 9) {
    }
    CHECK(connections == std::min(attempts + 1, 2));
    // Both have failed: a third attempt pauses first.
    CHECK(process.services.pausing == (attempts == 2 ? 1 : 0));
    if (attempts < 2) CHECK(it.reason() == Reason::upstream_unavailable);
  }
}

TEST_CASE("the failure that is told is the server's, not that of the circuit it has opened") {
  SteppedServer server;
  Process process(settings_with({server.address()}, [](nlohmann::json& all) {
    all["upstreams"][0]["circuit_breaker"] = {{"consecutive_failures", 1}};
  }));
  AskedUpstream it(process, get());
  it.ask();
  SteppedConnection connection = it.connects_to(server);
  it.is_read_by(connection);
  connection.close();
  SteppedConnection next;
  REQUIRE(goes_on_after(it, server, next) == Afterwards::pauses);
  it.parking.wake(Wake::timeout);
  REQUIRE(it.ends());
  CHECK(it.fault->status == 502);
  CHECK(it.reason() == Reason::upstream_unavailable);
}

TEST_CASE("a response that was read to its end leaves a connection for the next request") {
  struct Case {
    std::string_view what;
    std::string response;
    bool is_kept;
    bool is_draining = false;
  };
  const std::vector<Case> cases{
      {"with a length", kEmpty, true},
      {"without a body", "HTTP/1.1 204 No\r\n\r\n", true},
      {"a failure", "HTTP/1.1 503 No\r\nContent-Length: 0\r\n\r\n", true},
      {"the server closes", "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n",
       false},
      {"of HTTP/1.0", "HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n", false},
      {"the proxy ends", kEmpty, false, true},
  };
  for (const Case& c : cases) {
    CAPTURE(c.what);
    SteppedServer server;
    Process process(settings_with({server.address()}));
    AskedUpstream it(process, get());
    it.ask();
    SteppedConnection connection = it.connects_to(server);
    it.is_read_by(connection);
    connection.send(c.response);
    REQUIRE(it.ends());
    REQUIRE_FALSE(it.fault);
    CHECK(it.admission.has_slot());
    process.services.draining = c.is_draining;
    it.call.finish();
    process.services.draining = false;
    CHECK_FALSE(it.admission.has_slot());
    AskedUpstream next(process, get());
    next.ask();
    SteppedConnection fresh;
    runs_until(process, [&] {
      fresh = server.accept();
      return fresh || !connection.read().empty();
    });
    CHECK(static_cast<bool>(fresh) == !c.is_kept);
    CHECK((connection.end() == SteppedConnection::End::none) == c.is_kept);
  }
}

}  // namespace spillway::proxy
