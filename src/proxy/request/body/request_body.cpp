#include "proxy/request/body/request_body.hpp"

#include <algorithm>
#include <cstring>

#include "http/message/body.hpp"
#include "proxy/request/body/upload_pace.hpp"
#include "proxy/request/client/send_rate_monitor.hpp"

namespace spillway::proxy {

namespace {

// Bytes of a block to be kept free (http/message/body.hpp).
std::size_t held_back(const http::Framing& framing) {
  return framing.kind == http::Framing::Kind::chunked ? http::BodyReader::kMostHeld : 0;
}

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
  // would_block: the wait has ended; see Parking::why().
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
  return read_ahead(request_.limits().body_bytes);
}

// `limit`: bytes of content.
Task<std::optional<Fault>> RequestBody::read_ahead(std::uint64_t limit) {
  is_read_ahead_ = true;
  const BodyPiece first = session_.start_body(limit, at_hand_);
  if (is_over(first)) co_return fault_of(first);
  is_streamed_ = !session_.is_body_complete();
  if (!is_streamed_) co_return std::nullopt;
  resilience::MinRate client_rate = rate();
  space_rate_ = space_rate();
  if (at_hand_.size() < kSmallBody) {
    const std::optional<Fault> fault = co_await read_start(client_rate);
    if (fault) co_return fault;
  }
  if (!is_streamed_ || !is_buffered() || !move_at_hand()) co_return std::nullopt;
  const std::optional<Fault> fault = co_await read_rest(client_rate);
  co_return fault;
}

// Reads the first kSmallBody bytes into the block.
Task<std::optional<Fault>> RequestBody::read_start(resilience::MinRate& client_rate) {
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
  const std::size_t full = block.size() - held_back(framing);
  std::size_t size = at_hand_.size();
  if (size > 0) std::memcpy(block.data(), at_hand_.data(), size);
  while (!session_.is_body_complete() && size < full) {
    const BodyPiece piece = co_await receive(block.subspan(size), client_rate, false);
    if (piece.status == BodyPiece::Status::would_block) co_return late(client_rate);
    if (is_over(piece)) co_return fault_of(piece);
    size += piece.bytes;
  }
  at_hand_ = {block.data(), size};
  is_streamed_ = !session_.is_body_complete();
  co_return std::nullopt;
}

// The bytes that came with the head lie in the session's block, where the session puts bytes that
// it receives after the body. So they are moved before more is received. False: no block has room.
bool RequestBody::move_at_hand() {
  if (block_) return true;
  Block block = services_.large_blocks.take();
  if (at_hand_.size() > block.bytes().size()) return false;
  std::memcpy(block.bytes().data(), at_hand_.data(), at_hand_.size());
  at_hand_ = {block.bytes().data(), at_hand_.size()};
  block_ = std::move(block);
  return true;
}

// Whether more than kSmallBody is read before a slot is taken. The route decides, never a field of
// the request: otherwise any client could have its upload streamed while it holds a slot.
bool RequestBody::is_buffered() const {
  if (is_kept_) return true;
  if (request_.is_shadow()) return false;  // it needs no slot
  const config::Route& route = request_.config().routes[index(request_.classification.route)];
  return route.request_buffering == config::RequestBuffering::automatic;
}

// Reads into the spill: the whole body, or until it has no more room or the rest will come soon.
Task<std::optional<Fault>> RequestBody::read_rest(resilience::MinRate& client_rate) {
  was_waited_for_ = true;
  const TimePoint began = services_.now();
  std::uint64_t received = at_hand_.size();
  int round = 1;
  while (!session_.is_body_complete() && makes_room(received, began)) {
    Block block = services_.large_blocks.take();
    const std::size_t full = block.bytes().size() - held_back(request_.head.framing);
    std::size_t size = 0;
    spill_.begin_block();
    while (!session_.is_body_complete() && size < full) {
      const bool after_others = ++round % kRoundsInARow == 0 || (size == 0 && spill_.is_on_disk());
      const BodyPiece piece =
          co_await receive(block.bytes().subspan(size), client_rate, after_others);
      if (piece.status == BodyPiece::Status::would_block) co_return late(client_rate);
      if (is_over(piece)) co_return fault_of(piece);
      size += piece.bytes;
    }
    received += size;
    spill_.end_block();
    if (size > 0) spill_.keep(block, 0, size);
  }
  co_return std::nullopt;
}

// Memory is cheap. A file is only for a client that would keep its slot waiting.
bool RequestBody::makes_room(std::uint64_t received, TimePoint began) {
  const std::size_t block = services_.large_blocks.block_size();
  if (spill_.has_memory(block)) return true;
  if (is_kept_) return spill_.find_file_room(block);
  const http::Framing& framing = request_.head.framing;
  const auto rest = framing.kind == http::Framing::Kind::length
                        ? std::optional(framing.length - received)
                        : std::nullopt;
  if (will_soon_be_there(received, rest, services_.now() - began)) return false;
  return spill_.find_file_room(block);
}

// Receives before the slot is taken. would_block: the client was too slow.
Task<BodyPiece> RequestBody::receive(std::span<char> into, resilience::MinRate& client_rate,
                                     bool after_others) {
  BodyPiece piece{BodyPiece::Status::would_block};
  if (!after_others) piece = session_.receive_body(into);
  if (piece.status == BodyPiece::Status::would_block) {
    const TimePoint now = services_.now();
    const auto& total = request_.upstream_config().total_timeout;
    client_rate.begin_turn(now);
    connection_rate_.begin_turn(now);
    space_rate_.begin_turn(now);
    piece = co_await ReceiveBody(
        parking_, session_, into,
        std::min(due(client_rate, now), total ? request_.arrived + *total : kNever), after_others);
    connection_rate_.end_turn(services_.now());
    space_rate_.end_turn(services_.now());
  }
  if (piece.status == BodyPiece::Status::done) {
    client_rate.moved(piece.bytes, services_.now());
    connection_rate_.moved(piece.bytes, services_.now());
    space_rate_.moved(piece.bytes, services_.now());
  }
  co_return piece;
}

// Sends it as an origin server would (RFC 9110 section 10.1.1). False: the client is gone.
Task<bool> RequestBody::send_continue() {
  http::ResponseHead go_on;
  go_on.status = 100;
  go_on.reason_phrase = "Continue";
  const bool sent = co_await session_.send_interim(go_on);
  co_return sent;
}

// The rate limits for a client that sends a body.
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
  // The bytes in the block were sent with the head, so the block is free.
  const Block body = block_ ? std::move(block_) : services_.large_blocks.take();
  const Pumped spilled = co_await send_spilled(upstream);
  if (spilled == Pumped::ended) co_return;
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
    client_rate.end_turn(now);  // the clock stops until the piece has been sent on
    slot_rate_.moved(piece.bytes, now);
    slot_rate_.end_turn(now);
    const Pumped pumped = co_await send_on(upstream, {body.bytes().data(), piece.bytes});
    if (pumped == Pumped::ended) co_return;
  }
  pump_ = Pump::done;
  sent_at_ = services_.now();
  wake_exchange();  // the response is due from now on
}

