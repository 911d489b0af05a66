// The life of a request. Its phases are named as in src/README.md.
//
// co_await stands alone in a statement, for the compiler's sake (src/README.md, rule 5). So a value
// that was awaited has a name before it is moved or returned.
#include "proxy/exchange/exchange.hpp"

#include <utility>

#include "proxy/exchange/long_lived.hpp"

namespace spillway::proxy {

// Finds an answer and sends it; observes the request in every case. A failure to send is a fault,
// in whose place another answer may be sent.
Task<> Exchange::serve(std::optional<Fault> unreadable) {
  request_.metrics().accept();
  Answer answer;
  if (unreadable) {
    answer = *unreadable;
  } else {
    Answer found = co_await find_answer();
    answer = std::move(found);
  }
  for (bool sent = false; !sent;) {
    substitute(answer);
    if (const Fault* const fault = fault_in(answer); fault && deferral_.takes(*fault)) {
      Answer later = co_await defer(*fault);
      answer = std::move(later);
    } else if (fault) {
      deferral_.keep_expired(*fault);
    }
    const std::optional<Fault> failure = co_await send(answer);
    sent = !failure;
    if (failure) answer = *failure;
  }
  admission_.end_shadow();
  observe(answer);
}

// Finds what answers the request.
Task<Answer> Exchange::find_answer() {
  if (const http::Error error = visitor_tokens_.take(); error != http::Error::none)
    co_return bad_request(error);
  if (const std::optional<Fault> fault = check_framing()) co_return *fault;
  if (const std::optional<Fault> fault = classify()) co_return *fault;
  if (const std::optional<std::string_view> own = own_part(request_, services_)) {
    request_.is_own = true;
    const Answer report = co_await own_answer(*own);
    co_return report;
  }
  const cache::Serving serving = lookup_.consult();
  if (cache::is_from_cache(serving)) {
    if (!entrance_.lets_by()) {
      std::optional<Answer> told = co_await entrance_.look_in();
      if (told) co_return std::move(*told);
    }
    co_return CachedResponse{};
  }
  if (!entrance_.lets_by()) {
    std::optional<Answer> told = co_await entrance_.enter();
    if (told) co_return std::move(*told);
  }
  if (std::optional<Answer> ended = admit()) co_return std::move(*ended);
  bool is_deferred = deferral_.comes_first();
  if (!is_deferred && deferral_.has_key()) {
    const Deferral::KeyState key = co_await deferral_.take_key();
    if (key == Deferral::KeyState::in_hand) co_return idempotency_key_in_hand();
    is_deferred = key == Deferral::KeyState::of_job;
  }
  if (!is_deferred && deferral_.has_order()) {
    const bool is_behind = co_await deferral_.is_behind_jobs();
    is_deferred = is_behind;
  }
  if (is_deferred) {
    const Answer later = co_await defer(std::nullopt);
    co_return later;
  }
  if (lookup_.shares_response()) {  // single flight
    const FlightMembership::Joined joined = co_await flight_.join();
    if (joined.is_stored) co_return CachedResponse{};
    if (joined.fault) co_return *joined.fault;
  }
  const Answer answer = co_await ask_upstream();
  co_return answer;
}

// Answers a request for the proxy itself: on a job, or on a place in a waiting room.
Task<Answer> Exchange::own_answer(std::string_view path) {
  if (WaitingResource::is_for(path)) {
    const Answer told = co_await waiting_resource_.answer(path);
    co_return told;
  }
  const Answer report = co_await job_resource_.answer(path);
  co_return report;
}

// Writes the request down, to be forwarded later. A client that prefers to wait for a while gets
// the answer itself if it comes meanwhile.
Task<Answer> Exchange::defer(std::optional<Fault> refused) {
  const Answer answer = co_await deferral_.write_down(std::move(refused));
  if (!is<DeferredRequest>(answer)) co_return answer;
  const bool has_ended = co_await deferral_.wait_for_end();
  if (has_ended) {
    const Answer ended =
        co_await job_resource_.answer_of(deferral_.job().id, deferral_.applied_to_answer());
    if (is<JobReport>(ended)) co_return ended;
  }
  co_return answer;
}

// Asks the upstream: the only part that uses its capacity.
Task<Answer> Exchange::ask_upstream() {
  if (const std::optional<Fault> fault = call_.circuits_fault()) co_return *fault;
  if (body_.has_any()) {
    const std::optional<Fault> unread = co_await body_.read_ahead();  // before a slot is held
    if (unread) co_return *unread;
    if (std::optional<Answer> ended = admit_again()) co_return std::move(*ended);
  }
  if (const std::optional<Fault> refused = enter_gate()) co_return *refused;
  if (admission_.is_queued()) {
    const std::optional<Fault> refused = co_await admission_.wait_in_queue();
    if (refused) co_return *refused;
  }
  if (const auto fault = reserve_permit(services_, request_, admission_, call_.permit()))
    co_return *fault;
  const std::optional<Fault> failure = co_await call_.ask();  // connect, send, retry, read the head
  if (failure) co_return *failure;
  if (call_.response().status == 101) co_return ProtocolSwitch{};
  keep_permit_if_stream(request_, call_.response(), call_.permit());
  if (const std::optional<Answer> instead = cached_instead()) co_return *instead;  // 304, 5xx
  co_return UpstreamResponse{};
}

// A stored response in place of the upstream's failure, or it or the fallback in place of a
// refusal. If there is none the fault stands, and the flight ends with it.
void Exchange::substitute(Answer& answer) {
  const Fault* const fault = fault_in(answer);
  if (fault == nullptr) return;
  if (!session_.has_started()) {
    if (take_stale_instead(*fault)) {
      answer = CachedResponse{};
      return;
    }
    if (const std::optional<Answer> instead = instead_of_refusal(*fault)) {
      answer = *instead;
      return;
    }
  }
  flight_.end(*fault);
}

// Sends the answer. A fault if it could not be sent to its end. A visitor's session in a waiting
// room may end first.
Task<std::optional<Fault>> Exchange::send(const Answer& answer) {
  const SessionEnd end = session_.has_started() ? SessionEnd::none : session_end_with(answer);
  return end == SessionEnd::none ? send_as(answer) : send_last(answer, end);
}

SessionEnd Exchange::session_end_with(const Answer& answer) const {
  if (const Fault* const fault = fault_in(answer))
    return session_end(entrance_.session(), fault->status, nullptr);
  if (!is<UpstreamResponse>(answer)) return SessionEnd::none;
  return session_end(entrance_.session(), call_.response().status, &call_.response());
}

Task<std::optional<Fault>> Exchange::send_last(const Answer& answer, SessionEnd end) {
  co_await entrance_.end_session(end);
  std::optional<Fault> failure = co_await send_as(answer);
  co_return failure;
}

Task<std::optional<Fault>> Exchange::send_as(const Answer& answer) {
  return by_kind(
      answer,  //
      [this](const Fault& fault) { return send_problem(fault); },
      [this](UpstreamResponse) { return relay_.run(); },
      [this](ProtocolSwitch) { return open_tunnel(); },
      [this](CachedResponse) { return send_cached(); },
      [this](RouteFallback) { return send_fallback(); },
      [this](DeferredRequest) {
        job_resource_.report_deferred(deferral_.job(), deferral_.applied_to_202());
        return send_own(own_response_);
      },
      [this](JobReport) { return send_own(own_response_); },
      [this](JobEvents) { return job_resource_.send_events(session_, admission_); },
      [this](WaitingPage) { return send_own(own_response_); },
      [this](WaitingReport) { return send_own(own_response_); },
      [this](WaitingEvents) {
        return waiting_resource_.send_events(session_, parking_, admission_);
      });
}

Exchange::Exchange(Services& services, LocalGeneration& generation, ClientSession& session,
                   Parking& parking, cache::CacheKey& key)
    : services_(services),
      session_(session),
      parking_(parking),
      request_(generation, session.request(), session.client(), services.now()),
      admission_(services, request_, parking),
      lookup_(services, request_, key),
      flight_(services, request_, lookup_, parking),
      fill_(services, request_, lookup_, flight_),
      body_(services, request_, session, parking),
      call_(services, request_, parking, admission_, lookup_, &session, &body_),
      relay_({services, request_, session, parking, body_, admission_, lookup_, flight_, fill_,
              call_}),
      deferral_(services, request_, session, parking, body_, call_, admission_.key()),
      job_resource_(services, request_, parking, own_response_),
      visitor_tokens_(request_, session),
      entrance_(services, request_, parking, visitor_tokens_, own_response_),
      waiting_resource_(services, request_, parking, visitor_tokens_, body_, own_response_) {}

}  // namespace spillway::proxy
