#include "proxy/call/background_response.hpp"

#include <algorithm>
#include <optional>
#include <span>
#include <utility>

#include "proxy/net/transfer.hpp"
#include "proxy/request/body/received_body.hpp"

namespace spillway::proxy {

namespace {

// The fault of a response that ended too early.
Fault fault_of(Transfer::Status status) {
  if (status == Transfer::Status::client_gone) return client_gone();
  if (status == Transfer::Status::timeout) return upstream_stalled();
  return upstream_invalid(http::Error::truncated);
}

// Goes on where reading stopped; does not report the result to the call. `late_until`: for a
// response that has stalled; received bytes do not extend it.
Task<BackgroundRead> read_on(Parking& parking, const RequestContext& request, UpstreamCall& call,
                             const OnContent& on_content, std::optional<TimePoint> late_until) {
  using Status = BackgroundRead::Status;
  const auto failed = [](const Fault& fault) { return BackgroundRead{Status::failed, fault}; };
  RelayState& state = call.state();
  http::BodyReader& reader = call.body_reader();
  const std::span<char> block = call.block().bytes();
  int rounds = 0;
  for (Wanted wanted = Wanted::more;;) {
    const CheckedBody checked =
        check_received(reader, state, block, true, [&](std::string_view content) {
          if (wanted == Wanted::more) wanted = on_content(content);
        });
    if (checked.error != http::Error::none) co_return failed(upstream_invalid(checked.error));
    if (checked.has_surplus) call.response().keep_alive = false;
    state.clear();
    if (wanted == Wanted::nothing) co_return BackgroundRead{Status::refused, {}};
    if (state.is_upstream_done()) co_return BackgroundRead{};
    const TimePoint in_time = std::min(Clock::now() + request.upstream_config().response_timeout,
                                       call.deadlines().response_due());
    const Until until{.deadline = late_until.value_or(in_time)};
    if (++rounds % kRoundsInARow == 0) {
      // Parks even if there is input, so that other connections can run.
      const Wake wake = co_await parking.park(until, &call.connection().readable());
      if (wake != Wake::ready) co_return failed(fault_of(status_of(wake)));
      continue;
    }
    const Transfer got =
        co_await receive(parking, call.connection(), block.subspan(state.end()), until);
    if (got.done()) state.received(got.bytes);
    if (got.done() || got.status == Transfer::Status::woken) continue;
    const bool is_whole =
        got.status == Transfer::Status::end && reader.end_of_input() == http::Error::none;
    if (!is_whole) co_return failed(fault_of(got.status));
    state.upstream_done();
  }
}

}  // namespace

Task<BackgroundRead> read_in_background(Parking& parking, const RequestContext& request,
                                        UpstreamCall& call, const OnContent& on_content) {
  if (call.begin_body().done()) call.state().upstream_done();
  const BackgroundRead read = co_await read_on(parking, request, call, on_content, std::nullopt);
  const bool is_upstreams_fault = read.fault.failure.has_value();  // and not an end from outside
  if (read.status == BackgroundRead::Status::failed && is_upstreams_fault)
    call.fail_after_head(read.fault);
  co_return read;
}

Task<bool> read_rest_until(Parking& parking, const RequestContext& request, UpstreamCall& call,
                           TimePoint until) {
  if (call.begin_body().done()) call.state().upstream_done();
  const OnContent discard = [](std::string_view) { return Wanted::more; };
  const BackgroundRead read = co_await read_on(parking, request, call, discard, until);
  co_return read.status == BackgroundRead::Status::done;
}

Task<bool> read_late_rest(Services& services, Parking& parking, const RequestContext& request,
                          UpstreamCall& call, const OnContent& on_content) {
  const std::optional<TimePoint> until = call.begin_late_wait();
  if (!until) co_return false;
  const observe::Counted counted(services.gauges.abandoned_calls);
  const BackgroundRead read = co_await read_on(parking, request, call, on_content, until);
  using LateEnd = UpstreamCall::LateEnd;
  const bool is_whole = read.status == BackgroundRead::Status::done;
  const bool is_from_outside = !is_whole && read.fault.reason == Reason::client_gone;
  call.end_late_wait(is_whole          ? LateEnd::response
                     : is_from_outside ? LateEnd::from_outside
                                       : LateEnd::nothing);
  co_return is_whole;
}

}  // namespace spillway::proxy
