#include "proxy/exchange/request_body.hpp"

#include <algorithm>
#include <cstring>

#include "http/body.hpp"
#include "proxy/exchange/send_rate_monitor.hpp"

namespace spillway::proxy {

namespace {

Fault fault_of(const BodyPiece& piece) {
  return piece.status == BodyPiece::Status::invalid ? bad_request(piece.error) : client_gone();
}

bool is_over(const BodyPiece& piece) {
  return piece.status == BodyPiece::Status::invalid ||
         piece.status == BodyPiece::Status::client_gone;
}

// Receives a piece of the body; parks while there is none. `after_others`: parks first.
class ReceiveBody final : Retry {
 public:
  ReceiveBody(Parking& parking, ClientSession& session, std::span<char> into, TimePoint due,
              bool after_others)
      : parking_(parking), session_(session), into_(into), due_(due), waits_(after_others) {}

  bool await_ready() { return !waits_ && try_again(); }
  void await_suspend(std::coroutine_handle<> coroutine) {
    parking_.suspend(coroutine, {.deadline = due_}, session_.readable(), *this);
  }
  // would_block: the wait ended; see Parking::why().
  BodyPiece await_resume() const { return piece_; }

 private:
  bool try_again() override {
    piece_ = session_.receive_body(into_);
    return piece_.status != BodyPiece::Status::would_block;
  }

