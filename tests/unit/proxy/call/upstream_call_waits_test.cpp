// Each wait of a request at its upstream: its deadline passes, or its client leaves. What is told,
// and what the request leaves behind.
#include <doctest/doctest.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "support/full_backlog.hpp"
#include "unit/proxy/call/asked_upstream.hpp"

namespace spillway::proxy {
namespace {

using observe::ServerFailure;
using std::chrono::milliseconds;
using std::chrono::seconds;

enum class Phase { connects, sends, awaits_head, has_begun, pauses };

// A request that waits in this phase: a job if it sends, as only those have bodies that fill the
// kernel.
struct WaitsAtUpstream {
  explicit WaitsAtUpstream(Phase phase, std::string_view fields = {})
      : process(settings_with(
            {phase == Phase::connects ? silent.address() : server.address()},
            [](nlohmann::json& all) { all["upstreams"][0]["connect_timeout_ms"] = 5000; })),
        it(process, get(fields),
           phase == Phase::sends ? RequestContext::Kind::job : RequestContext::Kind::live) {
    if (phase == Phase::sends) it.call.send_written({.head = get(), .body = long_body});
    it.ask();
    if (phase == Phase::connects) return;
    connection = it.connects_to(server);
    if (phase == Phase::sends) {
      REQUIRE(runs_until(process, [&] { return !connection.read_some().empty(); }));
      REQUIRE_FALSE(it.is_over);
      return;
    }
    it.is_read_by(connection);
    if (phase == Phase::has_begun) {
      connection.send("HTTP/1.1 200 OK\r\n");
      it.takes_all();
    }
    if (phase == Phase::pauses) {
      connection.close();
      REQUIRE(runs_until(process, [&] { return process.services.pausing > 0; }));
    }
  }

