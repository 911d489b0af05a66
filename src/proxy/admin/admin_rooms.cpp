#include "proxy/admin/admin_rooms.hpp"

#include <algorithm>
#include <optional>
#include <utility>
#include <variant>

#include "proxy/admin/json_members.hpp"
#include "proxy/admin/room_report.hpp"

namespace spillway::proxy {

namespace beast_http = boost::beast::http;
using beast_http::status;

namespace {

using observe::RoomChange;
using waiting::NotCalled;
using waiting::Time;
using waiting::WaitingRoom;
using RoomJson = nlohmann::ordered_json;

RoomJson report_of(SharedWaitingRoom& room, const config::WaitingRoom& settings) {
  return room_report(snapshot_of(room, settings), room.notice(settings));
}

AdminResponse no_such_ticket() {
  return admin_problem(status::not_found, "there is no such ticket, or it has ended");
}

AdminResponse already_called() {
  return admin_problem(status::conflict, "the ticket is called: it may come in already");
}

AdminResponse not_written() {
  return admin_problem(status::service_unavailable,
                       "the log of waiting rooms does not answer; it may have been done");
}

struct Seen {
  std::optional<WaitingRoom::Report> report;  // nullopt: there is no such ticket
  std::optional<waiting::End> end;            // for a ticket that is over
  Time at;
};

Seen look_at(SharedWaitingRoom& room, const waiting::TicketId& id) {
  return room.with(Clock::now(), [&](WaitingRoom& inside, Time now) {
    return Seen{.report = inside.inspect(id, now), .end = inside.end_of(id, now), .at = now};
  });
}

// nullopt: the log of a waiting room that other proxies share does not answer. This thread waits
// for it; no visitor does.
template <class C>
std::optional<typename C::Result> order(SharedWaitingRoom& room, const C& command) {
  if (!room.is_shared()) return room.perform(command, Clock::now());
  std::optional<waiting::Outcome> outcome = wait_for_log(room.outbox(), command);
  if (!outcome) return std::nullopt;
  return std::get<typename C::Result>(*std::move(outcome));
}

RoomJson failure_of(NotCalled why) {
  switch (why) {
    case NotCalled::nobody_present:
      return {{"error", "nobody_present"}, {"detail", "nobody waits who was heard of lately"}};
    case NotCalled::all_away:
      return {{"error", "all_away"},
              {"detail", "all who wait are away: those who reserved are called by their tickets"}};
    case NotCalled::no_room:
      return {
          {"error", "no_room"},
          {"detail",
           "as many are called already as sessions could begin, or no free resource is enough"}};
    case NotCalled::unknown:
    case NotCalled::called:
    case NotCalled::room_ended: break;
  }
  return {{"error", "room_ended"}, {"detail", "the waiting room has ended"}};
}

RoomJson report_of(const WaitingRoom::Report& ticket, const config::WaitingRoom& settings,
                   Time now) {
  return ticket_report(ticket, waiting::tier_name(settings, ticket.view.priority), now);
}

bool has_type(const config::WaitingRoom& settings, const std::string& type) {
  const auto& groups = settings.resources.groups;
  return std::ranges::find(groups, type, &config::WaitingResource::type) != groups.end();
}

bool is_of_type(const WaitingRoom::Report& report, const std::optional<std::string>& type) {
  return !type || (report.view.allotment && report.view.allotment->type == *type);
}

AdminResponse no_such_type() {
  return admin_problem(status::bad_request, "\"type\" must be one of the waiting room's resources");
}

AdminResponse list_line(SharedWaitingRoom& room, const config::WaitingRoom& settings,
                        const TicketsListing& listing) {
  std::optional<waiting::Priority> tier;
  if (listing.tier) {
    const auto known = std::ranges::find(settings.tiers, *listing.tier, &config::WaitingTier::name);
    if (known == settings.tiers.end())
      return admin_problem(status::bad_request, "\"tier\" must be one of the waiting room's");
    tier = static_cast<waiting::Priority>(known->priority);
  }
  Time time;
  const auto found = room.with(Clock::now(), [&](WaitingRoom& line, Time now) {
    time = now;
    return line.list_line(listing.after, listing.limit, now, tier, listing.type.value_or(""));
  });
  RoomJson tickets = RoomJson::array();
  for (const WaitingRoom::Report& each : found) {
    if (!listing.status || *listing.status == each.view.state)
      tickets.push_back(report_of(each, settings, time));
  }
  RoomJson next = nullptr;
  if (found.size() == listing.limit) next = cursor_of(found.back());
  return json_page({{"tickets", std::move(tickets)}, {"next", std::move(next)}});
}

// Searches by this name in each source of users; for each of them, the newest first.
AdminResponse list_user(SharedWaitingRoom& room, const config::WaitingRoom& settings,
                        const TicketsListing& listing) {
  using Source = traffic::VerifiedUser::Source;
  RoomJson tickets = RoomJson::array();
  room.with(Clock::now(), [&](WaitingRoom& inside, Time now) {
    for (const Source source : {Source::field, Source::api_key, Source::jwt, Source::cookie}) {
      const waiting::UserKey user = room.key_of({source, *listing.user});
      for (const WaitingRoom::Report& each : inside.list_user(user, listing.limit, now)) {
        const bool is_wanted = !listing.status || *listing.status == each.view.state;
        if (is_wanted && is_of_type(each, listing.type) && tickets.size() < listing.limit)
          tickets.push_back(report_of(each, settings, now));
      }
    }
  });
  return json_page({{"tickets", std::move(tickets)}, {"next", nullptr}});
}

AdminResponse list_ended(SharedWaitingRoom& room, const TicketsListing& listing) {
  const auto found = room.with(Clock::now(), [&](WaitingRoom& ended, Time now) {
    return ended.list_ended(listing.before, listing.limit, now);
  });
  RoomJson tickets = RoomJson::array();
  for (const auto& each : found) tickets.push_back(ticket_report(each.id, each.end));
  RoomJson next = nullptr;
  if (found.size() == listing.limit) next = to_text(found.back().id);
  return json_page({{"tickets", std::move(tickets)}, {"next", std::move(next)}});
}

AdminResponse list_sessions(SharedWaitingRoom& room, const config::WaitingRoom& settings,
                            const TicketsListing& listing) {
  RoomJson tickets = RoomJson::array();
  RoomJson next = nullptr;
  room.with(Clock::now(), [&](WaitingRoom& sessions, Time now) {
    waiting::Slot at = listing.from;
    for (const WaitingRoom::Report& each : sessions.list_sessions(at, listing.limit)) {
      const auto& its = each.view.allotment;
      if (!listing.type || (its && its->type == *listing.type))
        tickets.push_back(report_of(each, settings, now));
    }
    if (sessions.has_sessions_from(at)) next = cursor_of(at);
  });
  return json_page({{"tickets", std::move(tickets)}, {"next", std::move(next)}});
}

}  // namespace

AdminResponse AdminRooms::answer(const AdminRequest& request, const std::string& client) const {
  const AdminTarget target = admin_target(request);
  const std::optional<RoomsPath> path = read_rooms_path(target.path);
  if (!path) return admin_problem(status::not_found, "there is no such page; see /");
  const std::shared_ptr<const Generation> generation = source_.generation();
  const WaitingRooms& rooms = generation->waiting_rooms;
  if (path->room.empty() && path->kind != RoomsPath::Kind::rooms) {
    const bool has_any = std::ranges::any_of(rooms, [](const auto& room) { return bool(room); });
    return has_any ? secret(request, *path, client)
                   : admin_problem(status::not_found, "no route has \"waiting_room\"");
  }
  const bool asks_all = path->kind == RoomsPath::Kind::rooms;
  if (asks_all && !is_reading(request)) return wrong_method("GET, HEAD");
  RoomJson all = RoomJson::array();
  for (std::size_t n = 0; n < rooms.size(); ++n) {
    if (!rooms[n]) continue;
    const config::WaitingRoom& settings = *generation->config.routes[n].waiting_room;
    if (asks_all) all.push_back(report_of(*rooms[n], settings));
    if (asks_all || rooms[n]->name() != path->room) continue;
    const Asked asked{request, client, *path, *rooms[n], settings, target.query};
    const bool is_delete = request.method() == beast_http::verb::delete_;
    switch (path->kind) {
      case RoomsPath::Kind::ticket:
        if (is_delete) return cancel(asked);
        return is_reading(request) ? report(asked) : wrong_method("GET, HEAD, DELETE");
      case RoomsPath::Kind::room:
      case RoomsPath::Kind::tickets:
        return is_reading(request) ? report(asked) : wrong_method("GET, HEAD");
      default: return change(asked);
    }
  }
  if (asks_all) return json_page({{"rooms", std::move(all)}});
  return admin_problem(status::not_found, "no route with \"waiting_room\" has this name");
}

AdminResponse AdminRooms::report(const Asked& asked) const {
  if (asked.path.kind == RoomsPath::Kind::room)
    return json_page(report_of(asked.room, asked.settings));
  if (asked.path.kind == RoomsPath::Kind::tickets) {
    const auto read = read_tickets_query(asked.query);
    if (const auto* const wrong = std::get_if<std::string>(&read))
      return admin_problem(status::bad_request, *wrong);
    const auto& listing = std::get<TicketsListing>(read);
    if (listing.type && !has_type(asked.settings, *listing.type)) return no_such_type();
    if (listing.is_of_ended) return list_ended(asked.room, listing);
    if (listing.user) return list_user(asked.room, asked.settings, listing);
    const bool is_inside = listing.status == waiting::TicketState::fulfilled;
    return is_inside ? list_sessions(asked.room, asked.settings, listing)
                     : list_line(asked.room, asked.settings, listing);
  }
  return report_ticket(asked);
}

AdminResponse AdminRooms::report_ticket(const Asked& asked) const {
  const waiting::TicketId& id = asked.path.ticket;
  const Seen seen = look_at(asked.room, id);
  if (seen.report) return json_page(report_of(*seen.report, asked.settings, seen.at));
  return seen.end ? json_page(ticket_report(id, *seen.end)) : no_such_ticket();
}

AdminResponse AdminRooms::cancel(const Asked& asked) const {
  if (is_from_web_page(asked.request))
    return admin_problem(status::forbidden, "a web page may not ask for this");
  const auto read = read_cancel_query(asked.query);
  if (const auto* const wrong = std::get_if<std::string>(&read))
    return admin_problem(status::bad_request, *wrong);
  const waiting::TicketId& id = asked.path.ticket;
  const auto was_here = order(asked.room, waiting::Cancel{id, waiting::Ended::removed});
  if (!was_here) return not_written();
  if (!*was_here) return no_such_ticket();
  audit(asked, {.act = RoomChange::Act::cancel,
                .ticket = to_text(id),
                .text = std::get<std::optional<std::string>>(read)});
  return json_page({{"id", to_text(id)}, {"status", "cancelled"}});
}

AdminResponse AdminRooms::change(const Asked& asked) const {
  if (auto refusal = refusal_of_change(asked.request)) return std::move(*refusal);
  switch (asked.path.kind) {
    case RoomsPath::Kind::call: return call(asked);
    case RoomsPath::Kind::call_one: return call_one(asked);
    case RoomsPath::Kind::move: return move(asked);
    case RoomsPath::Kind::message: return tell(asked);
    default: return set(asked);
  }
}

// One after the other, like several requests, so that visitors get answers in between.
AdminResponse AdminRooms::call(const Asked& asked) const {
  const auto read = read_call(asked.request.body());
  if (const auto* const wrong = std::get_if<std::string>(&read))
    return admin_problem(status::bad_request, *wrong);
  const auto& wanted = std::get<CallOrder>(read);
  if (!wanted.type.empty() && !has_type(asked.settings, wanted.type)) return no_such_type();
  const TimePoint began = Clock::now();
  RoomJson successes = RoomJson::array();
  RoomJson failures = RoomJson::array();
  for (std::size_t n = 1; n <= wanted.count; ++n) {
    const auto called = order(asked.room, waiting::CallNext{wanted.type});
    if (!called) return not_written();
    if (const auto* const id = std::get_if<waiting::TicketId>(&*called)) {
      successes.push_back({{"number", n}, {"id", to_text(*id)}});
      continue;
    }
    RoomJson failure{{"number", n}};
    failure.update(failure_of(std::get<NotCalled>(*called)));
    failures.push_back(std::move(failure));
    if (!wanted.continues_on_error) break;
  }
  audit(asked, {.act = RoomChange::Act::call, .number = successes.size()});
  const std::chrono::duration<double, std::milli> took = Clock::now() - began;
  return json_page({{"successes", std::move(successes)},
                    {"failures", std::move(failures)},
                    {"execution_time_ms", took.count()}});
}

AdminResponse AdminRooms::call_one(const Asked& asked) const {
  if (!is_blank(asked.request.body()))
    return admin_problem(status::bad_request, "the body must be empty, or {}");
  const waiting::TicketId& id = asked.path.ticket;
  const auto called = order(asked.room, waiting::CallOne{id});
  if (!called) return not_written();
  if (const auto* const why = std::get_if<NotCalled>(&*called)) {
    if (*why == NotCalled::unknown) return no_such_ticket();
    if (*why == NotCalled::called) return already_called();
    return admin_problem(status::conflict, failure_of(*why)["detail"].get<std::string>());
  }
  audit(asked, {.act = RoomChange::Act::call, .ticket = to_text(id), .number = 1});
  return report_ticket(asked);
}

AdminResponse AdminRooms::move(const Asked& asked) const {
  const auto read = read_move(asked.request.body());
  if (const auto* const wrong = std::get_if<std::string>(&read))
    return admin_problem(status::bad_request, *wrong);
  const waiting::TicketId& id = asked.path.ticket;
  const auto moved = order(asked.room, waiting::Move{id, std::get<std::size_t>(read)});
  if (!moved) return not_written();
  if (*moved == waiting::Moved::called) return already_called();
  const Seen seen = look_at(asked.room, id);
  if (*moved == waiting::Moved::unknown || !seen.report) return no_such_ticket();
  audit(
      asked,
      {.act = RoomChange::Act::move, .ticket = to_text(id), .number = seen.report->view.ahead + 1});
  return json_page(report_of(*seen.report, asked.settings, seen.at));
}

AdminResponse AdminRooms::tell(const Asked& asked) const {
  const auto read = read_message(asked.request.body());
  if (const auto* const wrong = std::get_if<std::string>(&read))
    return admin_problem(status::bad_request, *wrong);
  const auto& wanted = std::get<MessageOrder>(read);
  if (!order(asked.room, waiting::Decide{.has_ended = wanted.ends, .message = wanted.text}))
    return not_written();
  using Act = RoomChange::Act;
  const Act act = !wanted.ends ? Act::message : *wanted.ends ? Act::end : Act::go_on;
  audit(asked, {.act = act, .text = wanted.text});
  return json_page(report_of(asked.room, asked.settings));
}

// open, close, pause, resume
AdminResponse AdminRooms::set(const Asked& asked) const {
  using Kind = RoomsPath::Kind;
  if (!is_blank(asked.request.body()))
    return admin_problem(status::bad_request, "the body must be empty, or {}");
  const Kind kind = asked.path.kind;
  RoomChange::Act act = RoomChange::Act::open;
  if (kind == Kind::close) act = RoomChange::Act::close;
  if (kind == Kind::pause) act = RoomChange::Act::pause;
  if (kind == Kind::resume) act = RoomChange::Act::resume;
  waiting::Decide decision;
  if (kind == Kind::open || kind == Kind::close)
    decision.is_held_open = kind == Kind::open;
  else
    decision.is_paused = kind == Kind::pause;
  if (!order(asked.room, decision)) return not_written();
  audit(asked, {.act = act});
  return json_page(report_of(asked.room, asked.settings));
}

void AdminRooms::audit(const Asked& asked, RoomChange change) const {
  if (!source_.changed) return;
  change.client = asked.client;
  change.room = asked.room.name();
  source_.changed(change);
}

}  // namespace spillway::proxy
