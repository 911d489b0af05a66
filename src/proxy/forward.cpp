// The way to the upstream: the request, on a connection (connect.cpp), and again where that is
// safe; then the head of the response (response_head.cpp).
#include <algorithm>

#include "http/method.hpp"
#include "http/rewrite.hpp"
#include "proxy/exchange.hpp"
#include "proxy/worker.hpp"

namespace spillway::proxy {

// Sends the request and reads the response head; once more, on a fresh connection, when a reused
// one turned out to be closed already and sending again is safe.
Task<bool> Exchange::forward() {
  if (!write_request_head()) co_return fail(head_too_large());
  auto& signals = here_->signals(subject_.upstream);
  tried_ = {};
  for (bool retried = false;; retried = true) {
    const bool connected = co_await connect(retried);
    if (!connected) {
      if (is_of_upstream(fault_.reason) && fault_.reason != Reason::circuit_open)
        signals.record_result(true);
      co_return false;
    }
    const bool sent = co_await send_request();
    if (!sent) {
      end_call();
      co_return false;
    }
    verdict_.token = {};  // used
    awaits_head_ = true;
    head_awaited_since_.reset();
    if (body_is_streamed_) {
      pump_body();  // the response is due once it is done
    } else {
      head_awaited_since_ = dispatched_;
    }
    watches_client_ = true;
    const Attempt attempt = co_await read_response_head();
    watches_client_ = false;
    awaits_head_ = false;
    if (attempt == Attempt::done) break;
    const bool reused = upstream_->reused();
    upstream_->retire();
    if (pump_ == Pump::running) stop_pump();
    if (attempt == Attempt::broken) {
      if (reused && !retried && replayable()) {
        call_.end(resilience::CallResult::ignored);  // it may have idled for too long
        continue;
      }
      fail(upstream_reset());
    }
    end_call();
    if (fault_.reason == Reason::upstream_unavailable ||
        fault_.reason == Reason::upstream_timeout || fault_.reason == Reason::upstream_invalid) {
      signals.record_result(true);
    }
    co_return false;
  }
  end_call();
  // An answer ahead of the request body says nothing about how long answers take.
  if (head_awaited_since_) {
    const Duration latency = Clock::now() - *head_awaited_since_;
    head_awaited_since_.reset();
    signals.record_latency(latency);
    here_->metrics.upstream_duration(subject_.upstream, latency);
  }
  co_return true;
}

bool Exchange::replayable() const {
  return http::is_idempotent(request_.method) && !body_is_streamed_;
}

// Tells the server's circuit what came of the request: a response head, or a fault.
void Exchange::end_call() {
  using resilience::CallResult;
  CallResult result = says_failure(response_.status) ? CallResult::failure : CallResult::success;
  if (failed()) result = is_of_upstream(fault_.reason) ? CallResult::failure : CallResult::ignored;
  call_.end(result);
}

bool Exchange::write_request_head() {
  const http::Field* trace = request_.fields.find("traceparent");
  const std::string_view id = find_request_id();
  const http::ForwardedRequest with{
      .client_address = asker_->address(),
      .default_host = here_->upstream(subject_.upstream).endpoints.front().name,
      .trusted_peer = asker_->trusted(),
      .request_id = id.data() == made_request_id_.data() ? id : std::string_view{},
      .traceparent = trace != nullptr && http::valid_traceparent(trace->value)
                         ? std::string_view{}
                         : http::make_traceparent(worker_.random, made_traceparent_),
      .late = slot_ && ticket_.late,
      .skip_downstream = announces_degrade_,
      .for_store = is_for_store_,
      .etag = is_for_store_ && stored_ ? stored_->etag() : std::string_view{},
      .last_modified = is_for_store_ && stored_ ? stored_->last_modified() : std::string_view{},
      .in_background = in_background_};
  for (BlockPool* pool : {&worker_.small_blocks, &worker_.large_blocks}) {
    out_block_ = pool->take();
    TextWriter out(out_block_.bytes());
    if (http::write_request_head(out, request_, with)) {
      out_ = out.text();
      return true;
    }
  }
  return false;
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
      const std::size_t of_head = std::min(result.bytes, head.size());
      head.remove_prefix(of_head);
      body.remove_prefix(result.bytes - of_head);
      continue;
    }
    watches_client_ = true;
    const Wake wake = co_await parking_.park(Clock::now() + timeout, &upstream_->writable());
    watches_client_ = false;
    if (wake == Wake::ready) continue;
    upstream_->retire();
    if (wake == Wake::client_gone) co_return fail(client_gone());
    here_->signals(subject_.upstream).record_result(true);
    co_return fail(upstream_timeout());
  }
  co_return true;
}

}  // namespace spillway::proxy
