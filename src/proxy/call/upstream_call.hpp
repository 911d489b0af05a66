// A request at its upstream: connects, sends, reads the head of the response, and retries if that
// is safe. ResponseRelay relays the body.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "http/message/body.hpp"
#include "http/message/response_reader.hpp"
#include "proxy/cache/cache_lookup.hpp"
#include "proxy/call/rest_of_response.hpp"
#include "proxy/call/server_connector.hpp"
#include "proxy/call/stream_result.hpp"
#include "proxy/net/block_pool.hpp"
#include "proxy/net/task.hpp"
#include "proxy/net/transfer.hpp"
#include "proxy/request/admission/admission.hpp"
#include "proxy/request/admission/deadlines.hpp"
#include "proxy/request/answer/fault.hpp"
#include "proxy/request/body/relay_state.hpp"
#include "proxy/request/body/request_body.hpp"
#include "proxy/request/client/client_session.hpp"
#include "proxy/request/context/request_context.hpp"
#include "proxy/request/owner/services.hpp"
#include "proxy/request/owner/tunnel_permit.hpp"
#include "resilience/next_attempt.hpp"

namespace spillway::proxy {

class UpstreamCall {
 public:
  // For background requests `session` and `body` are null.
  UpstreamCall(Services& services, const RequestContext& request, Parking& parking,
               Admission& admission, CacheLookup& lookup, ClientSession* session,
               RequestBody* body);
  UpstreamCall(const UpstreamCall&) = delete;
  UpstreamCall& operator=(const UpstreamCall&) = delete;
  ~UpstreamCall() { close(); }

  // A deferred request: the texts to send instead of a head of its own and the client's body. They
  // must stay in place until the call has ended.
  struct Written {
    std::string_view head, body;
    bool is_retry = false;     // of an earlier attempt: adds nothing to the retry budget
    bool may_be_late = false;  // the head of the response may come until the request's `due`
  };
  void send_written(const Written& written) { written_ = written; }

  // Asks the upstream. Without a fault, response() is there.
  Task<std::optional<Fault>> ask();
  // After a fault of ask(): if there was no response in time, goes on waiting for as long as the
  // request would keep its slot if abandoned (AbandonedCall). True: response() is there. The
  // failure has been reported to the server's circuit, and stands.
  Task<bool> answers_late();
  // The same wait for the rest of a stalled response, which read_late_rest() reads; returns when it
  // ends. nullopt: the request would keep no slot.
  std::optional<TimePoint> begin_late_wait();
  enum class LateEnd : std::uint8_t {
    response,      // the late response has come
    nothing,       // it has not come
    from_outside,  // the wait was ended
  };
  void end_late_wait(LateEnd how);
  // It waits in this way, but its server gets no more requests.
  bool waits_in_vain() const;

  http::ResponseHead& response() { return response_; }
  const http::ResponseHead& response() const { return response_; }
  // The block with the head and the bytes received after it.
  Block& block() { return block_; }
  RelayState& state() { return state_; }
  // From now on this reads its body, so that the end of the response is found even if the request
  // is abandoned meanwhile.
  http::BodyReader& begin_body();
  http::BodyReader& body_reader() { return *reader_; }
  UpstreamConnection& connection() { return *connection_; }
  // A permit of limits.tunnels, for a response that may become, or has become, long-lived.
  TunnelPermit& permit() { return permit_; }

  // --- How it ends, after the head.
  // The response has been read to its end: frees the slot and the connection, although the client
  // may not have received all of it.
  void finish();
  // The response is a 304 that freshens the stored response, which is used instead. True if that
  // response is stored again.
  bool finish_confirmed() {
    const bool is_stored = lookup_.take_confirmed(response_, admission_.dispatched());
    // A 304 has no body: further bytes are not HTTP.
    if (state_.end() > state_.checked_to()) response_.keep_alive = false;
    finish();
    return is_stored;
  }
  // The connection outlives the request: takes it out of the upstream's connection budget and frees
  // the slot. A tunnel is a success of its server, however and whenever it ends: its content is not
  // HTTP.
  UpstreamPtr detach_tunnel();
  // How an event stream ends has yet to be reported to `result`.
  UpstreamPtr detach_event_stream(std::optional<StreamResult>& result);
  // Drops the connection, if there is one, and frees the slot.
  void drop() {
    call_.ignore();
    if (body_ != nullptr) body_->stop_pump();
    close();
    admission_.abandon_slot(services_.now()).release();
    permit_ = {};
  }
  // The same, but later if the upstream may be at work on the request (AbandonedCall).
  void abandon();
  // A response that still arrives a second after its head counts as a success of the server: it may
  // never end.
  void on_body_bytes();
  // The server failed after the head of its response: counted and logged, unless the attempt has
  // failed before, and held against the server unless it may have given up on a slow client.
  Fault fail_after_head(const Fault& fault, bool is_servers_fault = true);

