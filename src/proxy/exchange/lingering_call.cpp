#include "proxy/exchange/lingering_call.hpp"

#include <utility>

namespace spillway::proxy {

namespace {
// Of an answer that goes to no client. An upstream that has more to say is cut off: it notices that
// when it writes.
constexpr std::size_t kMostDiscarded = 256 * 1024;
}  // namespace

LingeringCall::LingeringCall(Services& services, AbandonedRequest request)
    : services_(services), request_(std::move(request)) {
  services_.gauges.lingering_calls.add();
}

LingeringCall::~LingeringCall() {
  request_.connection->retire();
  services_.gauges.lingering_calls.subtract();
}

Detached LingeringCall::run() {
  frame_ = co_await OwnFrame{};
  UpstreamConnection& upstream = *request_.connection;
  upstream.shutdown_send();
  for (std::size_t discarded = 0; discarded < kMostDiscarded;) {
    const Wake wake = co_await parking_.park({.deadline = request_.until}, &upstream.readable());
    if (wake != Wake::ready) {
      if (services_.now() >= request_.until) learn_unanswered();
      break;
    }
    Block block = services_.large_blocks.take();
    const IoResult result = upstream.receive(block.bytes());
    if (result.status == IoResult::Status::would_block) continue;
    if (result.status != IoResult::Status::done) break;
    learn_answered();
    discarded += result.bytes;
  }
  services_.owner.end_lingering(*this);
}

// Only if it took longer than usual: an upstream that sees its client leave may answer at once.
void LingeringCall::learn_answered() {
  const auto awaited = std::exchange(request_.awaited, std::nullopt);
  if (!awaited) return;
  const TimePoint now = services_.now();
  const Duration took = now - awaited->since;
  request_.generation->hold_times.ended(awaited->route, took, now);
  request_.generation->route_latency.record_unanswered(awaited->route, took, now);
}

// It would have taken longer than nearly all do; by how much is not known. Twice as long, as is its
// hold: with less the time learned would creep.
void LingeringCall::learn_unanswered() {
  const auto awaited = std::exchange(request_.awaited, std::nullopt);
  if (!awaited) return;
  const TimePoint now = services_.now();
  const Duration held = request_.until - awaited->since;
  request_.generation->hold_times.outlasted(awaited->route, held, now);
  request_.generation->route_latency.record_unanswered(awaited->route, 2 * held, now);
}

void LingeringCall::wake_if_late(TimePoint now) {
  if (parking_.parked() && parking_.deadline() <= now) parking_.wake(Wake::timeout);
}

bool LingeringCall::keeps_to(const Generation& generation) const {
  return &request_.generation->generation() == &generation;
}

void LingeringCall::end_early() {
  if (parking_.parked()) parking_.wake(Wake::timeout);
}

}  // namespace spillway::proxy
