// A response that is relayed: the upstream's head is there, with what came with it.
#pragma once

#include <doctest/doctest.h>

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "proxy/exchange/response_relay.hpp"
#include "unit/proxy/call/asked_upstream.hpp"

namespace spillway::proxy {

struct RelaySettings {
  std::string head = get();
  std::size_t room = kAnyNumber;  // of the client
  std::function<void(nlohmann::json&)> change{};
};

struct RelayedResponse {
  explicit RelayedResponse(std::string_view response, const RelaySettings& with = {})
      : process(settings_with({server.address()}, with.change)),
        asked(process, with.head, RequestContext::Kind::live, with.room),
        relay({process.services, asked.request, asked.session, asked.parking, asked.body,
               asked.admission, asked.lookup, asked.flight, asked.fill, asked.call}) {
    asked.lookup.consult();
    asked.ask();
    connection = asked.connects_to(server);
    asked.is_read_by(connection);
    connection.send(response);
    REQUIRE(asked.ends());
    REQUIRE_FALSE(asked.fault);
  }
  ~RelayedResponse() {
    if (asked.parking.parked()) asked.parking.wake(Wake::client_gone);
  }

  // As far as it goes without being told of anything.
  void relays() {
    process.loop.begin_event();
    [](RelayedResponse& it) -> Detached {
      const std::optional<Fault> failure = co_await it.relay.run();
      it.fault = failure;
      it.is_over = true;
    }(*this);
  }
  bool ends() {
    return runs_until(process, [&] { return is_over; });
  }
  // Until the proxy has read all that the server has sent.
  void takes_all() {
    REQUIRE(runs_until(process,
                       [&] { return is_over || process.has_free_slot() || asked.unread() == 0; }));
  }
  // The server sends as much as the proxy takes, and some more.
  void fills_up() {
    const std::string piece(64 * 1024, 'x');
    std::size_t taken = 0;
    for (std::size_t before = 1; before != taken;) {
      before = taken;
      for (int n = 0; n < 8; ++n) {
        taken += connection.send_some(piece);
        process.loop.poll();
      }
    }
  }
  Reason reason() const { return fault ? fault->reason : Reason::none; }

  SteppedServer server;
  SteppedConnection connection;
  Process process;
  AskedUpstream asked;
  ResponseRelay relay;
  bool is_over = false;
  std::optional<Fault> fault;
};

}  // namespace spillway::proxy
