// Until when a request waits for the upstream: its deadline ends the wait for the response head,
// the upstream's total timeout that for the whole response. Both are seen by the sweep, whatever
// else happens on the connection: a byte now and then puts off neither.
#include <algorithm>
#include <chrono>

#include "proxy/exchange/exchange.hpp"
#include "proxy/worker/worker.hpp"

namespace spillway::proxy {

// Once a slot has been granted, or none is needed.
void Exchange::set_due_times() {
  const config::Upstream& settings = here_->upstream(subject_.upstream).config;
  response_due_ = settings.total_timeout ? dispatched_ + *settings.total_timeout : kNever;
  // Where late requests are served all the same a deadline only tags them, and shadow mode ends
  // nobody's request. Nobody waits for one in the background.
  const bool is_enforced =
      settings.dispatch.late == config::Late::drop && !is_shadow() && !in_background_;
  answer_by_ = is_enforced ? subject_.answer_by(uncounted(dispatched_ - waited_ - began_)) : kNever;
}

// When to give up a step on the way to a response head that may take so long.
TimePoint Exchange::head_due(Milliseconds timeout) const {
  return std::min(worker_.now() + timeout, head_due());
}

// Such a step was given up. While the request's body is still on its way the server owes nothing: a
// client that dawdles is not to have servers ejected. (One that takes no more of the body is found
// by the pump.)
Fault Exchange::out_of_time() const {
  if (worker_.now() >= answer_by_) return deadline_passed();
  return pump_ == Pump::running ? request_timeout() : upstream_timeout();
}

// What is left of the deadline, for the upstream to know, in the forms that the client used; in
// X-Request-Deadline where only the route has one. False when nothing is left.
bool Exchange::tell_deadline(http::ForwardedRequest& with, DeadlineTexts& texts) const {
  const bool is_late = slot_ && ticket_.late;
  if (in_background_ || is_late) return true;
  const TimePoint at = subject_.answer_by(uncounted(dispatched_ - waited_ - began_));
  if (at == kNever) return true;
  const Duration left = at - worker_.now();
  if (left <= Duration{0}) return answer_by_ == kNever;
  const traffic::ClientDeadline& client = subject_.client;
  if (client.fields.grpc_timeout)
    with.grpc_timeout = traffic::write_grpc_timeout(left, texts.grpc_timeout);
  if (client.fields.is_unix_time()) {
    const auto after_arrival = std::chrono::floor<Milliseconds>(at - began_);
    with.request_deadline =
        traffic::write_unix_time(client.arrived + after_arrival, texts.request_deadline);
  } else if (client.fields.request || !client.fields.grpc_timeout) {
    with.request_deadline = traffic::write_time_left(left, texts.request_deadline);
  }
  return true;
}

}  // namespace spillway::proxy
