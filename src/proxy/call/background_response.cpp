#include "proxy/call/background_response.hpp"

#include <algorithm>
#include <span>
#include <utility>

#include "proxy/net/transfer.hpp"
#include "proxy/request/received_body.hpp"

namespace spillway::proxy {

Task<BackgroundRead> read_in_background(Parking& parking, const RequestContext& request,
                                        UpstreamCall& call, const OnContent& on_content) {
  using Status = BackgroundRead::Status;
  const auto failed = [&call](const Fault& fault) {
    return BackgroundRead{Status::failed, call.fail_after_head(fault)};
  };
  RelayState& state = call.state();
  http::BodyReader& reader = call.begin_body();
  if (reader.done()) state.upstream_done();
  const std::span<char> block = call.block().bytes();
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
    const TimePoint due = std::min(Clock::now() + request.upstream_config().response_timeout,
                                   call.deadlines().response_due());
    const Transfer got =
        co_await receive(parking, call.connection(), block.subspan(state.end()), {.deadline = due});
    if (got.done()) state.received(got.bytes);
    if (got.done() || got.status == Transfer::Status::woken) continue;
    const bool is_whole =
        got.status == Transfer::Status::end && reader.end_of_input() == http::Error::none;
    if (got.status == Transfer::Status::client_gone)  // ended from outside
      co_return BackgroundRead{Status::failed, client_gone()};
    if (!is_whole) {
      const bool is_late = got.status == Transfer::Status::timeout;
      co_return failed(is_late ? upstream_stalled() : upstream_invalid(http::Error::truncated));
    }
    state.upstream_done();
  }
}

}  // namespace spillway::proxy
