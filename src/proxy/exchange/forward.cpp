// The way to the upstream: the request, on a connection (connect.cpp), and again where that is
// safe (retry.cpp) and while there is time (due.cpp); then the head of the response
// (response_head.cpp).
#include <algorithm>
#include <optional>
#include <utility>

#include "http/problem.hpp"
#include "http/rewrite.hpp"
#include "proxy/exchange/exchange.hpp"
#include "proxy/worker/worker.hpp"

namespace spillway::proxy {

// Sends the request and reads the response head; again, where that is safe (retry.cpp).
Task<bool> Exchange::forward() {
  set_due_times();
  here_->retry_budget(subject_.upstream).on_request(dispatched_);
  tried_ = {};
  is_replaced_ = false;
  retries_ = pauses_ = 0;
  TimePoint began = dispatched_;
  Fault before;
  bool has_upstream_failed = false;
  for (;;) {
    const Attempt attempt = co_await attempt_upstream(began);
    if (attempt == Attempt::done) break;
    // What the upstream did says more than that it is not asked any more because of it.
    if (fault_.reason == Reason::circuit_open && before.reason != Reason::none) fail(before);
    before = fault_;
    if (is_of_upstream(fault_.reason) && fault_.reason != Reason::circuit_open)
      has_upstream_failed = true;
    const bool again = co_await retry(attempt);
    if (!again) {
      // The request as a whole: what a retry mends is no failure of the upstream.
      if (has_upstream_failed) here_->signals(subject_.upstream).record_result(true);
      co_return false;
    }
    began = worker_.now();
  }
  if (retries_ > 0) here_->metrics.retry(subject_.upstream, observe::RetryResult::success);
  // An answer ahead of the request body says nothing about how long answers take.
  if (const auto since = std::exchange(head_awaited_since_, std::nullopt);
      since && !is_long_lived()) {
    const Duration latency = worker_.now() - *since;
    here_->signals(subject_.upstream).record_latency(latency);
    here_->metrics.upstream_duration(subject_.upstream, latency);
  }
  co_return true;
}

// One connection and the request on it, up to the head of the response. Unless that came, the
// request has failed.
Task<Exchange::Attempt> Exchange::attempt_upstream(TimePoint began) {
  is_on_kept_connection_ = sent_any_ = false;
  const bool connected = co_await connect(is_replaced_ || retries_ > 0);
  // Nothing was sent. A connection that was refused may be tried again, one that timed out took
  // time enough.
  if (!connected) {
    co_return fault_.reason == Reason::upstream_unavailable ? Attempt::unsent : Attempt::failed;
  }
  is_on_kept_connection_ = upstream_->reused();
  bool sent = write_request_head();
  if (sent) sent = co_await send_request();
  if (!sent) {
    upstream_->retire();
    end_call();
    co_return Attempt::failed;
  }
  if (sent_any_) verdict_.token = {};  // used
  out_block_.release();                // an attempt after this one writes its head anew
  awaits_head_ = true;
  head_awaited_since_.reset();
  if (!body_is_streamed_) {
    head_awaited_since_ = began;
  } else if (sent_any_) {
    pump_body();  // the response is due once it is done
  }
  watches_client_ = true;
  Attempt attempt = co_await read_response_head();
  watches_client_ = false;
  awaits_head_ = false;
  if (attempt == Attempt::done) {
    end_call();
    co_return attempt;
  }
  upstream_->retire();
  if (pump_ == Pump::running) stop_pump();
  if (attempt == Attempt::broken) {
    fail(upstream_reset());
    if (!sent_any_) attempt = Attempt::unsent;
    // It may have idled for too long.
    if (is_on_kept_connection_ && !is_replaced_ && may_send_again(attempt)) call_.ignore();
  }
  end_call();
  co_return attempt;
}

void Exchange::note_attempt(std::size_t server) {
  ++attempts_;
  asked_server_ = server;
}

// Tells the server's circuit what came of the request: a response head, or a fault.
void Exchange::end_call() {
  if (failed()) {
    if (!fault_.failure) return call_.ignore();
    return call_.fail(*fault_.failure, fault_.cause);
  }
  if (!says_failure(response_.status)) return call_.succeed();
  call_.fail(observe::ServerFailure::error_status, http::reason_phrase(response_.status));
}

// Anew for each attempt: what is left of the deadline is less each time.
bool Exchange::write_request_head() {
  const std::string_view id = find_request_id();
  http::ForwardedRequest with{
      .client_address = asker_->address(),
      .default_host = here_->upstream(subject_.upstream).endpoints.front().name,
      .trusted_peer = asker_->trusted(),
      .request_id = id.data() == made_request_id_.data() ? id : std::string_view{},
      .traceparent = find_traceparent(),
      .late = slot_ && ticket_.late,
      .skip_downstream = announces_degrade_,
      .for_store = is_for_store_,
      .etag = is_for_store_ && stored_ ? stored_->etag() : std::string_view{},
      .last_modified = is_for_store_ && stored_ ? stored_->last_modified() : std::string_view{},
      .in_background = in_background_,
      .upgrade = upgrade_};
  DeadlineTexts texts;
  if (!tell_deadline(with, texts)) return fail(deadline_passed());
  for (BlockPool* pool : {&worker_.small_blocks, &worker_.large_blocks}) {
    out_block_ = pool->take();
    TextWriter out(out_block_.bytes());
    if (http::write_request_head(out, request_, with)) {
      out_ = out.text();
      return true;
    }
  }
  return fail(head_too_large());
}

// The one made for the request; empty when the client sent a valid one.
std::string_view Exchange::find_traceparent() {
  if (!traceparent_.empty()) return traceparent_;
  const http::Field* sent = request_.fields.find("traceparent");
  if (sent != nullptr && http::valid_traceparent(sent->value)) return {};
  traceparent_ = http::make_traceparent(worker_.random, made_traceparent_);
  return traceparent_;
}

// False when the client left or the upstream took too long. A connection that breaks here may
// still hold an early answer: reading will tell.
Task<bool> Exchange::send_request() {
  const Milliseconds timeout = here_->upstream(subject_.upstream).config.response_timeout;
  std::string_view head = out_;
  std::string_view body = body_;
  while (!head.empty() || !body.empty()) {
    const IoResult result = upstream_->send(head, body);
    if (result.status == IoResult::Status::failed) break;
    if (result.status == IoResult::Status::done) {
      sent_any_ = true;
      const std::size_t of_head = std::min(result.bytes, head.size());
      head.remove_prefix(of_head);
      body.remove_prefix(result.bytes - of_head);
      continue;
    }
    watches_client_ = true;
    const Wake wake = co_await parking_.park(head_due(timeout), &upstream_->writable());
    watches_client_ = false;
    if (wake == Wake::ready) continue;
    co_return fail(wake == Wake::client_gone ? client_gone() : out_of_time());
  }
  co_return true;
}

}  // namespace spillway::proxy
