// Sends ticket events of waiting rooms to their webhooks: each event is a job of the route that the
// configuration names. Never waits: events for which the store has no room stay with the waiting
// room, which keeps a limited number of them (waiting::TicketEvents).
#pragma once

#include "base/ids.hpp"
#include "proxy/generation/generation.hpp"
#include "proxy/jobs/job_queue.hpp"

namespace spillway::proxy {

class Webhooks {
 public:
  // Null: no route has `defer`, so no waiting room has a webhook.
  explicit Webhooks(JobQueue* jobs) : jobs_(jobs) {}

  // Sends the events of the waiting room of this route; call it after the room's tick.
  void tell(const Generation& generation, RouteId route) const;

 private:
  JobQueue* const jobs_;
};

}  // namespace spillway::proxy
