#include "proxy/call/upstream_call.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "http/message/method.hpp"
#include "http/outgoing/rewrite.hpp"
#include "proxy/call/record_result.hpp"
#include "proxy/net/block_writer.hpp"
#include "proxy/request/admission/long_lived.hpp"
#include "proxy/visitors/pass_proof.hpp"
#include "resilience/configured.hpp"

namespace spillway::proxy {

using resilience::AttemptResult;
namespace {
// Read at once with the head; enough for most responses. A longer body may be spliced.
constexpr std::size_t kFirstRead = 32 * 1024;
}  // namespace

UpstreamCall::UpstreamCall(Services& services, const RequestContext& request, Parking& parking,
                           Admission& admission, CacheLookup& lookup, ClientSession* session,
                           RequestBody* body)
    : services_(services),
      request_(request),
      parking_(parking),
      admission_(admission),
      lookup_(lookup),
      session_(session),
      body_(body),
      connector_(services, request, parking) {}

Task<std::optional<Fault>> UpstreamCall::ask() {
  const UpstreamId upstream = request_.classification.upstream;
  deadlines_.start(request_, admission_);
  current_ = {.began = admission_.dispatched()};
  if (!written_.is_retry) request_.generation->retry_budget(upstream).on_request(current_.began);
  std::optional<Fault> before;
  bool has_upstream_failed = false;
  for (;;) {
    Attempt attempt = co_await ask_once();
    if (attempt.result == AttemptResult::answered) break;
    // The failure says more than the open circuit that it caused.
    if (attempt.fault.reason == Reason::circuit_open && before) attempt.fault = *before;
    before = attempt.fault;
    if (is_of_upstream(attempt.fault.reason) && attempt.fault.reason != Reason::circuit_open)
      has_upstream_failed = true;
    const Next next = co_await retry(attempt);
    if (next == Next::give_up) {
      // Once per request: a failure that a retry has repaired does not count.
      if (has_upstream_failed) record_result(request_, true);
      if (has_upstream_failed && so_far_.has_timed_out) record_timeout(request_);
      co_return attempt.fault;
    }
    so_far_.was_sent = was_sent();
    current_ = {.began = services_.now()};
  }
  if (so_far_.retries > 0 || written_.is_retry)
    request_.metrics().retry(upstream, observe::RetryResult::success);
  co_return std::nullopt;
}

// One connection and the request on it, up to the head of the response.
Task<UpstreamCall::Attempt> UpstreamCall::ask_once() {
  const bool fresh_only = so_far_.was_replaced || so_far_.retries > 0;
  ServerConnector::Connected connected = connector_.take_kept(fresh_only, admission_.dispatched());
  if (!connected.is_settled()) co_await connector_.connect(connected, deadlines_);
  if (connected.fault) {
    // Nothing was sent. A refused connection may be tried again; one that timed out has taken
    // enough time.
    const bool is_refused = connected.fault->reason == Reason::upstream_unavailable;
    co_return Attempt{is_refused ? AttemptResult::unsent : AttemptResult::failed, *connected.fault};
  }
  connection_ = std::move(connected.connection);
  call_ = std::move(connected.call);
  Block block;
  std::string_view head;
  std::optional<Fault> fault = write_head(block, head);
  if (!fault) {
    const Transfer sent = co_await send(head);
    fault = fault_of_sending(sent);
  }
  block.release();
  if (fault) {
    report(&*fault);
    co_return Attempt{AttemptResult::failed, *fault};
  }
  if (current_.sent_any) admission_.use_token();
  current_.head = Head::awaited;
  if (is_streamed() && current_.sent_any)
    body_->start_pump(*connection_);  // the response is due after the body
  Attempt attempt = co_await read_head();
  current_.at_work_since = awaited_since();
  const bool is_received = attempt.result == AttemptResult::answered;
  current_.head = is_received ? Head::received : Head::none;
  if (is_received) {
    report(nullptr);
    record_latency(current_.at_work_since);
    co_return attempt;
  }
  if (body_ != nullptr) body_->stop_pump();
  if (attempt.result == AttemptResult::broken) {
    attempt.fault = upstream_reset();
    if (!current_.sent_any) attempt.result = AttemptResult::unsent;
    // Closed by the server while idle: not a failure.
    if (connection_->reused() && !so_far_.was_replaced && may_send_again(attempt.result, facts()))
      call_.ignore();
  }
  report(&attempt.fault);
  co_return attempt;
}

SendAll UpstreamCall::send(std::string_view head) {
  const TimePoint due = std::min(services_.now() + request_.upstream_config().response_timeout,
                                 deadlines_.head_due());
  const std::string_view body = body_ != nullptr ? body_->at_hand() : written_.body;
  return send_all(parking_, *connection_, head, body, {.deadline = due, .client_gone = true});
}

// A connection that breaks here may still hold an early response: the read will show.
std::optional<Fault> UpstreamCall::fault_of_sending(const Transfer& sent) {
  current_.sent_any = sent.bytes > 0;
  if (sent.done() || sent.status == Transfer::Status::failed) return std::nullopt;
  return fault_of(sent.status);
}

// Written again for each attempt, since the remaining deadline has changed.
std::optional<Fault> UpstreamCall::write_head(Block& block, std::string_view& head) {
  if (head = written_.head; !head.empty()) return std::nullopt;
  const cache::StoredPtr& stored = lookup_.stored();
  const bool validates = lookup_.fetches_for_cache() && stored;
  PassText pass;
  http::ForwardedRequest with{
      .client_address = request_.client.address(),
      .default_host = request_.upstream().endpoints.front().name,
      .trusted_peer = request_.client.trusted(),
      .protected_fields = &request_.generation->generation().protected_fields,
      .request_id = request_.ids.made_request_id(request_.head, services_.random),
      .traceparent = request_.ids.made_traceparent(request_.head, services_.random),
      .late = admission_.is_late(),
      .skip_downstream = admission_.announces_degrade(),
      .for_store = lookup_.fetches_for_cache(),
      .etag = validates ? stored->etag() : std::string_view{},
      .last_modified = validates ? stored->last_modified() : std::string_view{},
      .in_background = request_.is_in_background(),
      .applies_prefer =
          request_.config().routes[index(request_.classification.route)].defer.has_value(),
      .upgrade = request_.upgrade,
      .pass = told_pass(request_, services_.wall_clock.now(), pass)};
  DeadlineTexts texts;
  if (deadlines_.write_left(request_, admission_, services_.now(), with, texts) ==
      Deadlines::Left::none)
    return deadline_passed();
  const auto write = [&](TextWriter& out) {
    return http::write_request_head(out, request_.head, with);
  };
  head = write_into_block(services_.small_blocks, services_.large_blocks, block, write);
  return head.empty() ? std::optional(head_too_large()) : std::nullopt;
}

Task<UpstreamCall::Attempt> UpstreamCall::read_head() {
  using Event = http::ResponseReader::Event;
  http::ResponseReader reader({.head_bytes = request_.limits().header_bytes}, request_.head.method,
                              request_.upgrade);
  std::size_t& received = current_.received;
  bool any = received > 0;
  for (;;) {
    if (body_ != nullptr && body_->fault())
      co_return Attempt{AttemptResult::failed, *body_->fault()};
    const Until until{.deadline = head_due(), .client_gone = true};
    Transfer got;
    if (received == 0) {
      const Wake wake = co_await parking_.park(until, &connection_->readable());
      got = receive_first(wake);
    } else {
      got = co_await receive(parking_, *connection_, room_for_more(received), until);
    }
    if (got.status == Transfer::Status::woken) continue;
    if (got.status == Transfer::Status::end || got.status == Transfer::Status::failed) {
      if (!any) co_return Attempt{AttemptResult::broken, {}};
      co_return Attempt{AttemptResult::failed, upstream_invalid(http::Error::truncated)};
    }
    if (!got.done()) co_return Attempt{AttemptResult::failed, fault_of(got.status)};
    any = true;
    received += got.bytes;
    const std::span<char> block = block_.bytes();
    Event event = reader.read({block.data(), received}, response_);
    while (event == Event::interim) {
      bool is_passed_on = true;
      if (session_ != nullptr) is_passed_on = co_await session_->send_interim(response_);
      if (!is_passed_on) co_return Attempt{AttemptResult::failed, client_gone()};
      received -= reader.head_end();
      std::memmove(block.data(), block.data() + reader.head_end(), received);
      reader.take_interim();
      event = reader.read({block.data(), received}, response_);
    }
    if (event == Event::invalid)
      co_return Attempt{AttemptResult::failed, upstream_invalid(reader.error())};
    if (event != Event::need_more) {
      state_ = RelayState(block.size());
      state_.start(received, reader.head_end());
      admission_.on_response_head(services_.now());
      co_return Attempt{};
    }
    if (received == block.size())
      co_return Attempt{AttemptResult::failed, upstream_invalid(http::Error::head_too_large)};
  }
}

// The timeout is for the whole head, including interim ones, from the end of the request's body.
TimePoint UpstreamCall::head_due() {
  if (current_.late_until) return *current_.late_until;
  if (is_pumping()) return deadlines_.head_due();
  if (!current_.owed_since) current_.owed_since = services_.now();
  TimePoint due = *current_.owed_since + request_.upstream_config().response_timeout;
  if (written_.may_be_late) due = std::max(due, request_.due);
  return std::min(due, deadlines_.head_due());
}

// A request that waits holds no block, so that the blocks in use stay in the CPU's caches.
Transfer UpstreamCall::receive_first(Wake wake) {
  if (wake != Wake::ready) return Transfer{status_of(wake)};
  if (!block_) block_ = services_.large_blocks.take();
  const IoResult result = connection_->receive(block_.bytes().first(kFirstRead));
  if (result.status == IoResult::Status::would_block) return Transfer{Transfer::Status::woken};
  return Transfer{status_of(result.status), result.bytes};
}

std::span<char> UpstreamCall::room_for_more(std::size_t received) {
  const std::span<char> room = block_.bytes().subspan(received);
  return room.first(std::min(room.size(), kFirstRead));
}

Fault UpstreamCall::fault_of(Transfer::Status status) const {
  if (status == Transfer::Status::timeout)
    return deadlines_.fault_at(services_.now(), is_receiving());
  return client_gone();
}

resilience::AttemptFacts UpstreamCall::facts() const {
  return {.is_idempotent = http::is_idempotent(request_.head.method),
          .is_body_at_hand = !is_streamed(),
          .is_on_kept_connection = connection_ && connection_->reused(),
          .was_replaced = so_far_.was_replaced,
          .is_in_background = request_.is_in_background(),
          .has_untried_server = connector_.has_untried_server(),
          .retries = so_far_.retries,
          .most_retries = request_.upstream_config().retries.attempts,
          .pauses = so_far_.pauses,
          .due = deadlines_.head_due()};
}

// With Next::give_up the attempt's fault stands. The request keeps its slot while it pauses, since
// pauses are short and a request that gave up its slot would have to queue for another.
Task<UpstreamCall::Next> UpstreamCall::retry(Attempt& failed) {
  using Kind = resilience::NextAttempt::Kind;
  const UpstreamId upstream = request_.classification.upstream;
  const auto backoff = resilience::retry_backoff(request_.upstream_config().retries);
  const TimePoint now = Clock::now();  // not earlier than a deadline that woke it
  const resilience::NextAttempt next =
      next_attempt(failed.result, facts(), backoff, now, services_.random);
  if (next.kind == Kind::give_up) {
    so_far_.has_server_failed = failed.fault.failure.has_value();
    so_far_.has_timed_out = failed.fault.failure == observe::ServerFailure::response_timeout;
    co_return Next::give_up;  // abandon() follows
  }
  close();
  if (next.kind == Kind::replace) {
    so_far_.was_replaced = true;
    connector_.replace_kept();
    request_.metrics().retry(upstream, observe::RetryResult::stale);
    co_return Next::ask_again;
  }
  if (!request_.generation->retry_budget(upstream).try_retry(now)) {
    request_.metrics().retry(upstream, observe::RetryResult::no_budget);
    co_return Next::give_up;
  }
  ++so_far_.retries;
  if (next.pause > Duration{0}) {
    ++so_far_.pauses;
    ++services_.pausing;
    const Wake wake = co_await parking_.park({.deadline = now + next.pause, .client_gone = true});
    --services_.pausing;
    if (wake == Wake::client_gone) {
      failed.fault = client_gone();
      co_return Next::give_up;
    }
  }
  request_.metrics().retry(upstream, observe::RetryResult::sent);
  co_return Next::ask_again;
}

// A response that comes before the end of the request's body says nothing about latency.
std::optional<TimePoint> UpstreamCall::awaited_since() const {
  if (current_.head != Head::awaited) return std::nullopt;
  if (!is_streamed()) return current_.began;
  return body_->is_sent() ? std::optional(body_->sent_at()) : std::nullopt;
}

std::optional<TimePoint> UpstreamCall::head_awaited_since() const {
  if (expects_long_response(request_.head, request_.upgrade)) return std::nullopt;
  return awaited_since();
}

void UpstreamCall::record_latency(std::optional<TimePoint> since) {
  if (response_.status == 101 || is_event_stream(request_.head.method, response_)) since.reset();
  const TimePoint now = services_.now();
  const auto latency = since ? std::optional<Duration>(now - *since) : std::nullopt;
  admission_.on_answer(latency, says_failure(response_.status), now);
  if (!latency) return;
  request_.signals().record_latency(*latency);
  request_.metrics().upstream_duration(request_.classification.upstream, *latency);
}

// Reports a response head, or a fault, to the server's circuit as the result of the call. After a
// good head the result is how the response ends. The request itself may have caused the fault, as
// far as it was sent: a path that always crashes or hangs is like one that always responds 500.
void UpstreamCall::report(const Fault* fault) {
  if (fault != nullptr) {
    if (!fault->failure) return call_.ignore();
    if (const auto source = silence_source(request_); source && current_.sent_any)
      call_.of(*source);
    return call_.fail(*fault->failure, fault->cause);
  }
  if (!says_failure(response_.status)) {
    so_far_.answered_at = services_.now();
    return call_.answered();
  }
  so_far_.has_server_failed = true;
  call_.of(failure_source(request_));
  call_.fail(observe::ServerFailure::error_status, http::reason_phrase(response_.status));
}

void UpstreamCall::finish() {
  const TimePoint now = services_.now();
  record_result(request_, response_.status >= 500);
  if (!so_far_.has_server_failed) count_success();
  const bool is_request_sent = body_ == nullptr || body_->is_sent();
  if (is_request_sent && response_.keep_alive && !services_.draining &&
      response_.framing.kind != http::Framing::Kind::until_close) {
    request_.generation->pool(request_.classification.upstream)
        .give_back(std::move(connection_), now);
  } else {
    if (body_ != nullptr) body_->stop_pump();
    close();
  }
  // After a timeout no duration is recorded: those recorded are for waits that it bounds.
  if (so_far_.has_timed_out) return admission_.abandon_slot(now).release(now);
  admission_.release_slot(now);
}

http::BodyReader& UpstreamCall::begin_body() {
  return reader_.emplace(response_.framing, http::BodyReader::kNoLimit,
                         http::BodyReader::MessageKind::response);
}

Fault UpstreamCall::fail_after_head(const Fault& fault, bool is_servers_fault) {
  // Because of its status, or because it was late: still only one failure.
  const bool is_counted = std::exchange(so_far_.has_server_failed, true);
  so_far_.has_broken_off = true;
  so_far_.has_timed_out = fault.failure == observe::ServerFailure::body_timeout;
  if (!is_servers_fault) call_.ignore();
  if (is_servers_fault) record_result(request_, true);
  if (!call_.has_ended()) {
    call_.of(failure_source(request_));
    call_.fail(*fault.failure, fault.cause);
  } else if (!is_counted) {
    request_.generation->circuits(request_.classification.upstream)
        .count_failure(connection_->server(), connection_->address(), *fault.failure, fault.cause);
  }
  return fault;
}

void UpstreamCall::count_success() {
  if (request_.generation->circuits(request_.classification.upstream).judges_sources())
    call_.of(failure_source(request_));
  call_.succeed();
  request_.upstream().servers.count_success(connection_->server());
}

}  // namespace spillway::proxy
