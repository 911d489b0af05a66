// Relays the upstream's response to the client, with bounded memory (relay_state.hpp). A long body
// that needs no inspection goes through a pipe instead of the block, without a copy (splice(2)).
// Bytes that a slow client leaves are set aside (spill.hpp), if there is room for all of them.
#pragma once

#include <optional>
#include <string_view>

#include "http/message/body.hpp"
#include "proxy/cache/cache_fill.hpp"
#include "proxy/cache/cache_lookup.hpp"
#include "proxy/cache/flight_membership.hpp"
#include "proxy/call/upstream_call.hpp"
#include "proxy/exchange/event_stream.hpp"
#include "proxy/net/pipe.hpp"
#include "proxy/net/task.hpp"
#include "proxy/request/admission/admission.hpp"
#include "proxy/request/body/relay_state.hpp"
#include "proxy/request/body/request_body.hpp"
#include "proxy/request/body/spill.hpp"
#include "proxy/request/client/client_session.hpp"
#include "proxy/request/context/request_context.hpp"
#include "proxy/request/owner/services.hpp"

namespace spillway::proxy {

class ResponseRelay {
 public:
  // The parts of the same request that it uses.
  struct Parts {
    Services& services;
    const RequestContext& request;
    ClientSession& session;
    Parking& parking;
    RequestBody& body;
    Admission& admission;
    CacheLookup& lookup;
    FlightMembership& flight;
    CacheFill& fill;
    UpstreamCall& call;
  };

  explicit ResponseRelay(const Parts& parts) : to_(parts), spill_(parts.services, parts.request) {}
  ~ResponseRelay() {
    if (stream_connection_) stream_connection_->retire();
  }
  ResponseRelay(const ResponseRelay&) = delete;
  ResponseRelay& operator=(const ResponseRelay&) = delete;

  // Relays the response, whose head the call has read, to its end; for an event stream, only the
  // head and the bytes received with it. A fault: the response could not be started, or broke off.
  Task<std::optional<Fault>> run();

  // Its slot waits only for the client, and there is room for all that the client has not taken.
  bool may_spill() { return is_held_back_ && has_room_aside(room_for_rest()); }
  // Then it sets those bytes aside; it is woken as if its wait had timed out.
  void spill_soon();
  // See Spill::keeps_space().
  bool keeps_space(TimePoint now) const { return spill_.keeps_space(now); }

  // It is an event stream, which outlives the request.
  bool is_long_lived() const { return is_event_stream_; }
  EventStream::Parts take_event_stream(Stay stay);

 private:
  struct Moved {
    bool any = false;
    std::optional<Fault> fault;
  };

  std::optional<Fault> check();
  Fault fail(const Fault& fault);
  std::optional<Fault> begin_event_stream();
  void drop_event_stream(observe::TunnelEnd how);
  bool start_response();
  bool may_splice() const;
  enum class Spilled : std::uint8_t { some, nothing };
  Spilled spill();
  std::uint64_t room_for_rest() const;
  bool has_room_aside(std::uint64_t bytes) {
    return spill_.has_memory(bytes) || spill_.has_file_room(bytes);
  }
  bool is_worth_a_file() const;
  Moved move_some();
  Task<std::optional<Fault>> wait(RelayState::Next next);
  Moved receive_some();
  Moved send_some();
  void finish_upstream();
  RelayState::Next next() const;
  RelayState& state() const { return to_.call.state(); }
  http::BodyReader& reader() const { return to_.call.body_reader(); }

  Parts to_;
  Pipe pipe_;
  Spill spill_;
  UpstreamPtr stream_connection_;  // for an event stream
  std::optional<StreamResult> stream_result_;
  Duration held_back_{};  // how long the upstream could not be read because of the client
  bool dechunks_ = false;
  bool is_event_stream_ = false;
  bool is_held_back_ = false;  // it waits, and its slot waits only for the client
};

}  // namespace spillway::proxy
