// Responses that last: a server has succeeded once its response has lasted for a second. A tunnel
// or an event stream outlives its request.
#include <chrono>
#include <utility>

#include "proxy/call/record_result.hpp"
#include "proxy/call/upstream_call.hpp"

namespace spillway::proxy {

namespace {
constexpr Duration kStillArrives = std::chrono::seconds(1);  // after its head
}  // namespace

void UpstreamCall::on_body_bytes() {
  if (!call_.has_ended() && services_.now() - so_far_.answered_at >= kStillArrives) call_.succeed();
}

UpstreamPtr UpstreamCall::detach_tunnel() {
  count_success();
  return detach();
}

UpstreamPtr UpstreamCall::detach_event_stream(std::optional<StreamResult>& result) {
  call_.of(failure_source(request_));
  result.emplace(request_.generation, std::move(call_), request_.upstream().servers,
                 connection_->server(), so_far_.answered_at + kStillArrives);
  return detach();
}

UpstreamPtr UpstreamCall::detach() {
  record_result(request_, false);
  connection_->leave_pool();
  admission_.abandon_slot(services_.now()).release();
  return std::move(connection_);
}

}  // namespace spillway::proxy
