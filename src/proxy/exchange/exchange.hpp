// One request and its response, from the head to the access log (exchange.cpp: read it first).
//
// Made for each request and destroyed at its end, so that no state of one client reaches another.
// The pure rooms make the decisions; the parts below do the work, each with one task.
#pragma once

#include <optional>

#include "overload/admission/degraded_answer.hpp"
#include "proxy/cache/cache_fill.hpp"
#include "proxy/cache/cache_lookup.hpp"
#include "proxy/cache/flight_membership.hpp"
#include "proxy/call/upstream_call.hpp"
#include "proxy/deferral/deferral.hpp"
#include "proxy/deferral/job_resource.hpp"
#include "proxy/exchange/event_stream.hpp"
#include "proxy/exchange/response_relay.hpp"
#include "proxy/net/task.hpp"
#include "proxy/request/admission/admission.hpp"
#include "proxy/request/answer/answer.hpp"
#include "proxy/request/answer/fault.hpp"
#include "proxy/request/body/request_body.hpp"
#include "proxy/request/client/client_session.hpp"
#include "proxy/request/context/request_context.hpp"
#include "proxy/request/owner/services.hpp"
#include "proxy/visitors/entrance.hpp"
#include "proxy/visitors/visitor_tokens.hpp"
#include "proxy/visitors/waiting_resource.hpp"

namespace spillway::proxy {

class Exchange {
 public:
  // Pins `generation`, the newest one. The memory of `key` is reused from request to request.
  Exchange(Services& services, LocalGeneration& generation, ClientSession& session,
           Parking& parking, cache::CacheKey& key);
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  // The whole life of the request. `unreadable`: why its head could not be read.
  Task<> serve(std::optional<Fault> unreadable);
  // If the process ends before serve() does: writes the access log's line.
  void log_unfinished();
  // After serve(): the response is an event stream, which goes on without the exchange.
  bool has_event_stream() const { return relay_.is_long_lived(); }
  EventStream::Parts take_event_stream() {
    return relay_.take_event_stream(entrance_.lasting_stay());
  }

  const RequestContext& request() const { return request_; }
  RequestBody& body() { return body_; }
  const RequestBody& body() const { return body_; }
  bool holds_slot() const { return admission_.has_slot(); }
  // See ResponseRelay::may_spill().
  bool may_spill() { return relay_.may_spill(); }
  void spill_soon() { relay_.spill_soon(); }
  // Its response uses disk space for a slow client, and recently another body found none.
  bool keeps_space(TimePoint now) const { return relay_.keeps_space(now); }
  const Admission& admission() const { return admission_; }
  void set_slot_wait(SlotWait wait, Duration waited = {}) {
    admission_.set_slot_wait(wait, waited);
  }
  const http::ProtectedFields& protected_fields() const {
    return request_.generation->generation().protected_fields;
  }
  // Reports that its visitor, if a waiting room let it in, is still here.
  void report_stay(TimePoint now) { entrance_.report_stay(now); }
  std::optional<TimePoint> head_awaited_since() const { return call_.head_awaited_since(); }

 private:
  // Created on first use: few requests need one (exchange_parts.cpp).
  JobResource& job_resource();
  WaitingResource& waiting_resource();

  // The phases (exchange.cpp).
  Task<Answer> find_answer();
  Task<Answer> own_answer(std::string_view path);
  Task<std::optional<Answer>> pass_entrance(cache::Serving serving);
  Task<std::optional<Answer>> defer_first();
  Task<Answer> defer(std::optional<Fault> refused);
  Task<Answer> ask_upstream();
  void substitute(Answer& answer);

  // What the request is (classify.cpp).
  std::optional<Fault> check_framing();
  std::optional<Fault> classify();

  // Whether it goes on to the upstream (admit.cpp).
  std::optional<Answer> admit();
  std::optional<Answer> admit_again();
  std::optional<Answer> follow_verdict();
  std::optional<Fault> enter_gate();

  // Degraded and stale responses (degrade.cpp).
  std::optional<Answer> degrade();
  std::optional<Answer> on_miss();
  void prefer_free_response();
  overload::AtHand at_hand(config::DegradeMode mode);
  bool has_fallback() const;
  Answer fallback();
  Answer cached(bool refresh);
  std::optional<Answer> cached_instead();
  bool take_stale_instead(const Fault& fault);
  std::optional<Answer> instead_of_refusal(const Fault& fault);
  bool would_answer_refusal();
  void take_stale_for(const Fault& fault, std::optional<unsigned> status);

  // How each kind of answer is sent (send.cpp).
  Task<std::optional<Fault>> send(const Answer& answer);
  VisitorSessionEnd session_end_with(const Answer& answer) const;
  Task<std::optional<Fault>> send_last(const Answer& answer, VisitorSessionEnd end);
  Task<std::optional<Fault>> send_as(const Answer& answer);
  Task<std::optional<Fault>> send_problem(const Fault& fault);
  Task<std::optional<Fault>> send_cached();
  Task<bool> send_kept(std::string_view content, const cache::StoredResponse* stored);
  Task<std::optional<Fault>> send_fallback();
  Task<std::optional<Fault>> send_own(const LocalReply& response);
  Task<std::optional<Fault>> open_tunnel();
  http::ForwardedResponse additions(const http::CacheStatus& status) const;

  // Metrics (observe.cpp) and access log (access_log.cpp).
  void observe(const Answer& answer);
  bool is_logged();
  void log_access(const Answer& answer, Outcome outcome, Duration duration);

  Services& services_;
  ClientSession& session_;
  Parking& parking_;
  RequestContext request_;
  Admission admission_;
  CacheLookup lookup_;
  FlightMembership flight_;
  CacheFill fill_;
  RequestBody body_;
  UpstreamCall call_;
  ResponseRelay relay_;
  Deferral deferral_;
  LocalReply local_reply_;  // for a job, a place in line or a waiting page
  std::optional<JobResource> job_resource_;
  VisitorTokens visitor_tokens_;
  Entrance entrance_;
  std::optional<WaitingResource> waiting_resource_;
};

}  // namespace spillway::proxy
