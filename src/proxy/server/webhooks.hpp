// Tells the webhooks of waiting rooms what has become of tickets: each event is a job of the route
// that the configuration names. Waits for nothing: what the store has no room for stays with the
// waiting room, which keeps so many (waiting::TicketEvents).
#pragma once

#include "base/ids.hpp"
#include "proxy/generation/generation.hpp"
#include "proxy/jobs/job_queue.hpp"

namespace spillway::proxy {

class Webhooks {
 public:
  // Null: no route has `defer`, so that no waiting room has a webhook.
  explicit Webhooks(JobQueue* jobs) : jobs_(jobs) {}

  // Tells of the waiting room of this route, after its tick.
  void tell(const Generation& generation, RouteId route) const;

 private:
  JobQueue* const jobs_;
};

}  // namespace spillway::proxy
