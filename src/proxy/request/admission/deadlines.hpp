// How long a request waits for its upstream: its own deadline bounds the wait for the response
// head, the upstream's total_timeout_ms that for the whole response. Received bytes extend neither.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/time.hpp"
#include "http/outgoing/rewrite.hpp"
#include "proxy/request/admission/admission.hpp"
#include "proxy/request/answer/fault.hpp"
#include "proxy/request/context/request_context.hpp"
#include "traffic/classify/deadline.hpp"

namespace spillway::proxy {

struct DeadlineTexts {
  traffic::DeadlineText request_deadline;
  traffic::DeadlineText grpc_timeout;
};

class Deadlines {
 public:
  // Call it once a slot has been granted, or none is needed.
  void start(const RequestContext& request, const Admission& admission);

  TimePoint head_due() const { return std::min(response_deadline_, response_due_); }
  TimePoint response_due() const { return response_due_; }
  // The whole response may take until then, if it had less time.
  void put_off(TimePoint until) { response_due_ = std::max(response_due_, until); }
  // Why a wait for the head ended at `now`. While the request's body is still being sent the server
  // is not late: a slow client must not get servers ejected. (The pump detects a server that does
  // not receive the body.)
  Fault fault_at(TimePoint now, bool is_receiving) const;

  // Writes the time left until the deadline into the request for the upstream, in the fields that
  // the client used; in X-Request-Deadline if only the route has a deadline.
  enum class Left : std::uint8_t { enough, none };
  Left write_left(const RequestContext& request, const Admission& admission, TimePoint now,
                  http::ForwardedRequest& with, DeadlineTexts& texts) const;

 private:
  TimePoint response_deadline_ = kNever;  // the request's deadline, if it ends the wait for a head
  TimePoint response_due_ = kNever;       // when the response must have ended
};

}  // namespace spillway::proxy
