// What is left at an upstream of a request that was abandoned: when its slot is free again, and
// what is learned of it.
#include "proxy/call/abandoned_call.hpp"

#include <doctest/doctest.h>

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/request/admission/long_lived.hpp"
#include "unit/proxy/call/asked_upstream.hpp"

namespace spillway::proxy {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

const std::string kDone = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ndone";

// A request whose client has left while its head was awaited, with `before` of it there.
struct Abandoned {
  explicit Abandoned(std::string_view before = {}, std::string_view fields = {},
                     const std::function<void(nlohmann::json&)>& change = {})
      : process(settings_with({server.address()}, change)),
        asked(std::in_place, process, get(fields)) {
    if (!fields.empty()) {  // it asks for an event stream
      REQUIRE_FALSE(
          reserve_permit(process.services, asked->request, asked->admission, asked->call.permit()));
    }
    asked->ask();
    connection = asked->connects_to(server);
    asked->is_read_by(connection);
    if (!before.empty()) {
      connection.send(before);
      asked->takes_all();
    }
    began = process.services.now();
  }
  void client_leaves() {
    asked->parking.wake(Wake::client_gone);
    asked->call.abandon();
    asked.reset();  // the request is over
  }
  // Its server does not answer in time.
  void times_out() {
    asked->is_late_at(asked->parking.deadline());
    asked->call.abandon();
    asked.reset();
  }
  bool is_lingering() const { return !process.owner.swept.empty(); }
  // The loop has done all that there is to do: what the server has sent was read.
  void settles() {
    for (int n = 0; n < 20; ++n) process.loop.poll();
  }
  bool ends() {
    return runs_until(process, [&] { return !is_lingering(); });
  }
  bool sees(SteppedConnection::End end) {
    return runs_until(process, [&] { return connection.end() == end; });
  }
  Duration learned_hold() {
    return process.generation->hold_times.of(RouteId{}, process.services.now());
  }

  SteppedServer server;
  SteppedConnection connection;
  Process process;
  std::optional<AskedUpstream> asked;
  TimePoint began;
};

}  // namespace

TEST_CASE("a slot is free with the last byte of the response, in pieces of any size") {
  const std::vector<std::string> responses{
      kDone, "HTTP/1.1 204 No\r\n\r\n",
      "HTTP/1.1 102 On\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
      "4\r\ndone\r\n0\r\nA: b\r\n\r\n"};
  for (const std::string& response : responses) {
    CAPTURE(response);
    // Each needs a process of its own, which takes a third of a second.
    for (std::size_t before = 0; before < response.size(); before += 11) {
      CAPTURE(before);
      Abandoned request(std::string_view(response).substr(0, before));
      const bool has_answer = request.asked->is_over;  // the client leaves within its body
      if (has_answer) REQUIRE_FALSE(request.asked->fault);
      if (has_answer) {
        request.asked->call.abandon();
        request.asked.reset();
      } else {
        request.client_leaves();
      }
      CHECK_FALSE(request.process.has_free_slot());
      CHECK(request.process.gauges->abandoned_calls.value() == 1);
      CHECK(request.sees(SteppedConnection::End::half_closed));
      const std::string_view rest = std::string_view(response).substr(before);
      for (const char& byte : rest.substr(0, rest.size() - 1)) request.connection.send({&byte, 1});
      request.settles();
      REQUIRE(request.is_lingering());
      CHECK_FALSE(request.process.has_free_slot());
      request.connection.send(rest.substr(rest.size() - 1));
      CHECK(request.ends());
      CHECK(request.process.has_free_slot());
      CHECK(request.process.gauges->abandoned_calls.value() == 0);
      CHECK(request.learned_hold() > Duration{0});
    }
  }
}

TEST_CASE("the response of an error is a response: its slot is free with its last byte") {
  Abandoned request("HTTP/1.1 500 Failed\r\nContent-Length: 4\r\n\r\ndo");
  REQUIRE(request.asked->is_over);
  request.asked->call.abandon();
  request.asked.reset();
  CHECK_FALSE(request.process.has_free_slot());
  request.connection.send("ne");
  CHECK(request.ends());
  CHECK(request.process.has_free_slot());
}

TEST_CASE("a response that has come as a whole holds no slot, whatever becomes of it") {
  Abandoned request(kDone);
  REQUIRE(request.asked->is_over);
  request.asked->call.abandon();
  CHECK(request.process.has_free_slot());
  CHECK_FALSE(request.is_lingering());
}

