// The life of a request, from top to bottom. src/README.md lists its phases by these calls.
//
// co_await stands alone in a statement because of a compiler bug (src/README.md, rule 5). So the
// result of a co_await is named before it is moved or returned.
#include "proxy/exchange/exchange.hpp"

#include <string>
#include <utility>

#include "proxy/request/admission/long_lived.hpp"

namespace spillway::proxy {

// Finds an answer, sends it, and records the request. If sending fails, the failure becomes the new
// answer. Until the client has received anything, substitute() may replace it. After that it
// stands, and send() breaks the response off; then the loop ends.
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
    // A refusal may become a job instead.
    if (const Fault* const fault = fault_in(answer); fault && deferral_.replaces(*fault)) {
      Answer later = co_await defer(*fault);
      answer = std::move(later);
    } else if (fault) {
      deferral_.keep_expired(*fault);  // as a dead letter, if configured
    }
    const std::optional<Fault> failure = co_await send(answer);
    sent = !failure;
    if (failure) answer = *failure;
  }
  admission_.end_shadow();  // the ghost leaves the gate; if it was refused there, that is counted
  observe(answer);
}

// Finds the answer: each step either answers the request or lets it go on; the upstream comes last.
Task<Answer> Exchange::find_answer() {
  // Visitors' tokens are taken out of the head before anything else reads it.
  if (const http::Error error = visitor_tokens_.take(); error != http::Error::none)
    co_return bad_request(error);
  if (const std::optional<Fault> fault = check_framing()) co_return *fault;
  if (const std::optional<Fault> fault = classify()) co_return *fault;
  // A request to the proxy itself: below `own_path`.
  if (const std::optional<std::string_view> own = own_part(request_, services_)) {
    request_.is_own = true;
    const Answer report = co_await own_answer(*own);
    co_return report;
  }
  const cache::Serving serving = lookup_.consult();  // whether a stored response can be used
  if (!entrance_.lets_pass()) {                      // its waiting room must be asked
    std::optional<Answer> answer = co_await pass_entrance(serving);
    if (answer) co_return std::move(*answer);
  }
  if (cache::is_from_cache(serving)) co_return CachedResponse{};
  // The plan's verdict: refuse, degrade, or let the request go on.
  if (std::optional<Answer> ended = admit()) co_return std::move(*ended);
  if (deferral_.is_configured()) {
    std::optional<Answer> deferred = co_await defer_first();
    if (deferred) co_return std::move(*deferred);
  }
  if (lookup_.shares_response()) {  // single flight: another request may be asking already
    const FlightMembership::Joined joined = co_await flight_.join();
    if (joined.is_stored) co_return CachedResponse{};
    if (joined.fault) co_return *joined.fault;
  }
  const Answer answer = co_await ask_upstream();
  co_return answer;
}

// Answers a request to the proxy itself: about a job, or about a place in a waiting room.
Task<Answer> Exchange::own_answer(std::string_view path) {
  if (WaitingResource::is_for(path)) {
    const Answer answer = co_await waiting_resource().answer(path);
    co_return answer;
  }
  const Answer answer = co_await job_resource().answer(path);
  co_return answer;
}

// Lets the request through the waiting room of its route, or makes its visitor wait. A cached
// response needs no pass: look_in() only renews a pass or claims a ticket. A visitor whose ticket
// has not been called gets the waiting page.
Task<std::optional<Answer>> Exchange::pass_entrance(cache::Serving serving) {
  if (cache::is_from_cache(serving)) {
    std::optional<Answer> answer = co_await entrance_.look_in();
    co_return answer;
  }
  std::optional<Answer> answer = co_await entrance_.enter();
  co_return answer;
}

// Defers the request even if there is room for it: its route always defers, its client prefers it,
// or the proxy drains; its Idempotency-Key has a job; or a job of the same order has not ended.
Task<std::optional<Answer>> Exchange::defer_first() {
  const Deferral::Turn turn = co_await deferral_.turn();
  if (turn == Deferral::Turn::now) co_return std::nullopt;
  // Another request with this key is being answered now: 409.
  if (turn == Deferral::Turn::of_another) co_return idempotency_key_in_flight();
  Answer answer = co_await defer(std::nullopt);
  co_return std::move(answer);
}

// Stores the request, to be forwarded later. With `Prefer: wait=N` the client gets the job's
// response if it comes within N seconds, else the 202.
Task<Answer> Exchange::defer(std::optional<Fault> refused) {
  const Answer answer = co_await deferral_.write_down(std::move(refused));
  if (!is<DeferredRequest>(answer)) co_return answer;
  const bool has_ended = co_await deferral_.wait_for_end();
  if (has_ended) {
    const std::string applied = deferral_.applied_to_answer();  // for Preference-Applied
    const Answer ended = co_await job_resource().answer_of(deferral_.job().id, applied);
    if (is<JobReport>(ended)) co_return ended;
  }
  co_return answer;
}

// Asks the upstream: the only phase that uses the upstream's capacity.
Task<Answer> Exchange::ask_upstream() {
  if (const std::optional<Fault> fault = call_.circuits_fault()) co_return *fault;
  if (body_.has_any()) {
    const std::optional<Fault> unread = co_await body_.read_ahead();  // before a slot is held
    if (unread) co_return *unread;
    // Reading the body may have taken long, and the upstream may be overloaded by now.
    if (std::optional<Answer> ended = admit_again()) co_return std::move(*ended);
  }
  // The gate grants a slot, queues the request, or refuses it.
  if (const std::optional<Fault> refused = enter_gate()) co_return *refused;
  if (admission_.is_queued()) {
    const std::optional<Fault> refused = co_await admission_.wait_in_queue();
    if (refused) co_return *refused;
  }
  // A permit for a response that outlives the request: an upgrade or an event stream.
  if (const auto fault = reserve_permit(services_, request_, admission_, call_.permit()))
    co_return *fault;
  const std::optional<Fault> failure = co_await call_.ask();  // connect, send, retry, read the head
  if (failure) co_return *failure;
  if (call_.response().status == 101) co_return ProtocolSwitch{};
  keep_permit_if_stream(request_, call_.response(), call_.permit());  // otherwise it is returned
  if (const std::optional<Answer> instead = cached_instead()) co_return *instead;  // 304, 5xx
  co_return UpstreamResponse{};
}

// Replaces a fault: an upstream failure by a cached response, a refusal by a cached response or the
// fallback. If there is neither, the fault stands and ends the flight.
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

}  // namespace spillway::proxy