  Parking& parking_;
  ClientSession& session_;
  std::span<char> into_;
  TimePoint due_;
  bool waits_;
  BodyPiece piece_{BodyPiece::Status::would_block};
};

}  // namespace

RequestBody::~RequestBody() { stop_pump(); }

Task<std::optional<Fault>> RequestBody::read_ahead() {
  const BodyPiece first = session_.start_body(request_.limits().body_bytes, at_hand_);
  if (is_over(first)) co_return fault_of(first);
  is_streamed_ = !session_.is_body_complete();
  if (!is_streamed_ || at_hand_.size() >= kSmallBody) co_return std::nullopt;

  was_waited_for_ = true;
  if (request_.head.expect_continue && at_hand_.empty()) {
    const bool is_told = co_await send_continue();
    if (!is_told) co_return client_gone();
  }
  const http::Framing& framing = request_.head.framing;
  const bool is_tiny = framing.kind == http::Framing::Kind::length &&
                       framing.length <= services_.small_blocks.block_size();
  block_ = (is_tiny ? services_.small_blocks : services_.large_blocks).take();
  const std::span<char> block = block_.bytes().first(std::min(block_.bytes().size(), kSmallBody));
  const bool is_chunked = framing.kind == http::Framing::Kind::chunked;
  const std::size_t full = block.size() - (is_chunked ? http::BodyReader::kMostHeld : 0);
  std::size_t size = at_hand_.size();
  if (size > 0) std::memcpy(block.data(), at_hand_.data(), size);
  resilience::MinRate client_rate = rate();
  while (!session_.is_body_complete() && size < full) {
    BodyPiece piece = session_.receive_body(block.subspan(size));
    if (piece.status == BodyPiece::Status::would_block) {
      const TimePoint now = services_.now();
      client_rate.begin_turn(now);
      piece = co_await ReceiveBody(parking_, session_, block.subspan(size), due(client_rate, now),
                                   false);
      if (piece.status == BodyPiece::Status::would_block) co_return late(client_rate);
    }
    if (is_over(piece)) co_return fault_of(piece);
    client_rate.moved(piece.bytes, services_.now());
    size += piece.bytes;
  }
  at_hand_ = {block.data(), size};
  is_streamed_ = !session_.is_body_complete();
  co_return std::nullopt;
}

// As an origin server does (RFC 9110 section 10.1.1). False: the client is gone.
Task<bool> RequestBody::send_continue() {
  http::ResponseHead go_on;
  go_on.status = 100;
  go_on.reason_phrase = "Continue";
  const bool sent = co_await session_.send_interim(go_on);
  co_return sent;
}

// The limits for a client that sends a body.
resilience::MinRate RequestBody::rate() const {
  const config::Limits& limits = request_.limits();
  return {limits.min_rate_bytes, kRateGrace, limits.idle_timeout};
}

TimePoint RequestBody::due(const resilience::MinRate& rate, TimePoint now) const {
  return std::min(now + request_.limits().idle_timeout, rate.deadline());
}

// The client exceeded the idle timeout, or fell below limits.min_rate_bytes.
Fault RequestBody::late(const resilience::MinRate& rate) {
  if (rate.deadline() <= services_.now()) services_.gauges.too_slow_bodies.add();
  return request_timeout();
}

Detached RequestBody::pump(Stream& upstream) {
  pump_ = Pump::running;
  // What was read ahead has been sent.
  const Block body = block_ ? std::move(block_) : services_.large_blocks.take();
  resilience::MinRate client_rate = rate();
  slot_rate_ = slot_rate(request_.limits());
  for (int round = 1; !session_.is_body_complete(); ++round) {
    const bool after_others = round % kRoundsInARow == 0;
    BodyPiece piece{BodyPiece::Status::would_block};
    if (!after_others) piece = session_.receive_body(body.bytes());
    if (piece.status == BodyPiece::Status::would_block) {
      const TimePoint now = services_.now();
      client_rate.begin_turn(now);
      slot_rate_.begin_turn(now);
      is_clients_turn_ = true;
      piece = co_await ReceiveBody(pump_parking_, session_, body.bytes(), due(client_rate, now),
                                   after_others);
      is_clients_turn_ = false;
      if (piece.status == BodyPiece::Status::would_block) {
        if (pump_parking_.why() == Wake::timeout) fail(late(client_rate));
        if (pump_parking_.why() == Wake::cancelled && is_pumping()) fail(slow_client());
        co_return;
      }
    }
    if (is_over(piece)) {
      fail(fault_of(piece));
      co_return;
    }
    const TimePoint now = services_.now();
    client_rate.moved(piece.bytes, now);
    client_rate.end_turn(now);  // until it is sent on
    slot_rate_.moved(piece.bytes, now);
    slot_rate_.end_turn(now);
    const bool sent = co_await send_on(upstream, {body.bytes().data(), piece.bytes});
    if (!sent) co_return;
  }
  pump_ = Pump::done;
  sent_at_ = services_.now();
  wake_exchange();  // the response is due from now on
}

// False: the pump ends; with a fault if that ends the request.
Task<bool> RequestBody::send_on(Stream& upstream, std::string_view bytes) {
  const TimePoint due = services_.now() + request_.upstream_config().response_timeout;
  const Transfer sent = co_await send_all(pump_parking_, upstream, bytes, {}, {.deadline = due});
  switch (sent.status) {
    case Transfer::Status::done: co_return true;
    case Transfer::Status::timeout: fail(upstream_timeout()); break;
    case Transfer::Status::failed:
      // The upstream may have responded early, before it closed the connection.
      pump_ = Pump::stopped;
      wake_exchange();
      break;
    default: break;  // stopped
  }
  co_return false;
}

void RequestBody::stop_pump() {
  if (pump_ != Pump::running) return;
  pump_ = Pump::stopped;
  pump_parking_.wake(Wake::cancelled);
}

// Ends the exchange with this fault. Resumes it, so the pump must not touch anything afterwards.
void RequestBody::fail(const Fault& fault) {
  pump_ = Pump::failed;
  fault_ = fault;
  wake_exchange();
}

void RequestBody::wake_exchange() {
  if (parking_.parked()) parking_.wake(Wake::ready);
}

void RequestBody::wake_if_late(TimePoint now) {
  if (pump_parking_.parked() && pump_parking_.deadline() <= now) pump_parking_.wake(Wake::timeout);
}

void RequestBody::cut_off() {
  services_.gauges.slots_back_from_senders.add();
  pump_parking_.wake(Wake::cancelled);
}

bool RequestBody::end_early() {
  if (!pump_parking_.parked()) return false;
  pump_parking_.wake(Wake::timeout);
  return true;
}

}  // namespace spillway::proxy