TEST_CASE("a slot is kept for two seconds at least, also where only quick answers were seen") {
  Abandoned request;
  for (int n = 0; n < 30; ++n)
    request.process.generation->service_time.record(RouteId{}, milliseconds(2), request.began);
  const TimePoint left = request.began + milliseconds(15);
  request.process.loop.begin_event(left);
  request.client_leaves();
  REQUIRE(request.is_lingering());
  Swept& lingering = *request.process.owner.swept.front();
  const TimePoint until = left + seconds(2);
  request.process.loop.begin_event(until - milliseconds(1));
  lingering.wake_if_late(until - milliseconds(1));
  REQUIRE(request.is_lingering());
  CHECK_FALSE(request.process.has_free_slot());
  request.process.loop.begin_event(until);
  lingering.wake_if_late(until);
  CHECK(request.process.has_free_slot());
  CHECK(request.process.gauges->abandoned_calls.value() == 0);
  CHECK(request.learned_hold() > seconds(4));  // the next one's is longer
  CHECK(request.learned_hold() < seconds(5));

  // Its end is awaited, and shows what the next ones take.
  REQUIRE(request.is_lingering());
  const TimePoint later = request.began + seconds(20);
  request.process.loop.begin_event(later);
  SUBCASE("it ends") {
    request.connection.send(kDone);
    CHECK(runs_until(request.process, [&] {
      request.process.loop.begin_event(later);
      return !request.is_lingering();
    }));
  }
  SUBCASE("it does not end within its response timeout") {
    lingering.wake_if_late(later);
    REQUIRE(request.is_lingering());
    request.process.loop.begin_event(request.began + seconds(31));
    lingering.wake_if_late(request.began + seconds(31));
    CHECK_FALSE(request.is_lingering());
    CHECK(request.learned_hold() >= seconds(59));
  }
  SUBCASE("a reload ends it") {
    lingering.end_early();
    CHECK_FALSE(request.is_lingering());
    CHECK(request.learned_hold() < seconds(5));
  }
}

TEST_CASE("as many requests as there are slots outlast theirs, and others keep theirs") {
  Abandoned request;
  for (int n = 0; n < 30; ++n)
    request.process.generation->service_time.record(RouteId{}, milliseconds(2), request.began);
  request.client_leaves();
  const auto outlasts = [&](Swept& swept, TimePoint when) {
    request.process.loop.begin_event(when);
    swept.wake_if_late(when);
    return request.process.has_free_slot();
  };
  Swept& first = *request.process.owner.swept.front();
  CHECK(outlasts(first, request.began + seconds(3)));

  request.asked.emplace(request.process, get());
  request.asked->ask();
  SteppedConnection second_connection = request.asked->connects_to(request.server);
  request.asked->is_read_by(second_connection);
  request.client_leaves();
  REQUIRE(request.process.owner.swept.size() == 2);
  Swept& second = *request.process.owner.swept.back();
  CHECK_FALSE(outlasts(second, request.process.services.now() + seconds(15)));
  request.connection.send(kDone);
  CHECK(runs_until(request.process, [&] { return request.process.owner.swept.size() == 1; }));
  CHECK_FALSE(request.process.has_free_slot());
  second_connection.send(kDone);
  CHECK(request.ends());
  CHECK(request.process.has_free_slot());
}

TEST_CASE("how long a client would have waited does not bound its upstream's work") {
  Abandoned request({}, {},
                    [](nlohmann::json& all) { all["upstreams"][0]["total_timeout_ms"] = 1000; });
  request.client_leaves();
  REQUIRE(request.is_lingering());
  const TimePoint later = request.began + seconds(20);
  request.process.loop.begin_event(later);
  request.process.owner.swept.front()->wake_if_late(later);
  CHECK(request.is_lingering());
  CHECK_FALSE(request.process.has_free_slot());
}

