// Streams a request body that is too large to be read first, while the response is awaited or
// already relayed. A child of the exchange: it ends, by itself or stopped, before the exchange
// goes on to another request.
#include <algorithm>
#include <cstring>

#include "proxy/exchange.hpp"
#include "proxy/worker.hpp"

namespace spillway::proxy {

namespace {
// So many blocks may pass before other connections have their turn.
constexpr int kRoundsInARow = 16;
}  // namespace

Detached Exchange::pump_body() {
  pump_frame_ = co_await OwnFrame{};
  pump_ = Pump::running;
  const Block body = worker_.large_blocks.take();
  const std::span<char> block = body.bytes();
  for (int round = 1; !request_body_.done(); ++round) {
    std::size_t most = block.size();
    if (request_.framing.kind == http::Framing::Kind::length) {
      most = std::min<std::uint64_t>(most, request_.framing.length - request_body_.content_bytes());
    }
    const IoResult result = round % kRoundsInARow == 0 ? IoResult{IoResult::Status::would_block}
                                                       : client_->receive(block.first(most));
    if (result.status == IoResult::Status::would_block) {
      const TimePoint deadline = Clock::now() + worker_.config().limits.idle_timeout;
      const Wake wake = co_await pump_parking_.park(deadline, &client_->readable());
      if (wake == Wake::ready) continue;
      if (wake == Wake::timeout) pump_failed(request_timeout());
      co_return;
    }
    if (result.status != IoResult::Status::done) {
      pump_failed(client_gone());
      co_return;
    }
    const std::string_view received(block.data(), result.bytes);
    std::size_t checked = 0;
    while (checked < received.size() && !request_body_.done()) {
      const auto step = request_body_.read(received.substr(checked));
      if (step.error != http::Error::none) {
        pump_failed(bad_request(step.error));
        co_return;
      }
      checked += step.consumed;
    }
    const bool sent = co_await pump_out(received.substr(0, checked));
    if (!sent) co_return;

    // What follows a chunked body is the next request: keep it behind the head.
    const std::string_view next = received.substr(checked);
    if (!next.empty()) {
      const std::span<char> room = head_block_.bytes().subspan(head_end_);
      if (next.size() > room.size()) {
        keep_client_ = request_.keep_alive = false;
      } else {
        std::memcpy(room.data(), next.data(), next.size());
        consumed_ = head_end_;
        received_ = head_end_ + next.size();
      }
    }
  }
  pump_ = Pump::done;
  // The response is due from now on. This resumes the exchange and must come last.
  if (parking_.parked()) parking_.wake(Wake::ready);
}

// False when the pump is to end, quietly or with pump_failed().
Task<bool> Exchange::pump_out(std::string_view bytes) {
  const Milliseconds timeout = worker_.upstream(subject_.upstream).config.response_timeout;
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
      const Wake wake = co_await pump_parking_.park(Clock::now() + timeout, &upstream_->writable());
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
  pump_fault_ = fault;
  if (parking_.parked()) parking_.wake(Wake::ready);
}

}  // namespace spillway::proxy