  // Bytes of the request have gone to a server, in any attempt.
  bool was_sent() const { return so_far_.was_sent || current_.sent_any; }
  const Deadlines& deadlines() const { return deadlines_; }
  const ServerConnector& connector() const { return connector_; }
  std::optional<Fault> circuits_fault() { return connector_.circuits_fault(); }
  // Since when the upstream owes a response head; nullopt if it owes none, or if the wait does not
  // count as latency.
  std::optional<TimePoint> head_awaited_since() const;

 private:
  struct Attempt {
    resilience::AttemptResult result = resilience::AttemptResult::answered;
    Fault fault;
  };
  enum class Next : std::uint8_t { ask_again, give_up };
  // State of the response's head. It is awaited even if nothing was sent: it may already be there.
  enum class Head : std::uint8_t { none, awaited, received };
  // The current attempt.
  struct Current {
    TimePoint began{};                    // for its latency
    std::optional<TimePoint> owed_since;  // when the whole request had been sent
    // Since then the upstream has the whole request and works on it.
    std::optional<TimePoint> at_work_since;
    std::optional<TimePoint> late_until;  // it has timed out; a late response is awaited until then
    std::optional<TimePoint> held_until;  // the same time, kept after that wait has ended
    std::size_t received = 0;             // bytes of the response's head in the block
    bool sent_any = false;                // any byte of the request
    Head head = Head::none;
  };
  // The sum of all attempts.
  struct SoFar {
    std::uint32_t retries = 0;  // attempts after the first
    std::uint32_t pauses = 0;   // before retries
    bool was_replaced = false;  // a kept connection was found closed
    bool has_server_failed = false;
    bool has_timed_out = false;   // also has_server_failed: no response in time, or it stalled
    bool has_broken_off = false;  // also has_server_failed: after the head
    bool was_sent = false;        // in an attempt before the current one
    TimePoint answered_at{};
  };

  Task<Attempt> ask_once();
  SendAll send(std::string_view head);
  std::optional<Fault> fault_of_sending(const Transfer& sent);
  std::optional<Fault> write_head(Block& block, std::string_view& head);
  Task<Attempt> read_head();
  TimePoint head_due();
  Transfer receive_first(Wake wake);
  std::span<char> room_for_more(std::size_t received);
  Task<Next> retry(Attempt& failed);
  std::optional<TimePoint> awaited_since() const;
  void record_latency(std::optional<TimePoint> since);
  void report(const Fault* fault);
  void count_success();
  UpstreamPtr detach();
  bool has_ended_by_failure() const;
  TimePoint response_expected_by(TimePoint now) const;
  bool may_answer_too_late() const;
  TimePoint hold_ends(TimePoint now) const;
  RestOfResponse rest_of_response() const;
  void close() {
    if (!connection_) return;
    connection_->retire();
    connection_.reset();
  }
  resilience::AttemptFacts facts() const;
  Fault fault_of(Transfer::Status status) const;
  bool is_pumping() const { return body_ != nullptr && body_->is_pumping(); }
  bool is_receiving() const { return body_ != nullptr && body_->is_receiving(); }
  bool is_streamed() const { return body_ != nullptr && body_->is_streamed(); }

  Services& services_;
  const RequestContext& request_;
  Parking& parking_;
  Admission& admission_;
  CacheLookup& lookup_;
  ClientSession* const session_;
  RequestBody* const body_;
  Written written_;  // if its head is empty, the request is not a deferred one
  ServerConnector connector_;
  Deadlines deadlines_;
  UpstreamPtr connection_;
  TunnelPermit permit_;
  Circuits::Call call_;  // until its result has been reported
  http::ResponseHead response_;
  Block block_;
  RelayState state_;
  std::optional<http::BodyReader> reader_;  // for the body, once it is being read
  SoFar so_far_;
  Current current_;
};

}  // namespace spillway::proxy
