// The way to the upstream: a connection, the request, the head of the response.
#include <algorithm>
#include <boost/asio/post.hpp>
#include <cstring>

#include "http/framing.hpp"
#include "http/rewrite.hpp"
#include "proxy/exchange.hpp"
#include "proxy/worker.hpp"

namespace spillway::proxy {

namespace {

// RFC 9110 section 9.2.2.
bool idempotent(http::Verb method) {
  switch (method) {
    case http::Verb::get:
    case http::Verb::head:
    case http::Verb::put:
    case http::Verb::delete_:
    case http::Verb::options: return true;
    default: return false;
  }
}

// An idle connection may have been closed by the upstream a moment ago. A request that must not be
// sent twice only uses one that was in use just now.
constexpr Milliseconds kFreshEnough{1000};

// Asks the other workers, one after the other, to close an idle connection; then wakes `asker`.
void close_one_elsewhere(UpstreamId upstream, Worker& home, std::size_t hop, Parking& asker) {
  auto& workers = home.all();
  Worker& next = *workers[(home.number() + hop) % workers.size()];
  boost::asio::post(next.io(), [&next, &home, &asker, upstream, hop] {
    if (&next == &home) {
      asker.wake(Wake::ready);
    } else if (next.pool(upstream).close_one()) {
      boost::asio::post(home.io(), [&asker] { asker.wake(Wake::ready); });
    } else {
      close_one_elsewhere(upstream, home, hop + 1, asker);
    }
  });
}

}  // namespace

// Sends the request and reads the response head; once more, on a fresh connection, when a reused
// one turned out to be closed already and sending again is safe.
Task<bool> Exchange::forward() {
  if (!write_request_head()) co_return fail(head_too_large());
  auto& signals = worker_.signals(subject_.upstream);
  for (bool retried = false;; retried = true) {
    const bool connected = co_await connect(retried);
    if (!connected) {
      const bool is_asked =
          fault_.outcome != Outcome::client_gone && fault_.reason != Reason::circuit_open;
      if (is_asked) signals.record_result(true);
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
    worker_.metrics.upstream_duration(subject_.upstream, latency);
  }
  co_return true;
}

bool Exchange::replayable() const { return idempotent(request_.method) && !body_is_streamed_; }

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
      .default_host = worker_.upstream(subject_.upstream).endpoints.front().name,
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

// True, and the request has failed, while no server may be asked.
bool Exchange::refused_by_circuits() {
  const Milliseconds left = worker_.circuits(subject_.upstream).time_until_allowed();
  return left.count() != 0 && !fail_for_circuits(left);
}

// The crowd does not come back in step.
bool Exchange::fail_for_circuits(Milliseconds left) {
  const Milliseconds least{1};  // the time may be over by now
  return fail(circuit_open(overload::spread_retry_after(std::max(left, least), worker_.random)));
}

// Passes by servers whose circuit is open.
Task<bool> Exchange::connect(bool fresh_only) {
  Upstream& upstream = worker_.upstream(subject_.upstream);
  UpstreamPool& pool = worker_.pool(subject_.upstream);
  const Duration max_idle = idempotent(request_.method) ? Duration::max() : Duration(kFreshEnough);
  Circuits& circuits = worker_.circuits(subject_.upstream);
  bool is_any_asked = false;
  bool timed_out = false;
  for (std::size_t tries = 0; tries < upstream.endpoints.size(); ++tries) {
    const std::size_t server = pool.next_server();
    Circuits::Call call = circuits.allow(server);
    if (!call.allowed()) continue;
    is_any_asked = true;
    if (!fresh_only) {
      upstream_ = pool.take(server, max_idle, dispatched_);
      if (upstream_) {
        call_ = std::move(call);
        co_return true;
      }
    }
    if (!upstream.connections.try_open()) co_await reserve_connection();
    const ConnectAttempt attempt = begin_connect(upstream.endpoints[server]);
    if (attempt.descriptor < 0) {
      upstream.connections.closed();
      call.end(resilience::CallResult::failure);
      continue;
    }
    upstream_ = new UpstreamConnection(worker_.io(), pool, server, attempt.descriptor);
    if (!attempt.connected) {
      watches_client_ = true;
      const Wake wake = co_await parking_.park(Clock::now() + upstream.config.connect_timeout,
                                               &upstream_->writable());
      watches_client_ = false;
      if (wake != Wake::ready || connect_error(attempt.descriptor) != 0) {
        timed_out = wake == Wake::timeout;
        upstream_->retire();
        upstream_.reset();
        if (wake == Wake::client_gone) co_return fail(client_gone());
        call.end(resilience::CallResult::failure);
        continue;
      }
    }
    upstream.reachable.store(true, std::memory_order_relaxed);
    call_ = std::move(call);
    co_return true;
  }
  if (!is_any_asked) co_return fail_for_circuits(circuits.time_until_allowed());
  upstream.reachable.store(false, std::memory_order_relaxed);
  co_return fail(cannot_connect(timed_out));
}

// Waits for a place in the connection budget. We hold a dispatch slot, so fewer than
// `concurrency` connections are busy elsewhere: some connection is idle, here or at another worker.
Task<> Exchange::reserve_connection() {
  UpstreamPool& pool = worker_.pool(subject_.upstream);
  do {
    if (pool.close_one()) continue;
    close_one_elsewhere(subject_.upstream, worker_, 1, parking_);
    co_await parking_.park(kNever);
  } while (!pool.budget().try_open());
}

// False when the client left or the upstream took too long. A connection that breaks here may
// still hold an early answer: reading will tell.
Task<bool> Exchange::send_request() {
  const Milliseconds timeout = worker_.upstream(subject_.upstream).config.response_timeout;
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
    worker_.signals(subject_.upstream).record_result(true);
    co_return fail(upstream_timeout());
  }
  co_return true;
}

Task<Exchange::Attempt> Exchange::read_response_head() {
  const Milliseconds timeout = worker_.upstream(subject_.upstream).config.response_timeout;
  if (!in_block_) in_block_ = worker_.large_blocks.take();
  const std::span<char> block = in_block_.bytes();
  in_received_ = 0;
  http::HeadScanner scanner(http::HeadScanner::Kind::response,
                            {.head_bytes = worker_.config().limits.header_bytes});
  bool any = false;
  for (;;) {
    if (pump_ == Pump::failed) {
      fail(body_fault_);
      co_return Attempt::failed;
    }
    if (in_received_ == 0) {
      // While the request body is still on its way the upstream owes nothing.
      const TimePoint deadline = pump_ == Pump::running ? kNever : Clock::now() + timeout;
      const Wake wake = co_await parking_.park(deadline, &upstream_->readable());
      if (wake == Wake::client_gone) fail(client_gone());
      if (wake == Wake::timeout) fail(upstream_timeout());
      if (failed()) co_return Attempt::failed;
    }
    const IoResult result = upstream_->receive(block.subspan(in_received_));
    if (result.status == IoResult::Status::would_block) {
      if (in_received_ == 0) continue;
      const Wake wake = co_await parking_.park(Clock::now() + timeout, &upstream_->readable());
      if (wake == Wake::client_gone) fail(client_gone());
      if (wake == Wake::timeout) fail(upstream_timeout());
      if (failed()) co_return Attempt::failed;
      continue;
    }
    if (result.status != IoResult::Status::done) {
      if (!any) co_return Attempt::broken;
      fail(upstream_invalid(http::Error::truncated));
      co_return Attempt::failed;
    }
    any = true;
    in_received_ += result.bytes;

    http::Scan scan;
    while ((scan = scanner.scan({block.data(), in_received_})).state ==
           http::Scan::State::complete) {
      http::Error error = http::parse_response({block.data(), scan.end}, response_);
      if (error == http::Error::none) error = http::response_framing(response_, request_.method);
      // 101 answers an Upgrade, which is not passed on.
      if (error == http::Error::none && response_.status == 101)
        error = http::Error::bad_status_line;
      if (error != http::Error::none) {
        fail(upstream_invalid(error));
        co_return Attempt::failed;
      }
      if (response_.status >= 200) {
        in_sent_ = in_valid_ = scan.end;
        co_return Attempt::done;
      }
      const bool passed_on = co_await relay_interim();
      if (!passed_on) {
        fail(client_gone());
        co_return Attempt::failed;
      }
      in_received_ -= scan.end;
      std::memmove(block.data(), block.data() + scan.end, in_received_);
      scanner.reset();
    }
    const bool full = in_received_ == block.size();
    if (scan.state == http::Scan::State::invalid || full) {
      fail(upstream_invalid(scan.error != http::Error::none ? scan.error
                                                            : http::Error::head_too_large));
      co_return Attempt::failed;
    }
  }
}

// Passes a 1xx on. It lies in the in block, which the caller moves on from.
Task<bool> Exchange::relay_interim() {
  if (request_.version == 10 || in_background_) co_return true;
  // The request has been sent, so its block is free, unless it may have to be sent again: it may
  // not, now that a byte of a response has come.
  TextWriter out(out_block_.bytes());
  if (!http::write_interim_head(out, response_)) co_return true;  // optional to pass on
  const bool sent = co_await send_to_client(out.text());
  co_return sent;
}

}  // namespace spillway::proxy
