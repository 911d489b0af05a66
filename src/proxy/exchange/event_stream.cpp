#include "proxy/exchange/event_stream.hpp"

#include "proxy/call/abandoned_call.hpp"
#include "proxy/net/transfer.hpp"
#include "proxy/request/body/received_body.hpp"

namespace spillway::proxy {

using observe::TunnelEnd;

Task<> EventStream::run() {
  const auto [how, is_of_client] = co_await relay();
  if (is_of_client) {
    AbandonedCall::begin(
        services_, left_event_stream(std::move(parts_.connection), std::move(parts_.permit), how,
                                     parts_.reader, services_.now()));
    co_return;
  }
  parts_.connection->retire();
  parts_.permit.end(how);
}

Task<EventStream::End> EventStream::relay() {
  const std::span<char> block = parts_.block.bytes();
  RelayState state(block.size());
  state.set_checked(0, parts_.reader.held());
  for (int round = 1;; ++round) {
    if (round % kRoundsInARow == 0) co_await Yield(services_.loop);  // others have their turn
    const Until until{.deadline = services_.now() + parts_.idle_timeout, .client_gone = true};
    const Transfer got =
        co_await receive(parking_, *parts_.connection, block.subspan(state.end()), until);
    switch (got.status) {
      case Transfer::Status::done: break;
      case Transfer::Status::woken: continue;
      case Transfer::Status::timeout:
        co_return cut({is_over_ ? TunnelEnd::stopped : TunnelEnd::idle});
      case Transfer::Status::client_gone: co_return cut({TunnelEnd::finished, true});
      case Transfer::Status::end:
        if (parts_.reader.end_of_input() == http::Error::none) co_return End{TunnelEnd::finished};
        co_return cut({TunnelEnd::broken});
      default: co_return cut({TunnelEnd::broken});
    }
    state.received(got.bytes);
    const CheckedBody checked =
        check_received(parts_.reader, state, block, parts_.dechunks, [](std::string_view) {});
    if (checked.error != http::Error::none) co_return cut({TunnelEnd::broken});
    const bool sent = co_await send_to_client(parking_, session_, {block.data(), state.to_send()},
                                              {.client_gone = true});
    // A client that left ends the stream; one that was too slow broke it.
    state.clear();
    if (!sent) co_return cut({session_.is_open() ? TunnelEnd::finished : TunnelEnd::broken, true});
    if (state.is_upstream_done()) co_return End{TunnelEnd::finished};
  }
}

// A truncated stream must not look complete.
EventStream::End EventStream::cut(End end) {
  session_.abort();
  return end;
}

}  // namespace spillway::proxy