  std::string long_body = std::string(1 << 24, 'x');
  support::FullBacklog silent;
  SteppedServer server;
  SteppedConnection connection;
  Process process;
  AskedUpstream it;
};

}  // namespace

TEST_CASE("a wait that is over ends the request, by its deadline or by its server") {
  enum class Left { nothing, at_work };  // at the upstream
  struct Case {
    std::string_view what;
    Phase phase;
    std::string fields;
    Reason reason;
    std::optional<ServerFailure> failure;
    Left left;
  };
  const std::string deadline = "X-Request-Deadline: 2s\r\n";
  const std::vector<Case> cases{
      {"a server that cannot be connected to", Phase::connects, "", Reason::upstream_timeout,
       ServerFailure::connect_timeout, Left::nothing},
      {"a deadline before that", Phase::connects, "X-Request-Deadline: 20ms\r\n",
       Reason::deadline_expired, std::nullopt, Left::nothing},
      {"a server that does not take the request", Phase::sends, "", Reason::upstream_timeout,
       ServerFailure::response_timeout, Left::nothing},
      {"a server that does not answer", Phase::awaits_head, "", Reason::upstream_timeout,
       ServerFailure::response_timeout, Left::at_work},
      {"a deadline before that", Phase::awaits_head, deadline, Reason::deadline_expired,
       std::nullopt, Left::at_work},
      {"a server that does not go on", Phase::has_begun, "", Reason::upstream_timeout,
       ServerFailure::response_timeout, Left::at_work},
      {"a deadline before that", Phase::has_begun, deadline, Reason::deadline_expired, std::nullopt,
       Left::at_work},
  };
  for (const Case& c : cases) {
    CAPTURE(c.what);
    CAPTURE(static_cast<int>(c.phase));
    WaitsAtUpstream request(c.phase, c.fields);
    AskedUpstream& it = request.it;
    const TimePoint due = it.parking.deadline();
    if (!c.fields.empty()) CHECK(due == it.request.classification.client.at);
    if (c.phase == Phase::connects && !c.fields.empty()) {
      while (Clock::now() < due) {  // the connector reads the clock
      }
    }
    it.is_late_at(due);
    REQUIRE(it.is_over);
    CHECK(it.reason() == c.reason);
    CHECK(it.failures() == (c.failure ? 1 : 0));
    if (c.failure) CHECK(it.failures(*c.failure) == 1);
    CHECK(it.call.was_sent() == (c.phase != Phase::connects));
    it.call.abandon();
    CHECK_FALSE(it.admission.has_slot());
    CHECK(request.process.owner.swept.size() == (c.left == Left::at_work ? 1 : 0));
    CHECK(request.process.has_free_slot() == (c.left == Left::nothing));
    if (c.left == Left::nothing) continue;
    request.connection.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
    if (c.phase == Phase::has_begun) request.connection.send("\r\n");
    request.connection.close();
    runs_until(request.process, [&] { return request.process.owner.swept.empty(); });
    CHECK(request.process.has_free_slot());
  }
}

TEST_CASE("a client that leaves is held against no server, whatever is waited for") {
  struct Case {
    Phase phase;
    bool is_at_work, was_sent;
  };
  const std::vector<Case> cases{{Phase::connects, false, false},
                                {Phase::sends, true, true},
                                {Phase::awaits_head, true, true},
                                {Phase::has_begun, true, true},
                                {Phase::pauses, false, true}};
  for (const Case& c : cases) {
    CAPTURE(static_cast<int>(c.phase));
    WaitsAtUpstream request(c.phase);
    AskedUpstream& it = request.it;
    const std::uint64_t before = it.failures();
    REQUIRE(it.parking.watches_client());
    it.parking.wake(Wake::client_gone);
    REQUIRE(it.is_over);
    CHECK(it.reason() == Reason::client_gone);
    CHECK(it.fault->status == 0);
    CHECK(it.failures() == before);
    CHECK(it.call.was_sent() == c.was_sent);
    CHECK(request.process.services.pausing == 0);
    it.call.abandon();
    CHECK(request.process.has_free_slot() == !c.is_at_work);
    if (!c.is_at_work) continue;
    // It may stop: the proxy's side of the connection is closed.
    REQUIRE(runs_until(request.process, [&] {
      return request.connection.end() == SteppedConnection::End::half_closed;
    }));
    CHECK_FALSE(request.process.has_free_slot());
    request.connection.close();
    runs_until(request.process, [&] { return request.process.owner.swept.empty(); });
    CHECK(request.process.has_free_slot());
  }
}

TEST_CASE("a request whose deadline comes before the end of a pause does not pause") {
  for (const bool has_time : {false, true}) {
    CAPTURE(has_time);
    SteppedServer server;
    Process process(settings_with({server.address()}, [](nlohmann::json& all) {
      all["upstreams"][0]["retries"] = {{"backoff_ms", 100'000}, {"max_backoff_ms", 100'000}};
    }));
    AskedUpstream it(
        process, get(has_time ? "X-Request-Deadline: 1000s\r\n" : "X-Request-Deadline: 20s\r\n"));
    it.ask();
    SteppedConnection connection = it.connects_to(server);
    it.is_read_by(connection);
    connection.close();
    runs_until(process, [&] { return it.is_over || process.services.pausing > 0; });
    CHECK(it.is_over == !has_time);
    if (!has_time) CHECK(it.reason() == Reason::upstream_unavailable);
  }
}

TEST_CASE("interim responses put off no timeout") {
  WaitsAtUpstream request(Phase::awaits_head);
  const TimePoint due = request.it.parking.deadline();
  request.connection.send("HTTP/1.1 102 On\r\n\r\n");
  request.it.takes_all();
  CHECK(request.it.session.interims.size() == 1);
  CHECK(request.it.parking.deadline() == due);
}

TEST_CASE("a client that has left when an interim response comes ends its request") {
  WaitsAtUpstream request(Phase::awaits_head);
  request.it.session.leave();
  request.connection.send("HTTP/1.1 102 On\r\n\r\n");
  REQUIRE(request.it.ends());
  CHECK(request.it.reason() == Reason::client_gone);
  CHECK(request.it.failures() == 0);
}

TEST_CASE("without a request deadline a job waits for its head as long as its lease allows") {
  SteppedServer server;
  Process process(settings_with({server.address()}));
  AskedUpstream it(process, get(), RequestContext::Kind::job);
  it.request.due = process.services.now() + seconds(100);
  const std::string head = get();
  it.call.send_written({.head = head, .body = {}, .may_be_late = true});
  it.ask();
  SteppedConnection connection = it.connects_to(server);
  it.is_read_by(connection);
  CHECK(it.parking.deadline() == it.request.due);
}

TEST_CASE("a job that timed out is waited for, and its late answer is an answer") {
  enum class Ends { answer, nothing, closed, from_outside };
  struct Case {
    Ends how;
    bool is_answered, is_at_work;
  };
  const std::vector<Case> cases{{Ends::answer, true, false},
                                {Ends::nothing, false, false},
                                {Ends::closed, false, false},
                                {Ends::from_outside, false, true}};
  for (const Case& c : cases) {
    CAPTURE(static_cast<int>(c.how));
    SteppedServer server;
    Process process(settings_with({server.address()}));
    AskedUpstream it(process, get(), RequestContext::Kind::job);
    const std::string head = get();
    it.call.send_written({.head = head, .body = {}});
    it.ask();
    SteppedConnection connection = it.connects_to(server);
    it.is_read_by(connection);
    connection.send("HTTP/1.1 20");
    it.takes_all();
    const TimePoint timed_out = it.parking.deadline();
    it.is_late_at(timed_out);
    REQUIRE(it.reason() == Reason::upstream_timeout);
    it.waits_for_late_answer();
    REQUIRE_FALSE(it.late_answer);
    CHECK(it.parking.deadline() == timed_out + seconds(10));
    CHECK(it.admission.has_slot());
    CHECK_FALSE(it.call.waits_in_vain());
    switch (c.how) {
      case Ends::answer: connection.send("1 OK\r\nContent-Length: 0\r\n\r\n"); break;
      case Ends::nothing: it.is_late_at(it.parking.deadline()); break;
      case Ends::closed: connection.close(); break;
      case Ends::from_outside: it.parking.wake(Wake::client_gone); break;
    }
    REQUIRE(runs_until(process, [&] { return it.late_answer.has_value(); }));
    CHECK(*it.late_answer == c.is_answered);
    CHECK(it.failures(ServerFailure::response_timeout) == 1);  // it stands
    if (c.is_answered) {
      CHECK(it.call.response().status == 201);
      it.call.finish();
    } else {
      it.call.abandon();
    }
    CHECK(process.has_free_slot() == !c.is_at_work);
  }
}

}  // namespace spillway::proxy
