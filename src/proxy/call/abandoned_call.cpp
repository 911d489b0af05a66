#include "proxy/call/abandoned_call.hpp"

#include <utility>

namespace spillway::proxy {

namespace {
// For a response that goes to no client. If it is longer, the connection is closed, which the
// upstream notices when it writes.
constexpr std::size_t kMostDiscarded = 256 * 1024;
// How long the permit of an event stream is kept after its client has left, so that the server can
// notice.
constexpr Duration kStreamsPatience = std::chrono::seconds(15);
}  // namespace

AbandonedRequest left_event_stream(UpstreamPtr connection, TunnelPermit permit,
                                   observe::TunnelEnd how, const http::BodyReader& reader,
                                   TimePoint now) {
  return {.connection = std::move(connection),
          .until = now + kStreamsPatience,
          .rest = RestOfResponse(reader),
          .permit = std::move(permit),
          .permit_ends = how};
}

AbandonedCall::AbandonedCall(Services& services, AbandonedRequest request)
    : services_(services),
      request_(std::move(request)),
      block_(std::move(request_.block)),
      received_(request_.received) {
  if (request_.slot) services_.gauges.abandoned_calls.add();
  request_.slot.set_wait(SlotWait::nothing);  // no longer for its client
}

AbandonedCall::~AbandonedCall() {
  request_.connection->retire();
  if (request_.slot) services_.gauges.abandoned_calls.subtract();
}

void AbandonedCall::begin(Services& services, AbandonedRequest request) {
  auto call = std::make_unique<AbandonedCall>(services, std::move(request));
  services.owner.begin(*call);
  call.release()->run();
}

Detached AbandonedCall::run() {
  frame_ = co_await OwnFrame{};
  UpstreamConnection& upstream = *request_.connection;
  upstream.shutdown_send();
  while (discarded_ < kMostDiscarded) {
    Source* const source = upstream.open() ? &upstream.readable() : nullptr;
    const Wake wake = co_await parking_.park({.deadline = request_.until}, source);
    if (wake == Wake::ready && !has_ended()) continue;
    if (wake == Wake::ready || services_.now() < request_.until || !outlasts_hold()) break;
  }
  request_.permit.end(request_.permit_ends);
  services_.owner.end(*this);
}

// Receives what has arrived. True: the upstream has finished its work.
bool AbandonedCall::has_ended() {
  const bool is_stream = !request_.generation;
  if (!block_) block_ = services_.large_blocks.take();
  const IoResult result = request_.connection->receive(block_.bytes().subspan(received_));
  if (result.status == IoResult::Status::would_block) {
    if (received_ == 0) block_ = {};
    return false;
  }
  if (is_stream) {
    block_ = {};
    if (result.status != IoResult::Status::done) return true;
    request_.connection->abort();  // the server's next event fails there
    return false;
  }
  if (result.status != IoResult::Status::done) {
    learn_ended();
    return true;
  }
  discarded_ += result.bytes;
  received_ += result.bytes;
  const bool awaited_head = request_.rest.awaits_head();
  const RestOfResponse::Next next = request_.rest.read({block_.bytes().data(), received_});
  if (awaited_head && !request_.rest.awaits_head()) request_.slot.on_response_head(services_.now());
  if (next == RestOfResponse::Next::streams) request_.at_work.reset();
  if (!request_.rest.awaits_head()) learn_head();
  if (next == RestOfResponse::Next::ended) learn_ended();
  // How long the request takes can no longer be measured.
  if (next == RestOfResponse::Next::unknown) request_.at_work.reset();
  if (next != RestOfResponse::Next::more_of_head) {
    received_ = 0;
    block_ = {};
  } else if (received_ == block_.bytes().size()) {
    return true;
  }
  if (next == RestOfResponse::Next::streams) return !goes_on_without_slot();
  return next == RestOfResponse::Next::ended;
}

// Nothing came before its hold ended. True: the end of the response is still awaited.
bool AbandonedCall::outlasts_hold() {
  learn_outlasted();
  if (!request_.at_work) return false;
  const TimePoint now = services_.now();
  const TimePoint last = request_.at_work->since + request_.at_work->timeout;
  if (last <= now) return false;
  request_.until = last;
  if (auto permit = request_.slot.release_at_work(now)) {
    without_slot_.emplace(std::move(*permit));
    leave_slot();
  }
  if (!request_.slot) request_.key.release();
  return true;
}

// Releases everything that others may wait for; some of it may have been released already.
void AbandonedCall::leave_slot() {
  services_.gauges.abandoned_calls.subtract();
  request_.connection->leave_pool();
  request_.slot.release();
}

// A request of the first class waits: it gets the slot, and this one goes on without. Its key stays
// until the end of its hold.
void AbandonedCall::give_way(TimePoint now) {
  if (!request_.slot) return;
  auto permit = request_.slot.give_to_first(now);
  if (!permit) return;
  without_slot_.emplace(std::move(*permit));
  leave_slot();
}

// The event stream that it was to become has begun. It now keeps nothing but its permit, like a
// stream whose client left later.
bool AbandonedCall::goes_on_without_slot() {
  if (without_slot_) {
    without_slot_.reset();
  } else {
    leave_slot();
  }
  request_.key.release();
  request_.failed_upstream.reset();
  request_.generation = {};
  if (!request_.permit) return false;
  request_.permit.open();
  request_.until = services_.now() + kStreamsPatience;
  return true;
}

// Records it only if it was longer than usual: some upstreams answer at once when a client leaves.
void AbandonedCall::learn_head() {
  if (!learns() || !std::exchange(request_.at_work->owes_head, false)) return;
  const AbandonedRequest::AtWork& at_work = *request_.at_work;
  const TimePoint now = services_.now();
  request_.generation->route_latency.record_unanswered(at_work.route, now - at_work.since, now);
}

// Recorded on the same condition.
void AbandonedCall::learn_ended() {
  learn_head();
  if (!learns()) return;
  const AbandonedRequest::AtWork& at_work = *request_.at_work;
  const TimePoint now = services_.now();
  const Duration took = now - at_work.since;
  request_.generation->hold_times.ended(at_work.route, took, now);
  request_.generation->service_time.record_unanswered(at_work.route, took, now);
}

// The request has outlasted its hold; how long it would have taken is not known. Records twice the
// hold, since the hold itself is doubled: with less, the recorded time would rise too slowly.
void AbandonedCall::learn_outlasted() {
  if (!learns()) return;
  const AbandonedRequest::AtWork& at_work = *request_.at_work;
  const RouteId route = at_work.route;
  const TimePoint now = services_.now();
  const Duration held = request_.until - at_work.since;
  request_.generation->hold_times.outlasted(route, held, now);
  request_.generation->service_time.record_unanswered(route, 2 * held, now);
  if (at_work.owes_head) request_.generation->route_latency.record_unanswered(route, 2 * held, now);
}

bool AbandonedCall::mark_slot() {
  const bool is_late = request_.rest.awaits_head() && has_taken_long();
  request_.slot.set_wait(is_late ? SlotWait::abandoned : SlotWait::nothing);
  return false;
}

// While its head is awaited. After a timeout that is always so: no other failure precedes the head.
bool AbandonedCall::has_taken_long() const {
  const auto& at_work = request_.at_work;
  if (!at_work) return request_.failed_upstream.has_value();
  return request_.generation->quiet_latency.is_late(at_work->route,
                                                    services_.now() - at_work->since);
}

void AbandonedCall::wake_if_late(TimePoint now) {
  if (!parking_.parked()) return;
  if (parking_.deadline() <= now || is_in_vain()) return parking_.wake(Wake::timeout);
  give_way(now);
}

bool AbandonedCall::is_in_vain() const {
  return request_.failed_upstream && !request_.generation->circuits(*request_.failed_upstream)
                                          .lets_through(request_.connection->server());
}

bool AbandonedCall::keeps_to(const Generation& generation) const {
  return request_.generation && &request_.generation->generation() == &generation;
}

void AbandonedCall::end_early() {
  request_.at_work.reset();  // its end is no longer awaited
  if (parking_.parked()) parking_.wake(Wake::timeout);
}

}  // namespace spillway::proxy
