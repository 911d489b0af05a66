// A request at its upstream: sent on a connection, and again where that is safe, up to the head of
// the response. The body that follows is relayed by somebody else (response_relay.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "http/response_reader.hpp"
#include "proxy/exchange/admission.hpp"
#include "proxy/exchange/cache_lookup.hpp"
#include "proxy/exchange/client_session.hpp"
#include "proxy/exchange/deadlines.hpp"
#include "proxy/exchange/fault.hpp"
#include "proxy/exchange/relay_state.hpp"
#include "proxy/exchange/request_body.hpp"
#include "proxy/exchange/request_context.hpp"
#include "proxy/exchange/server_connector.hpp"
#include "proxy/exchange/services.hpp"
#include "proxy/net/block_pool.hpp"
#include "proxy/net/task.hpp"
#include "resilience/next_attempt.hpp"

namespace spillway::proxy {

class UpstreamCall {
 public:
  // Without a session and a body in the background.
  UpstreamCall(Services& services, const RequestContext& request, Parking& parking,
               Admission& admission, CacheLookup& lookup, ClientSession* session,
               RequestBody* body);
  UpstreamCall(const UpstreamCall&) = delete;
  UpstreamCall& operator=(const UpstreamCall&) = delete;
  ~UpstreamCall() { close(); }

  // Asks the upstream. Without a fault, response() is there.
  Task<std::optional<Fault>> ask();

  http::ResponseHead& response() { return response_; }
  const http::ResponseHead& response() const { return response_; }
  // What was received with and behind the head.
  Block& block() { return block_; }
  RelayState& state() { return state_; }
  UpstreamConnection& connection() { return *connection_; }

  // --- How it ends, once the head is there.
  // The response has been read to its end: the slot and the connection are free for others, though
  // the client may still have to take its bytes.
  void finish();
  // The connection stays open beyond the request (a tunnel, an event stream): it leaves the
  // upstream's connection budget, and the slot is free.
  UpstreamPtr detach();
  // The upstream is not listened to any more, or was not asked.
  void abandon();
  // The server failed after the head of its response: counted and logged, but held against neither
  // circuit nor balance.
  Fault fail_after_head(const Fault& fault);

  const Deadlines& deadlines() const { return deadlines_; }
  const ServerConnector& connector() const { return connector_; }
  std::optional<Fault> circuits_fault() { return connector_.circuits_fault(); }
  // Since when the upstream owes a response head; nullopt if it does not, or if a long wait is no
  // sign of latency.
  std::optional<TimePoint> head_awaited_since() const;

 private:
  struct Attempt {
    resilience::AttemptResult result = resilience::AttemptResult::answered;
    Fault fault;
  };
  enum class Next : std::uint8_t { ask_again, give_up };

  Task<Attempt> ask_once();
  Task<std::optional<Fault>> send_request();
  std::optional<Fault> write_head(Block& block, std::string_view& head);
  Task<Attempt> read_head();
  Task<Transfer> receive_more(std::size_t received);
  Task<Next> retry(Attempt& failed);
  std::optional<TimePoint> awaited_since() const;
  void record_latency(std::optional<TimePoint> since);
  void report(const Fault* fault);
  void count_success();
  void close();
  resilience::AttemptFacts facts() const;
  Fault fault_of(Transfer::Status status) const;
  bool is_pumping() const { return body_ != nullptr && body_->is_pumping(); }
  bool is_streamed() const { return body_ != nullptr && body_->is_streamed(); }

  Services& services_;
  const RequestContext& request_;
  Parking& parking_;
  Admission& admission_;
  CacheLookup& lookup_;
  ClientSession* const session_;
  RequestBody* const body_;
  ServerConnector connector_;
  Deadlines deadlines_;
  UpstreamPtr connection_;
  Circuits::Call call_;  // until it is known what came of it
  http::ResponseHead response_;
  Block block_;
  RelayState state_;
  TimePoint began_{};          // the attempt, for its latency
  std::uint32_t retries_ = 0;  // attempts besides the first
  std::uint32_t pauses_ = 0;   // before them
  bool was_replaced_ = false;  // a kept connection turned out dead
  bool sent_any_ = false;      // of this attempt
  bool awaits_head_ = false;
};

}  // namespace spillway::proxy
