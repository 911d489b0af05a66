// The life of a request. Its phases are named as in src/README.md.
#include "proxy/exchange/exchange.hpp"

#include <utility>

#include "proxy/exchange/long_lived.hpp"

namespace spillway::proxy {

// Finds an answer and sends it; observes the request in every case.
Task<> Exchange::serve(std::optional<Fault> fault) {
  request_.metrics().accept();
  Answer answer;
  if (fault) {
    answer = *fault;
  } else {
    Answer found = co_await find_answer();
    answer = std::move(found);
  }
  for (bool sent = false; !sent;) {
    if (serves_stale_instead(answer)) answer = CachedResponse{};  // of the upstream's failure
    if (std::optional<Answer> instead = instead_of_refusal(answer)) answer = std::move(*instead);
    if (const Fault* const ended_by = fault_in(answer)) flight_.end(*ended_by);
    if (const Fault* const refused = fault_in(answer); refused && deferral_.takes(*refused)) {
      Answer later = co_await defer(*refused);
      answer = std::move(later);
    } else if (refused) {
      deferral_.keep_expired(*refused);
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
  classify();
  const bool rejects = request_.config().ambiguous_paths == config::AmbiguousPaths::reject;
  if (request_.subject.may_pass_by_waiting_room ||
      (request_.subject.has_conflicting_path && rejects))
    co_return bad_request(http::Error::ambiguous_path);
  if (request_.subject.has_unclear_sender) co_return bad_request(http::Error::repeated_field);
  if (const std::optional<std::string_view> own = own_part(request_, services_)) {
    request_.is_own = true;
    const Answer report = co_await own_answer(*own);
    co_return report;
  }
  const cache::Serving serving = lookup_.consult();
  if (serving == cache::Serving::fresh || serving == cache::Serving::stale_while_revalidate) {
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

// On a job, or on a place in a waiting room.
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
  if (expects_long_response(request_.head, request_.upgrade)) {
    const auto kind =
        request_.upgrade.empty() ? observe::TunnelKind::event_stream : observe::TunnelKind::upgrade;
    const auto none = take_permit(services_, request_, admission_, kind, call_.permit());
    if (none) co_return *none;
  }
  const std::optional<Fault> failure = co_await call_.ask();  // connect, send, retry, read the head
  if (failure) co_return *failure;
  if (call_.response().status == 101) co_return ProtocolSwitch{};
  const bool is_for_stream = call_.permit() && request_.upgrade.empty() &&
                             is_event_stream(request_.head.method, call_.response());
  if (!is_for_stream) call_.permit() = {};
  if (const std::optional<Answer> instead = cached_instead()) co_return *instead;  // 304, 5xx
  co_return UpstreamResponse{};
}

// A fault if the response could not be sent to its end.
Task<std::optional<Fault>> Exchange::send(const Answer& answer) {
  const Fault* const fault = fault_in(answer);
  const bool is_relayed = is<UpstreamResponse>(answer);
  if (session_.has_started() || (fault == nullptr && !is_relayed)) return send_as(answer);
  const http::ResponseHead* const response = is_relayed ? &call_.response() : nullptr;
  if (entrance_.has_failed(is_relayed ? response->status : fault->status, response))
    return send_failed_entry(answer);
  if (is_relayed && entrance_.is_over(*response)) return send_last(answer);
  return send_as(answer);
}

// To a visitor whose session ends with it.
Task<std::optional<Fault>> Exchange::send_last(const Answer& answer) {
  co_await entrance_.end_session();
  std::optional<Fault> failure = co_await send_as(answer);
  co_return failure;
}

// A session that began with this request.
Task<std::optional<Fault>> Exchange::send_failed_entry(const Answer& answer) {
  co_await entrance_.go_back();
  std::optional<Fault> failure = co_await send_as(answer);
  co_return failure;
}

Task<std::optional<Fault>> Exchange::send_as(const Answer& answer) {
  const Fault* const fault = fault_in(answer);
  if (fault != nullptr) return send_problem(*fault);
  if (is<CachedResponse>(answer)) return send_cached();
  if (is<RouteFallback>(answer)) return send_fallback();
  if (is<ProtocolSwitch>(answer)) return open_tunnel();
  if (is<JobEvents>(answer)) return job_resource_.send_events(session_, admission_);
  if (is<WaitingEvents>(answer))
    return waiting_resource_.send_events(session_, parking_, admission_);
  if (is<DeferredRequest>(answer))
    job_resource_.report_deferred(deferral_.job(), deferral_.applied_to_202());
  const bool is_own = is<DeferredRequest>(answer) || is<JobReport>(answer) ||
                      is<WaitingPage>(answer) || is<WaitingReport>(answer);
  return is_own ? send_own(own_response_) : relay_.run();
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