TEST_CASE("a slot is free when the server ends it, or nothing more is to be expected") {
  enum class Event {
    closes,
    resets,
    is_no_http,
    is_too_long,
    has_endless_head,
    until_passes,
    early
  };
  struct Case {
    Event event;
    bool is_over;  // at once
    bool learns;
  };
  const std::vector<Case> cases{
      {Event::closes, true, true},
      {Event::resets, true, true},
      {Event::is_no_http, false, false},
      {Event::is_too_long, true, false},
      {Event::has_endless_head, true, false},
      {Event::until_passes, true, true},
      {Event::early, true, false},
  };
  for (const Case& c : cases) {
    CAPTURE(static_cast<int>(c.event));
    Abandoned request;
    request.client_leaves();
    REQUIRE(request.is_lingering());
    Swept& abandoned = *request.process.owner.swept.front();
    const TimePoint until = request.began + seconds(30);  // the response timeout: nothing is known
    switch (c.event) {
      case Event::closes: request.connection.close(); break;
      case Event::resets: request.connection.reset(); break;
      case Event::is_no_http: request.connection.send("SSH-2.0-OpenSSH_9.2\r\n\r\n"); break;
      case Event::is_too_long:
        request.connection.send("HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n");
        for (int n = 0; n < 40 && request.is_lingering(); ++n) {
          request.connection.send_some(std::string(10'000, 'x'));
          request.settles();
        }
        break;
      case Event::has_endless_head:
        request.connection.send("HTTP/1.1 200 OK\r\nA: ");
        for (int n = 0; n < 40 && request.is_lingering(); ++n) {
          request.connection.send_some(std::string(10'000, 'x'));
          request.settles();
        }
        break;
      case Event::until_passes:
        abandoned.wake_if_late(until - seconds(20));
        REQUIRE(request.is_lingering());
        request.process.loop.begin_event(until + seconds(1));
        abandoned.wake_if_late(until + seconds(1));
        break;
      case Event::early:
        request.process.loop.begin_event();
        abandoned.end_early();
        break;
    }
    if (c.is_over) CHECK(request.ends());
    if (!c.is_over) {
      request.settles();
      CHECK_FALSE(request.process.has_free_slot());
      request.connection.close();
      CHECK(request.ends());
    }
    CHECK(request.process.has_free_slot());
    CHECK((request.learned_hold() > Duration{0}) == c.learns);
  }
}

TEST_CASE("a request that timed out keeps its slot for a while, unless its server gets no others") {
  for (const bool is_ejected : {false, true}) {
    CAPTURE(is_ejected);
    Abandoned request({}, {}, [](nlohmann::json& all) {
      all["upstreams"][0]["circuit_breaker"] = {{"consecutive_failures", 2}};
    });
    request.times_out();
    REQUIRE(request.is_lingering());
    CHECK_FALSE(request.process.has_free_slot());
    Swept& abandoned = *request.process.owner.swept.front();
    const TimePoint now = request.process.services.now();
    if (is_ejected) {
      Circuits& circuits = request.process.generation->circuits(UpstreamId{});
      circuits.allow(0).fail(observe::ServerFailure::response_timeout);
      REQUIRE_FALSE(circuits.lets_through(0));
    }
    request.process.loop.begin_event(now + seconds(9));
    abandoned.wake_if_late(now + seconds(9));
    CHECK(request.is_lingering() == !is_ejected);
    if (!is_ejected) {
      request.process.loop.begin_event(now + seconds(10));
      abandoned.wake_if_late(now + seconds(10));
    }
    CHECK_FALSE(request.is_lingering());
    CHECK(request.process.has_free_slot());
    CHECK(request.learned_hold() == Duration{0});
  }
}

TEST_CASE("an error whose rest does not come keeps its slot, unless its server gets no others") {
  for (const bool is_ejected : {false, true}) {
    CAPTURE(is_ejected);
    Abandoned request("HTTP/1.1 500 Failed\r\nContent-Length: 4\r\n\r\ndo", {},
                      [](nlohmann::json& all) {
                        all["upstreams"][0]["circuit_breaker"] = {{"consecutive_failures", 2}};
                      });
    REQUIRE(request.asked->is_over);
    request.asked->call.abandon();
    request.asked.reset();
    REQUIRE(request.is_lingering());
    if (is_ejected) {
      Circuits& circuits = request.process.generation->circuits(UpstreamId{});
      circuits.allow(0).fail(observe::ServerFailure::response_timeout);
      REQUIRE_FALSE(circuits.lets_through(0));
    }
    request.process.owner.swept.front()->wake_if_late(request.process.services.now());
    CHECK(request.is_lingering() == !is_ejected);
    CHECK(request.process.has_free_slot() == is_ejected);
  }
}

TEST_CASE(
    "an abandoned event stream keeps its permit in place of its slot, until its server knows") {
  const std::string accepts = "Accept: text/event-stream\r\n";
  const std::string head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n";
  Abandoned request({}, accepts);
  CHECK(request.process.permits.taken() == 1);
  request.client_leaves();
  CHECK_FALSE(request.process.has_free_slot());
  CHECK(request.process.permits.taken() == 1);
  request.connection.send(head);
  REQUIRE(runs_until(request.process, [&] { return request.process.has_free_slot(); }));
  CHECK(request.process.gauges->abandoned_calls.value() == 0);
  REQUIRE(request.is_lingering());
  CHECK(request.process.permits.taken() == 1);
  SUBCASE("its server closes") {
    request.connection.close();
    CHECK(request.ends());
  }
  SUBCASE("its next event ends it by a reset") {
    request.connection.send("data: 1\n\n");
    CHECK(runs_until(request.process, [&] { return request.connection.send_some(":\n\n") == 0; }));
    CHECK(request.is_lingering());
    CHECK(request.process.permits.taken() == 1);
    const TimePoint later = request.process.services.now() + seconds(16);
    request.process.loop.begin_event(later);
    request.process.owner.swept.front()->wake_if_late(later);
  }
  SUBCASE("its server sends nothing for long") {
    const TimePoint later = request.process.services.now() + seconds(16);
    request.process.loop.begin_event(later);
    request.process.owner.swept.front()->wake_if_late(later);
  }
  CHECK_FALSE(request.is_lingering());
  CHECK(request.process.permits.taken() == 0);
}

TEST_CASE("what turns out to be an event stream, without a permit for one, ends with its head") {
  Abandoned request;
  request.client_leaves();
  request.connection.send("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n");
  CHECK(request.ends());
  CHECK(request.process.has_free_slot());
  CHECK(request.process.gauges->abandoned_calls.value() == 0);
}

TEST_CASE("of an abandoned request whose head came in part the rest of the head is read") {
  Abandoned request("HTTP/1.1 200 OK\r\nContent-Le");
  request.client_leaves();
  request.connection.send("ngth: 4\r\n\r\ndone");
  CHECK(request.ends());
  CHECK(request.process.has_free_slot());
}

}  // namespace spillway::proxy
