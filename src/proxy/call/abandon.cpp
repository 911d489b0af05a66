// What happens at the upstream to a request whose client has left, whose deadline has passed, or
// whose response did not come in time.
#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "dispatch/estimate/abandoned_hold.hpp"
#include "proxy/call/abandoned_call.hpp"
#include "proxy/call/upstream_call.hpp"
#include "proxy/request/admission/long_lived.hpp"

namespace spillway::proxy {
namespace {

// This server holds more than its share of the slots, and other servers are up.
bool is_above_part(Upstream& upstream, std::size_t server) {
  return upstream.servers.is_above_part(server, upstream.divided_slots());
}

}  // namespace

void UpstreamCall::abandon() {
  const TimePoint now = services_.now();
  if (!connection_ || !admission_.has_slot() || !current_.sent_any) return drop();
  const bool has_head = current_.head == Head::received;
  if (has_head && is_event_stream(request_.head.method, response_)) return drop();
  const bool has_timed_out = may_answer_too_late();
  if (has_ended_by_failure() && !has_timed_out) return drop();
  const bool has_failed = has_timed_out || so_far_.has_server_failed;
  RestOfResponse rest = rest_of_response();
  if (rest.has_ended()) return drop();
  std::optional<AbandonedRequest::AtWork> at_work;
  // Durations are not recorded for a request that was not sent completely, for one whose response
  // the upstream was asked to reduce, or after a timeout: the recorded durations are for waits that
  // the timeout bounds.
  const bool learns = current_.at_work_since && !admission_.announces_degrade();
  if (!has_timed_out) {
    at_work = {request_.classification.route, current_.at_work_since.value_or(now),
               request_.upstream_config().response_timeout, learns,
               !has_head && !expects_long_response(request_.head, request_.upgrade)};
  }
  const TimePoint until = has_timed_out ? hold_ends(now) : response_expected_by(now);
  // It has already taken longer than expected; how much longer it will take is not known.
  if (at_work && learns && until <= now)
    request_.generation->hold_times.outlasted(at_work->route, now - at_work->since, now);
  if (until <= now) return drop();
  call_.ignore();
  if (body_ != nullptr) body_->stop_pump();
  const std::size_t of_head = has_head ? 0 : current_.received;
  AbandonedCall::begin(
      services_, {.generation = request_.generation,
                  .connection = std::move(connection_),
                  .slot = admission_.abandon_slot(now),
                  .key = std::move(admission_.key()),
                  .until = until,
                  .failed_upstream =
                      has_failed ? std::optional(request_.classification.upstream) : std::nullopt,
                  .rest = std::move(rest),
                  .block = of_head > 0 ? std::move(block_) : Block(),
                  .received = of_head,
                  .at_work = at_work,
                  .permit = std::move(permit_)});
}

// After a timeout the upstream may still be at work on the request. False if its server gets no
// more requests, so that work there takes nothing from others; or if the server holds more than its
// share of the slots, so that a server that never responds does not get them all.
bool UpstreamCall::may_answer_too_late() const {
  if (!so_far_.has_timed_out || !current_.at_work_since) return false;
  const std::size_t server = connection_->server();
  return request_.generation->circuits(request_.classification.upstream).lets_through(server) &&
         !is_above_part(request_.upstream(), server);
}

// One hold per attempt, however the wait for the late response ends.
TimePoint UpstreamCall::hold_ends(TimePoint now) const {
  const Duration hold = dispatch::hold_past_timeout(request_.upstream_config().response_timeout);
  return current_.held_until.value_or(now + hold);
}

Task<bool> UpstreamCall::answers_late() {
  const std::optional<TimePoint> until = begin_late_wait();
  if (!until) co_return false;
  admission_.record_unanswered(services_.now());  // this wait teaches nothing more
  admission_.set_slot_wait(SlotWait::abandoned);
  const observe::Counted counted(services_.gauges.abandoned_calls);
  const Attempt attempt = co_await read_head();
  admission_.set_slot_wait(SlotWait::nothing);
  const bool is_answered = attempt.result == resilience::AttemptResult::answered;
  if (is_answered) {
    current_.head = Head::received;
    deadlines_.put_off(*until);
    end_late_wait(LateEnd::response);
  } else {
    const bool is_from_outside = attempt.fault.reason == Reason::client_gone;
    end_late_wait(is_from_outside ? LateEnd::from_outside : LateEnd::nothing);
  }
  co_return is_answered;
}

std::optional<TimePoint> UpstreamCall::begin_late_wait() {
  if (!connection_ || !admission_.has_slot() || !may_answer_too_late()) return std::nullopt;
  const bool has_head = current_.head == Head::received;
  const bool has_stalled = has_head && so_far_.has_broken_off;
  if (has_head && (!has_stalled || is_event_stream(request_.head.method, response_)))
    return std::nullopt;
  const TimePoint now = services_.now();
  const TimePoint until = hold_ends(now);
  if (until <= now) return std::nullopt;
  current_.late_until = current_.held_until = until;
  return until;
}

// After an end from outside the upstream may still be at work, and abandon() keeps the slot.
void UpstreamCall::end_late_wait(LateEnd how) {
  current_.late_until.reset();
  if (how == LateEnd::nothing) so_far_.has_timed_out = false;
}

bool UpstreamCall::waits_in_vain() const {
  return current_.late_until && !request_.generation->circuits(request_.classification.upstream)
                                     .lets_through(connection_->server());
}

// The status of the response does not count: the response may still be arriving.
bool UpstreamCall::has_ended_by_failure() const {
  return so_far_.has_server_failed && (current_.head != Head::received || so_far_.has_broken_off);
}

// By then nearly all responses of the route are complete, also those of abandoned requests; if
// nothing is known, all. How long the client would have waited (total_timeout_ms) does not matter.
TimePoint UpstreamCall::response_expected_by(TimePoint now) const {
  const Duration timeout = request_.upstream_config().response_timeout;
  const auto usual =
      request_.generation->service_time.nearly_longest(request_.classification.route);
  const Duration learned = request_.generation->hold_times.of(request_.classification.route, now);
  return current_.began +
         dispatch::hold_past_leaving(now - current_.began, usual, learned, timeout);
}

RestOfResponse UpstreamCall::rest_of_response() const {
  if (current_.head != Head::received)
    return {{.head_bytes = request_.limits().header_bytes}, request_.head.method};
  if (reader_) return RestOfResponse(*reader_);
  RestOfResponse rest(http::BodyReader(response_.framing, http::BodyReader::kNoLimit,
                                       http::BodyReader::MessageKind::response));
  const std::size_t head_end = state_.checked_to();
  rest.read(std::string_view(block_.bytes().data(), state_.end()).substr(head_end));
  return rest;
}

}  // namespace spillway::proxy
