#include "proxy/request/admission/deadlines.hpp"

#include <chrono>

namespace spillway::proxy {

void Deadlines::start(const RequestContext& request, const Admission& admission) {
  const config::Upstream& settings = request.upstream_config();
  response_due_ =
      std::min(request.due,
               settings.total_timeout ? admission.dispatched() + *settings.total_timeout : kNever);
  // If late requests are served anyway, a deadline only tags them; shadow mode ends no request; and
  // no client waits for a request in the background.
  const bool is_enforced = settings.dispatch.late == config::Late::drop && !request.is_shadow() &&
                           !request.is_in_background();
  response_deadline_ =
      is_enforced ? request.classification.response_deadline(admission.uncounted()).at : kNever;
}

Fault Deadlines::fault_at(TimePoint now, bool is_receiving) const {
  if (now >= response_deadline_) return deadline_passed();
  return is_receiving ? request_timeout() : upstream_timeout();
}

Deadlines::Left Deadlines::write_left(const RequestContext& request, const Admission& admission,
                                      TimePoint now, http::ForwardedRequest& with,
                                      DeadlineTexts& texts) const {
  if (request.is_in_background() || admission.is_late()) return Left::enough;
  const TimePoint at = request.classification.response_deadline(admission.uncounted());
  if (at == kNever) return Left::enough;
  const Duration left = at - now;
  if (left <= Duration{0}) return response_deadline_ == kNever ? Left::enough : Left::none;
  const traffic::ClientDeadline& client = request.classification.client;
  if (client.fields.grpc_timeout)
    with.grpc_timeout = traffic::write_grpc_timeout(left, texts.grpc_timeout);
  if (client.fields.is_unix_time()) {
    const auto after_arrival = std::chrono::floor<Milliseconds>(at - request.arrived);
    with.request_deadline =
        traffic::write_unix_time(client.arrived + after_arrival, texts.request_deadline);
  } else if (client.fields.request || !client.fields.grpc_timeout) {
    with.request_deadline = traffic::write_time_left(left, texts.request_deadline);
  }
  return Left::enough;
}

}  // namespace spillway::proxy
