#include "proxy/exchange/event_stream.hpp"

#include "proxy/call/abandoned_call.hpp"
#include "proxy/net/transfer.hpp"
#include "proxy/request/body/received_body.hpp"

namespace spillway::proxy {

using observe::TunnelEnd;

Task<> EventStream::run() {
  const End end = co_await relay();
  note_result(end);
  if (end.by == By::client) {  // the upstream may not have noticed
    AbandonedCall::begin(services_,
                         left_event_stream(std::move(parts_.connection), std::move(parts_.permit),
                                           end.how, parts_.reader, services_.now()));
    co_return;
  }
  parts_.connection->retire();
  parts_.permit.end(end.how);
}

Task<EventStream::End> EventStream::relay() {
  const std::span<char> block = parts_.block.bytes();
  RelayState state(block.size());
  state.set_checked(0, parts_.reader.held());
  TimePoint idle = idle_from_now();
  for (int round = 1;; ++round) {
    if (round % kRoundsInARow == 0) co_await Yield(services_.loop);  // lets other connections run
    const Until until{.deadline = idle, .client_gone = true};
    const Transfer got =
        co_await receive(parking_, *parts_.connection, block.subspan(state.end()), until);
    switch (got.status) {
      case Transfer::Status::done: break;
      case Transfer::Status::woken: idle = idle_from_now(); continue;
      case Transfer::Status::timeout:
        if (is_over_) co_return cut({TunnelEnd::stopped, By::proxy});
        if (services_.now() < idle) continue;
        co_return cut({TunnelEnd::idle, By::proxy});
      case Transfer::Status::client_gone: co_return cut({TunnelEnd::finished, By::client});
      case Transfer::Status::end:
        if (const http::Error error = parts_.reader.end_of_input(); error != http::Error::none)
          co_return cut({TunnelEnd::broken, By::upstream, error});
        co_return End{TunnelEnd::finished, By::upstream};
      default: co_return cut({TunnelEnd::broken, By::upstream, http::Error::truncated});
    }
    state.received(got.bytes);
    const CheckedBody checked =
        check_received(parts_.reader, state, block, parts_.dechunks, [](std::string_view) {});
    if (checked.error != http::Error::none)
      co_return cut({TunnelEnd::broken, By::upstream, checked.error});
    const bool sent =
        co_await send_beside_body(parking_, session_, {block.data(), state.to_send()});
    // A client that left ends the stream normally; one that was too slow broke it.
    state.clear();
    if (!sent)
      co_return cut({session_.is_open() ? TunnelEnd::finished : TunnelEnd::broken, By::client});
    if (state.is_upstream_done()) co_return End{TunnelEnd::finished, By::upstream};
    idle = idle_from_now();
  }
}

void EventStream::note_result(TimePoint now) {
  if (!parts_.result || now < parts_.result->due()) return;
  parts_.result->succeed();
  parts_.result.reset();
}

// A stream that others ended within a second is neither a success nor a failure of its server.
void EventStream::note_result(const End& end) {
  note_result(services_.now());  // the sweep may not have run since the stream has lasted a second
  if (!parts_.result) return;
  if (end.by == By::upstream && end.error == http::Error::none) parts_.result->succeed();
  if (end.error != http::Error::none) parts_.result->fail(upstream_invalid(end.error));
  parts_.result.reset();
}

// A truncated stream must not look complete.
EventStream::End EventStream::cut(End end) {
  note_result(end);  // before the client can send another request
  session_.abort();
  return end;
}

}  // namespace spillway::proxy
