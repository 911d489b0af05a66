#include "proxy/exchange/response_relay.hpp"

#include <algorithm>
#include <utility>

#include "cache/rules/reading.hpp"
#include "config/choices.hpp"
#include "proxy/call/abandoned_call.hpp"
#include "proxy/request/admission/long_lived.hpp"
#include "proxy/request/body/received_body.hpp"
#include "proxy/request/body/upload_pace.hpp"

namespace spillway::proxy {

namespace {
// With at least this many bytes left, a pipe is worth its system calls.
constexpr std::uint64_t kWorthAPipe = 64 * 1024;
// A server whose response was held up by the client for longer, in total, may have given up.
constexpr Duration kServersPatience = std::chrono::seconds(1);
// How often to check whether a client that takes nothing keeps others waiting.
constexpr Duration kLookAgain = std::chrono::milliseconds(100);
}  // namespace

Task<std::optional<Fault>> ResponseRelay::run() {
  const http::ResponseHead& response = to_.call.response();
  dechunks_ = to_.session.dechunks(response.framing);
  if (to_.call.begin_body().done()) state().upstream_done();
  to_.fill.begin(response, to_.admission.dispatched(), to_.admission.announces_degrade());
  if (const std::optional<Fault> fault = check()) co_return fault;
  if (!state().is_upstream_done() && is_event_stream(to_.request.head.method, response)) {
    if (const std::optional<Fault> fault = begin_event_stream()) co_return fault;
  }
  // The client need not send the rest of the request's body.
  if (state().is_upstream_done() && !to_.body.is_sent()) to_.session.close_after_response();
  if (!start_response()) {
    if (is_event_stream_) drop_event_stream(observe::TunnelEnd::broken);
    co_return upstream_invalid(http::Error::head_too_large);
  }
  if (is_event_stream_) {
    const std::string_view first{to_.call.block().bytes().data() + state().to_send_from(),
                                 state().to_send()};
    const bool sent = co_await send_beside_body(to_.parking, to_.session, first);
    if (sent) co_return std::nullopt;
    to_.session.abort();
    drop_event_stream(observe::TunnelEnd::finished);
    co_return std::nullopt;
  }
  if (state().is_upstream_done()) finish_upstream();
  if (may_splice()) pipe_ = to_.services.pipes.take();
  for (int round = 1;; ++round) {
    const Moved moved = move_some();
    if (moved.fault) co_return moved.fault;
    if (next() == RelayState::Next::done) co_return std::nullopt;
    // A pipe moves as much in one round.
    const bool had_its_turn = pipe_ || spill_.is_on_disk() || round % kRoundsInARow == 0;
    if (moved.any && !had_its_turn) continue;
    if (!reads(next()) && !state().is_upstream_done()) {
      const Spilled spilled = spill();
      if (spilled == Spilled::some && !had_its_turn) continue;
      // Followers must not wait for this client: they ask the upstream themselves.
      if (spilled == Spilled::nothing) to_.flight.land(cache::Landing::nothing);
    }
    const std::optional<Fault> fault = co_await wait(next());
    if (fault) co_return fault;
  }
}

// Checks the bytes received since the last call.
std::optional<Fault> ResponseRelay::check() {
  const CheckedBody checked =
      check_received(reader(), state(), to_.call.block().bytes(), dechunks_,
                     [this](std::string_view content) { to_.fill.append(content); });
  if (checked.error != http::Error::none) return fail(upstream_invalid(checked.error));
  if (checked.has_surplus) to_.call.response().keep_alive = false;
  return std::nullopt;
}

// The server's response broke off or is invalid.
Fault ResponseRelay::fail(const Fault& fault) {
  return to_.call.fail_after_head(fault, held_back_ < kServersPatience);
}

std::optional<Fault> ResponseRelay::begin_event_stream() {
  const auto kind = observe::TunnelKind::event_stream;
  TunnelPermit& permit = to_.call.permit();
  if (!permit) {  // nothing in the request announced an event stream
    if (auto fault = take_permit(to_.services, to_.request, to_.admission, kind, permit))
      return fault;
  }
  permit.open();
  is_event_stream_ = true;
  stream_connection_ = to_.call.detach_event_stream(stream_result_);
  return std::nullopt;
}

// Its head was not sent, so the stream is dropped.
void ResponseRelay::drop_event_stream(observe::TunnelEnd how) {
  AbandonedCall::begin(
      to_.services, left_event_stream(std::move(stream_connection_), std::move(to_.call.permit()),
                                      how, reader(), to_.services.now()));
  is_event_stream_ = false;
  stream_result_.reset();
}

EventStream::Parts ResponseRelay::take_event_stream(Stay stay) {
  return {.connection = std::move(stream_connection_),
          .block = std::move(to_.call.block()),
          .reader = reader(),
          .permit = std::move(to_.call.permit()),
          .idle_timeout = to_.request.limits().tunnel_idle_timeout,
          .dechunks = dechunks_,
          .result = std::exchange(stream_result_, std::nullopt),
          .stay = std::move(stay)};
}

bool ResponseRelay::start_response() {
  const bool is_degraded = to_.admission.is_degraded();
  const overload::Verdict& verdict = to_.admission.verdict();
  return to_.session.start_relayed(
      to_.call.response(),
      {.request_id = to_.request.id(to_.services.random),
       .date = to_.services.wall_clock.date(),
       .queue_wait = to_.admission.queue_wait(),
       .degraded = is_degraded ? config::name(verdict.mode) : std::string_view{},
       .degraded_for = verdict.reason,
       .cache_status = to_.lookup.status(),
       .pass_lines = to_.request.pass_lines});
}

// The rest of the body is long and needs no inspection.
bool ResponseRelay::may_splice() const {
  return to_.call.response().framing.kind == http::Framing::Kind::length &&
         reader().remaining() >= kWorthAPipe && !to_.fill.is_filling();
}

RelayState::Next ResponseRelay::next() const {
  const bool has_pending = to_.session.has_pending_head() || pipe_.size() > 0 || !spill_.is_empty();
  return pipe_ ? state().next(has_pending, !pipe_.is_full()) : state().next(has_pending);
}

// Once in each direction, if there is anything to move.
ResponseRelay::Moved ResponseRelay::move_some() {
  const Moved sent = writes(next()) ? send_some() : Moved{};
  if (sent.fault || !reads(next())) return sent;
  const Moved received = receive_some();
  return {sent.any || received.any, received.fault};
}

// Room for the bytes in the pipe and, if the length is known, for the whole rest of the response.
std::uint64_t ResponseRelay::room_for_rest() const {
  const bool is_counted = to_.call.response().framing.kind == http::Framing::Kind::length;
  const std::uint64_t rest = is_counted ? reader().remaining() : 0;
  return pipe_.size() + rest + 2 * to_.services.large_blocks.block_size();
}

// The client takes nothing now, and the block or pipe is full. Sets their bytes aside if the whole
// rest may fit there. `nothing`: it does not fit, or not yet, or the request holds no slot.
ResponseRelay::Spilled ResponseRelay::spill() {
  BlockPool& blocks = to_.services.large_blocks;
  const std::uint64_t needed = room_for_rest();
  if (!to_.admission.has_slot()) return Spilled::nothing;
  if (!spill_.has_memory(needed) && (!is_worth_a_file() || !spill_.find_file_room(needed)))
    return Spilled::nothing;
  if (state().to_send() > 0) {
    const std::size_t from = state().to_send_from(), to = from + state().to_send();
    spill_.keep(to_.call.block(), from, to);
    state().clear();
  }
  while (pipe_.size() > 0) {
    Block block = blocks.take();
    const std::size_t bytes = pipe_.read(block.bytes());
    if (bytes == 0) break;
    spill_.keep(block, 0, bytes);
    if (spill_.is_on_disk()) break;
  }
  return Spilled::some;
}

// The client has held up its slot for long, or other requests wait for that slot.
bool ResponseRelay::is_worth_a_file() const {
  return held_back_ >= kClientsHold || to_.admission.holds_contended_slot();
}

void ResponseRelay::spill_soon() { held_back_ = std::max(held_back_, kClientsHold); }

// A fault: the client's connection is broken, or the spilled bytes cannot be read back.
ResponseRelay::Moved ResponseRelay::send_some() {
  if (!spill_.is_empty()) {
    const std::string_view kept = spill_.front();
    if (kept.empty()) return {.fault = local_shortage()};
    const IoResult result = to_.session.send(kept);
    if (result.status == IoResult::Status::would_block) return {};
    if (result.status != IoResult::Status::done) return {.fault = client_gone()};
    spill_.sent(result.bytes);
    return {.any = true};
  }
  if (!to_.session.has_pending_head() && state().to_send() == 0 && pipe_.size() == 0) return {};
  const bool is_from_pipe = !to_.session.has_pending_head() && state().to_send() == 0;
  const std::string_view from_block{to_.call.block().bytes().data() + state().to_send_from(),
                                    state().to_send()};
  const IoResult result =
      is_from_pipe ? to_.session.send_from(pipe_) : to_.session.send(from_block);
  if (result.status == IoResult::Status::failed) return {.fault = client_gone()};
  if (result.status != IoResult::Status::done) return {};
  if (!is_from_pipe) state().sent(result.bytes);
  return {.any = true};
}

ResponseRelay::Moved ResponseRelay::receive_some() {
  UpstreamConnection& upstream = to_.call.connection();
  const IoResult result = pipe_ ? upstream.receive_into(pipe_, reader().remaining())
                                : upstream.receive(to_.call.block().bytes().subspan(state().end()));
  if (result.status == IoResult::Status::would_block) return {};
  if (result.status == IoResult::Status::done) to_.call.on_body_bytes();
  if (result.status != IoResult::Status::done) {
    const http::Error error =
        result.status == IoResult::Status::end ? reader().end_of_input() : http::Error::truncated;
    if (error != http::Error::none) return {.fault = fail(upstream_invalid(error))};
    state().upstream_done();
  } else if (pipe_) {
    reader().pass(result.bytes);
    if (reader().done()) state().upstream_done();
  } else {
    state().received(result.bytes);
    if (const std::optional<Fault> fault = check()) return {.fault = fault};
  }
  if (state().is_upstream_done()) finish_upstream();
  return {.any = true};
}

// Waits until either side is ready. A fault if that takes too long, or the client leaves.
Task<std::optional<Fault>> ResponseRelay::wait(RelayState::Next next) {
  // While the request's body is being sent the upstream is not late; the pump has its own timeouts.
  const bool upstream_owes = reads(next) && !to_.body.is_pumping();
  const bool is_done = state().is_upstream_done();
  // Time on disk is bounded too; memory is left to limits.min_rate_bytes.
  const bool is_bounded = !is_done || spill_.is_on_disk();
  const TimePoint response_due = is_bounded ? to_.call.deadlines().response_due() : kNever;
  const TimePoint now = to_.services.now();
  const TimePoint patience =
      upstream_owes ? now + to_.request.upstream_config().response_timeout : kNever;
  // A response that its client holds back for long must not take cache space that others need.
  const bool takes_store = !reads(next) && !is_done && to_.fill.is_filling();
  const bool spills_soon = !reads(next) && !is_done && to_.admission.has_slot() &&
                           held_back_ < kClientsHold && spill_.may_have_file();
  const TimePoint round = spills_soon   ? now + kLookAgain
                          : takes_store ? now + cache::kReadingGrace
                                        : kNever;
  const TimePoint due = std::min(std::min(patience, response_due), round);
  is_held_back_ = !reads(next) && !is_done && to_.admission.has_slot();
  if (is_held_back_ && to_.admission.holds_contended_slot()) to_.services.slot_watch.begin(now);
  if (writes(next))
    to_.session.begin_client_turn(reads(next) ? ItsSlot::is_used : ItsSlot::waits_too);
  const Wake wake =
      co_await to_.parking.park({.deadline = due, .client_gone = true},
                                reads(next) ? &to_.call.connection().readable() : nullptr,
                                writes(next) ? &to_.session.writable() : nullptr);
  if (writes(next)) to_.session.end_client_turn();
  const TimePoint woken = to_.services.now();
  const bool was_held_back = std::exchange(is_held_back_, false);
  if (!reads(next)) held_back_ += woken - now;
  if (wake == Wake::cancelled) co_return slow_client();
  if (takes_store && held_back_ >= cache::kReadingGrace) to_.fill.make_room(woken);
  if (wake == Wake::timeout && upstream_owes) co_return fail(upstream_stalled());
  if (wake == Wake::timeout && woken >= response_due) co_return upstream_stalled();
  if (to_.body.fault()) co_return *to_.body.fault();
  if (wake == Wake::ready) co_return std::nullopt;
  if (wake == Wake::timeout && (round != kNever || was_held_back)) co_return std::nullopt;
  co_return client_gone();
}

void ResponseRelay::finish_upstream() {
  to_.fill.finish();
  to_.call.finish();
}

}  // namespace spillway::proxy
