#include "proxy/server/webhooks.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "jobs/route_capacity.hpp"
#include "proxy/jobs/new_job_id.hpp"
#include "waiting/terms/configured.hpp"
#include "waiting/ticket/webhook.hpp"

namespace spillway::proxy {

namespace {

// From which waiting room's route to which webhook's route the events go.
struct Target {
  const config::Route& from;
  const config::Route& to;
  const HmacKey& key;
  std::string host;
};

std::string head_of(const Target& target, const std::string& id, waiting::Time at,
                    const std::string& body) {
  std::string head = "POST " + target.from.waiting_room->webhook->path + " HTTP/1.1\r\nHost: ";
  head.append(target.host).append("\r\nContent-Type: application/json\r\n");
  head += waiting::webhook_fields(target.key, id, at, body);
  return head + "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n";
}

// nullopt: there are no random numbers for its id.
std::optional<jobs::NewJob> job_of(const waiting::TicketEvent& ticket_event, const Target& target,
                                   jobs::WallTime now) {
  const config::Defer& defer = *target.to.defer;
  const config::WaitingRoom& room = *target.from.waiting_room;
  jobs::NewJob job;
  job.accepted = now;
  const std::optional<jobs::JobId> id = new_job_id(job.accepted);
  if (!id) return std::nullopt;
  job.id = *id;
  job.lane = {jobs::rank_of(defer), target.to.name, {}};
  job.tenant_name = target.from.name;
  job.expires = job.accepted + defer.ttl;
  job.kept = defer.result_ttl;
  job.method = "POST";
  job.target = room.webhook->path;
  job.body = waiting::webhook_body(ticket_event, target.from.name,
                                   waiting::tier_name(room, ticket_event.priority));
  job.head = head_of(target, jobs::to_text(job.id), ticket_event.at, job.body);
  // Events of one ticket arrive in their order.
  job.order.emplace();
  std::ranges::copy(ticket_event.id.bytes, job.order->begin());
  return job;
}

}  // namespace

void Webhooks::tell(const Generation& generation, RouteId route) const {
  const config::Route& from = generation.config.routes[index(route)];
  const bool has_webhook = from.waiting_room && from.waiting_room->webhook;
  if (jobs_ == nullptr || !has_webhook || !from.waiting_room->webhook->key) return;
  const std::size_t room = jobs_->room_for_notices();
  if (room == 0) return;
  const auto to = std::ranges::find(generation.config.routes, from.waiting_room->webhook->route,
                                    &config::Route::name);
  const Upstream& upstream = generation.upstreams[index(to->upstream)];
  const Target target{from, *to, *from.waiting_room->webhook->key, upstream.endpoints.front().name};
  const std::shared_ptr<SharedWaitingRoom>& its = generation.waiting_rooms[index(route)];
  for (const waiting::TicketEvent& ticket_event : its->take_events(room)) {
    std::optional<jobs::NewJob> job = job_of(ticket_event, target, jobs_->wall_now());
    const auto written = [its, event = ticket_event.event](bool is_written) {
      its->tally().count_event(event, is_written);
    };
    if (!job || !jobs_->post(std::move(*job), to->defer->max_pending, written)) written(false);
  }
}

}  // namespace spillway::proxy
