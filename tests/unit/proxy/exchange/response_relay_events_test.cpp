// The beginning of an event stream: its permit, its head and its first events.
#include <doctest/doctest.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "unit/proxy/exchange/relayed_response.hpp"

namespace spillway::proxy {
namespace {

using observe::TunnelEnd;
using observe::TunnelResult;

const std::string kEventsHead = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n";

const observe::TunnelCounts& stream_counts(RelayedResponse& it) {
  return it.process.gauges->tunnels[index(observe::TunnelKind::event_stream)];
}

}  // namespace

TEST_CASE("an event stream goes on without its request, its slot and its place in the pool") {
  RelayedResponse it(kEventsHead + "data: 1\n\n");
  it.relays();
  REQUIRE(it.is_over);
  CHECK_FALSE(it.fault);
  CHECK(it.relay.is_long_lived());
  CHECK(it.asked.session.sent == "data: 1\n\n");
  CHECK(it.process.has_free_slot());
  CHECK(it.process.permits.taken() == 1);
  CHECK(stream_counts(it).open.value() == 1);
  CHECK(it.asked.failures() == 0);
  {
    const EventStream::Parts parts = it.relay.take_event_stream({});
    CHECK(parts.connection->open());
    parts.connection->retire();
  }
  CHECK(it.process.permits.taken() == 0);
}

TEST_CASE("an event stream without a permit is refused, and its server learns of it") {
  for (const bool is_draining : {false, true}) {
    CAPTURE(is_draining);
    RelayedResponse it(kEventsHead,
                       {.change = [](nlohmann::json& all) { all["limits"]["tunnels"] = 1; }});
    it.process.services.draining = is_draining;
    if (!is_draining) REQUIRE(it.process.permits.try_take(1));
    it.relays();
    REQUIRE(it.is_over);
    CHECK(it.reason() == (is_draining ? Reason::draining : Reason::tunnel_limit));
    CHECK(it.fault->status == 503);
    CHECK_FALSE(it.relay.is_long_lived());
    CHECK_FALSE(it.asked.session.has_started());
    it.asked.call.abandon();
    CHECK(it.process.has_free_slot());
    CHECK(runs_until(it.process,
                     [&] { return it.connection.end() != SteppedConnection::End::none; }));
    CHECK(it.asked.failures() == 0);
  }
}

TEST_CASE("an event stream that has ended with its head is an ordinary response") {
  for (const std::string& response :
       {std::string("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
                    "Content-Length: 9\r\n\r\ndata: 1\n\n"),
        std::string("HTTP/1.1 503 No\r\nContent-Type: text/event-stream\r\n"
                    "Content-Length: 9\r\n\r\ndata: 1\n\n")}) {
    CAPTURE(response);
    RelayedResponse it(response);
    it.relays();
    REQUIRE(it.is_over);
    CHECK_FALSE(it.fault);
    CHECK_FALSE(it.relay.is_long_lived());
    CHECK(it.process.permits.taken() == 0);
    CHECK(it.asked.session.sent == "data: 1\n\n");
  }
}

TEST_CASE("an event stream whose client gets nothing keeps its permit until its server knows") {
  enum class Why { no_head, client_left };
  for (const Why why : {Why::no_head, Why::client_left}) {
    CAPTURE(static_cast<int>(why));
    RelayedResponse it(kEventsHead + "data: 1\n\n", {.room = 0});
    it.asked.session.has_head_room = why == Why::client_left;
    it.relays();
    if (why == Why::client_left) {
      REQUIRE_FALSE(it.is_over);
      CHECK(it.process.has_free_slot());
      it.asked.parking.wake(Wake::client_gone);
    }
    REQUIRE(it.is_over);
    CHECK(it.reason() == (why == Why::no_head ? Reason::upstream_invalid : Reason::none));
    CHECK_FALSE(it.relay.is_long_lived());
    CHECK(it.asked.session.is_open() == (why == Why::no_head));
    CHECK(it.process.owner.swept.size() == 1);
    CHECK(it.process.permits.taken() == 1);
    REQUIRE(runs_until(it.process,
                       [&] { return it.connection.end() == SteppedConnection::End::half_closed; }));
    it.connection.close();
    CHECK(runs_until(it.process, [&] { return it.process.owner.swept.empty(); }));
    CHECK(it.process.permits.taken() == 0);
    const TunnelEnd end = why == Why::no_head ? TunnelEnd::broken : TunnelEnd::finished;
    CHECK(stream_counts(it).ended[index(end)].value() == 1);
  }
}

}  // namespace spillway::proxy
