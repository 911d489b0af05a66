// The request's body. A small one is read whole before a slot is taken, so that a slow client does
// not hold one, and may be sent again. A larger one, or one that the client only sends on request,
// is pumped while the response is awaited or already relayed: the pump is a child of the exchange
// and ends, by itself or stopped, before the exchange goes on to another request.
#include <algorithm>
#include <cstring>

#include "proxy/exchange/exchange.hpp"
#include "proxy/worker/worker.hpp"

namespace spillway::proxy {

namespace {
constexpr std::size_t kSmallestRead = 1024;
}  // namespace

Task<bool> Exchange::read_body() {
  const http::Framing& framing = request_.framing;
  const std::string_view available = received_after_head();
  consumed_ = head_end_;
  if (framing.kind == http::Framing::Kind::none) co_return true;

  request_body_ =
      http::BodyReader(framing, here_->config().limits.body_bytes, http::BodyReader::Of::request);
  const std::optional<std::size_t> checked = check_body(available);
  if (!checked) co_return false;
  body_ = available.substr(0, *checked);
  consumed_ += *checked;
  if (request_body_.done()) co_return true;

  const bool counted = framing.kind == http::Framing::Kind::length;
  body_is_streamed_ = request_.expect_continue || body_.size() >= kSmallBody ||
                      (counted && framing.length > kSmallBody);
  if (body_is_streamed_) co_return true;

  body_block_ = worker_.large_blocks.take();
  const std::span<char> block = body_block_.bytes().first(kSmallBody);
  std::size_t size = body_.size();
  std::memcpy(block.data(), body_.data(), size);
  resilience::MinRate rate = body_rate();
  while (!request_body_.done() && size < block.size()) {
    const std::size_t most = std::min(block.size() - size, most_of_body());
    const IoResult result = client_->receive(block.subspan(size, most));
    if (result.status == IoResult::Status::would_block) {
      const TimePoint now = worker_.now();
      rate.begin_turn(now);
      const TimePoint deadline =
          std::min(now + here_->config().limits.idle_timeout, rate.deadline());
      const Wake wake = co_await parking_.park(deadline, &client_->readable());
      if (wake == Wake::timeout) co_return fail(late_body(rate));
      continue;
    }
    if (result.status != IoResult::Status::done) co_return fail(client_gone());
    rate.moved(result.bytes, worker_.now());
    const std::string_view received(block.data() + size, result.bytes);
    const std::optional<std::size_t> of_body = check_body(received);
    if (!of_body) co_return false;
    size += *of_body;
    keep_for_next_request(received.substr(*of_body));
  }
  body_ = {block.data(), size};
  body_is_streamed_ = !request_body_.done();  // a chunked one that turned out to be large
  co_return true;
}

// What the client must keep to while a body is awaited from it.
resilience::MinRate Exchange::body_rate() const {
  const config::Limits& limits = here_->config().limits;
  return {limits.min_rate_bytes, kRateGrace, limits.idle_timeout};
}

// The client sent nothing in time: within the idle timeout, or for the rate it must keep to.
Fault Exchange::late_body(const resilience::MinRate& rate) {
  if (rate.deadline() <= worker_.now()) worker_.gauges().too_slow_bodies.add();
  return request_timeout();
}

// How many bytes may be received at once: of a counted body no more than it has, and of a chunked
// one no more than what can be kept if it turns out to be the next request.
std::size_t Exchange::most_of_body() {
  if (request_.framing.kind == http::Framing::Kind::length) {
    return request_.framing.length - request_body_.content_bytes();
  }
  return std::max(head_block_.bytes().size() - head_end_, kSmallestRead);
}

// How many of these bytes belong to the body; nullopt, and a fault, when they break it.
std::optional<std::size_t> Exchange::check_body(std::string_view received) {
  std::size_t checked = 0;
  while (checked < received.size() && !request_body_.done()) {
    const auto step = request_body_.read(received.substr(checked));
    if (step.error != http::Error::none) {
      body_fault_ = bad_request(step.error);
      if (pump_ != Pump::running) fail(body_fault_);
      return std::nullopt;
    }
    checked += step.consumed;
  }
  return checked;
}

// What was received behind a chunked body is the next request: it is kept behind the head.
void Exchange::keep_for_next_request(std::string_view next) {
  if (next.empty()) return;
  const std::span<char> room = head_block_.bytes().subspan(head_end_);
  if (next.size() > room.size()) {
    keep_client_ = request_.keep_alive = false;
    input_is_lost_ = true;
    return;
  }
  std::memcpy(room.data(), next.data(), next.size());
  consumed_ = head_end_;
  received_ = head_end_ + next.size();
}

Detached Exchange::pump_body() {
  pump_frame_ = co_await OwnFrame{};
  pump_ = Pump::running;
  const Block body = worker_.large_blocks.take();
  const std::span<char> block = body.bytes();
  resilience::MinRate rate = body_rate();
  // Who waits for a 100 (Continue) does so for the upstream: its turn begins with its first byte.
  bool is_clients_turn = !request_.expect_continue;
  for (int round = 1; !request_body_.done(); ++round) {
    const std::size_t most = std::min(block.size(), most_of_body());
    const IoResult result = round % kRoundsInARow == 0 ? IoResult{IoResult::Status::would_block}
                                                       : client_->receive(block.first(most));
    if (result.status == IoResult::Status::would_block) {
      const TimePoint now = worker_.now();
      if (is_clients_turn) rate.begin_turn(now);
      const TimePoint deadline =
          std::min(now + here_->config().limits.idle_timeout, rate.deadline());
      const Wake wake = co_await pump_parking_.park(deadline, &client_->readable());
      if (wake == Wake::ready) continue;
      if (wake == Wake::timeout) pump_failed(late_body(rate));
      co_return;
    }
    if (result.status != IoResult::Status::done) {
      pump_failed(client_gone());
      co_return;
    }
    const TimePoint now = worker_.now();
    rate.moved(result.bytes, now);
    rate.end_turn(now);  // until there is room for more of it
    is_clients_turn = true;
    const std::string_view received(block.data(), result.bytes);
    const std::optional<std::size_t> of_body = check_body(received);
    if (!of_body) {
      pump_failed(body_fault_);
      co_return;
    }
    const bool sent = co_await pump_out(received.substr(0, *of_body));
    if (!sent) co_return;
    keep_for_next_request(received.substr(*of_body));
  }
  pump_ = Pump::done;
  if (awaits_head_) head_awaited_since_ = worker_.now();
  // The response is due from now on. This resumes the exchange and must come last.
  if (parking_.parked()) parking_.wake(Wake::ready);
}

// False when the pump is to end, quietly or with pump_failed().
Task<bool> Exchange::pump_out(std::string_view bytes) {
  const Milliseconds timeout = here_->upstream(subject_.upstream).config.response_timeout;
  while (!bytes.empty()) {
    const IoResult result = upstream_->send(bytes);
    if (result.status == IoResult::Status::done) {
      bytes.remove_prefix(result.bytes);
    } else if (result.status == IoResult::Status::failed) {
      // An answer ahead of the body may have come before the connection was closed.
      pump_ = Pump::none;
      if (parking_.parked()) parking_.wake(Wake::ready);
      co_return false;
    } else {
      const Wake wake =
          co_await pump_parking_.park(worker_.now() + timeout, &upstream_->writable());
      if (wake == Wake::ready) continue;
      if (wake == Wake::timeout) pump_failed(upstream_timeout());
      co_return false;
    }
  }
  co_return true;
}

void Exchange::stop_pump() {
  pump_ = Pump::none;
  pump_parking_.wake(Wake::cancelled);
}

// Ends the whole exchange with this fault. Resumes it: the pump touches nothing afterwards.
void Exchange::pump_failed(const Fault& fault) {
  pump_ = Pump::failed;
  body_fault_ = fault;
  if (parking_.parked()) parking_.wake(Wake::ready);
}

}  // namespace spillway::proxy