Task<RequestBody::Pumped> RequestBody::send_spilled(Stream& upstream) {
  for (int round = 1; !spill_.is_empty(); ++round) {
    const std::string_view next = spill_.front();
    if (next.empty()) {
      fail(local_shortage());
      co_return Pumped::ended;
    }
    const Pumped pumped = co_await send_on(upstream, next);
    if (pumped == Pumped::ended) co_return pumped;
    spill_.sent(next.size());
    if (round % kRoundsInARow != 0) continue;
    const TimePoint due = services_.now() + request_.upstream_config().response_timeout;
    const Wake wake = co_await pump_parking_.park({.deadline = due}, &upstream.writable());
    if (!is_pumping()) co_return Pumped::ended;
    if (wake == Wake::timeout) {
      fail(upstream_timeout());
      co_return Pumped::ended;
    }
  }
  co_return Pumped::goes_on;
}

Task<RequestBody::Pumped> RequestBody::send_on(Stream& upstream, std::string_view bytes) {
  const TimePoint due = services_.now() + request_.upstream_config().response_timeout;
  const Transfer sent = co_await send_all(pump_parking_, upstream, bytes, {}, {.deadline = due});
  switch (sent.status) {
    case Transfer::Status::done: co_return Pumped::goes_on;
    case Transfer::Status::timeout: fail(upstream_timeout()); break;
    case Transfer::Status::failed:
      // The upstream may have responded early, before it closed the connection.
      pump_ = Pump::stopped;
      wake_exchange();
      break;
    default: break;  // stopped
  }
  co_return Pumped::ended;
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

void RequestBody::take_slot_back() {
  services_.gauges.slots_back_from_senders.add();
  pump_parking_.wake(Wake::cancelled);
}

bool RequestBody::end_early() {
  if (!pump_parking_.parked()) return false;
  pump_parking_.wake(Wake::timeout);
  return true;
}

}  // namespace spillway::proxy
