#include "proxy/admin/room_report.hpp"

#include <algorithm>
#include <cstdint>
#include <string>

#include "jobs/time_text.hpp"
#include "observe/page/waiting_report.hpp"
#include "proxy/admin/room_query.hpp"

namespace spillway::proxy {

namespace {

using Json = nlohmann::ordered_json;
using waiting::Ended;
using waiting::TicketState;

Json by_cause(const std::array<std::uint64_t, waiting::kEndedCount>& ended) {
  Json json = Json::object();
  for (std::size_t n = 0; n < ended.size(); ++n)
    json[std::string(name(static_cast<Ended>(n)))] = ended[n];
  return json;
}

// The share of ended tickets whose visitors came in; those who left by themselves do not count.
Json success_rate(const waiting::Counts& counts) {
  std::uint64_t ended = counts.fulfilled;
  for (std::size_t n = 0; n < counts.tickets_ended.size(); ++n) {
    if (static_cast<Ended>(n) != Ended::cancelled) ended += counts.tickets_ended[n];
  }
  if (ended == 0) return nullptr;
  return static_cast<double>(counts.fulfilled) / static_cast<double>(ended);
}

Json average_wait(const waiting::Counts& counts) {
  if (counts.fulfilled == 0) return nullptr;
  return counts.waited.count() / static_cast<std::int64_t>(counts.fulfilled);
}

}  // namespace

Json room_report(const observe::WaitingRoomSnapshot& room, const waiting::Orders& notice) {
  const waiting::Counts& counts = room.counts;
  Json json = observe::waiting_room_report(room);
  json["joined"] = counts.joined;
  json["called"] = counts.called;
  json["fulfilled"] = counts.fulfilled;
  json["entered"] = counts.entered;
  json["entries_failed"] = counts.entries_failed;
  json["refused"] = counts.refused;
  json["refused_users"] = counts.refused_users;
  json["limited"] = {{"polls", room.limited_polls}, {"joins", room.limited_joins}};
  json["tickets_ended"] = by_cause(counts.tickets_ended);
  json["sessions_ended"] = by_cause(counts.sessions_ended);
  json["success_rate"] = success_rate(counts);
  json["average_wait_ms"] = average_wait(counts);
  json["held_open"] = notice.is_held_open;
  json["paused"] = notice.is_paused;
  json["ended"] = notice.has_ended;
  json["message"] = notice.message;
  return json;
}

namespace {

// If resources are handed out.
void add_allotment(Json& json, const waiting::View& view, waiting::Time now) {
  if (!view.allotment) return;
  const waiting::Allotment& its = *view.allotment;
  json["type"] = its.type;
  if (!its.resource.empty()) json["resource"] = its.resource;
  json["duration_ms"] = its.duration.count();
  if (its.max_wait > Milliseconds(0))
    json["remaining_max_wait_ms"] =
        std::max<std::int64_t>((view.joined + its.max_wait - now).count(), 0);
  if (view.state == TicketState::fulfilled) json["until"] = jobs::to_text(its.until);
}

}  // namespace

Json ticket_report(const waiting::WaitingRoom::Report& ticket, std::string_view tier,
                   waiting::Time now) {
  const waiting::WaitingRoom::View& view = ticket.view;
  const auto since = [now](waiting::Time time) {
    return std::max<std::int64_t>((now - time).count(), 0);
  };
  Json json{{"id", to_text(ticket.id)}, {"status", status_name(view.state)}};
  if (view.state == TicketState::fulfilled) {
    json["begun_at"] = jobs::to_text(view.joined);
    add_allotment(json, view, now);
    return json;
  }
  json["tier"] = tier;
  json["position"] = view.ahead + 1;
  json["ahead"] = view.ahead;
  json["joined_at"] = jobs::to_text(view.joined);
  json["waited_ms"] = since(view.joined);
  json["heard_at"] = jobs::to_text(ticket.heard);
  json["present"] = ticket.is_present;
  json["missed"] = ticket.missed;
  if (view.is_reserved) json["reserved"] = true;
  if (ticket.is_away) json["away"] = true;
  if (view.why != waiting::Why::none) json["why"] = name(view.why);
  if (view.estimate) {
    json["estimate"] = {{"p10_ms", view.estimate->p10.count()},
                        {"p90_ms", view.estimate->p90.count()}};
  }
  if (view.state == TicketState::processing)
    json["claim_remaining_ms"] = std::max<std::int64_t>((view.claim_until - now).count(), 0);
  add_allotment(json, view, now);
  return json;
}

Json ticket_report(const waiting::TicketId& id, const waiting::End& end) {
  return {{"id", to_text(id)},
          {"status", is_expiry(end.why) ? "expired" : "cancelled"},
          {"what", end.was_session ? "session" : "ticket"},
          {"cause", name(end.why)},
          {"ended_at", jobs::to_text(end.at)}};
}

}  // namespace spillway::proxy
