#include "cli/admin/rooms_table.hpp"

#include <array>
#include <ostream>
#include <string>

#include "cli/terminal/terminal_text.hpp"

namespace spillway {

namespace {

using nlohmann::json;

constexpr int kMemberWidth = 21;

void print_room_row(std::ostream& out, const std::array<std::string, 6>& cells) {
  print_cells(out, cells, std::array<int, 6>{20, 8, 10, 8, 12, 0});
}

// The operator's decision if there is one; otherwise whether visitors have to wait.
std::string state_of(const json& room) {
  std::string state = room.value("open", false) ? "open" : "closed";
  if (room.value("held_open", false)) state = "held open";
  state += state == "closed" ? " (visitors enter without a ticket)" : " (visitors wait)";
  if (room.value("paused", false)) state += ", paused";
  if (room.value("ended", false)) state += ", ended";
  return state;
}

// Formats {"idle": 3, "copied": 0} as "idle 3".
std::string counted(const json& causes) {
  std::string text;
  for (const auto& [cause, count] : causes.items()) {
    if (count == 0) continue;
    text.append(text.empty() ? "" : ", ").append(plain(cause)).append(" ").append(count.dump());
  }
  return text;
}

// Formatted as "gpu 2 free 1 called 5 in_use".
std::string by_type(const json& types) {
  std::string text;
  for (const json& type : types) {
    text.append(text.empty() ? "" : ", ").append(plain(type.value("type", "")));
    for (const char* const state : {"free", "called", "in_use"})
      text.append(" ").append(type.value(state, json(0)).dump()).append(" ").append(state);
  }
  return text;
}

// As "vip 3 (9 came in)" from {"name": "vip", "visitors": 3, "fulfilled": 9}; omits empty tiers.
std::string by_tier(const json& tiers) {
  std::string text;
  for (const json& tier : tiers) {
    const json visitors = tier.value("visitors", json(0));
    const json fulfilled = tier.value("fulfilled", json(0));
    if (visitors == 0 && fulfilled == 0) continue;
    text.append(text.empty() ? "" : ", ").append(plain(tier.value("name", "")));
    text.append(" ").append(visitors.dump());
    text.append(" (").append(fulfilled.dump()).append(" came in)");
  }
  return text;
}

}  // namespace

void print_rooms(std::ostream& out, const json& rooms) {
  print_room_row(out, {"ROOM", "WAITING", "PROCESSING", "ACTIVE", "ENTRIES/MIN", "STATE"});
  for (const json& room : rooms) {
    print_room_row(out,
                   {member(room, "name"), member(room, "waiting"), member(room, "processing"),
                    member(room, "active"), member(room, "entries_last_minute"), state_of(room)});
  }
}

void print_room(std::ostream& out, const json& room) {
  json shown = room;
  shown["state"] = state_of(room);
  shown["tiers"] = by_tier(room.value("tiers", json::array()));
  if (room.contains("resources")) shown["resources"] = by_type(room["resources"]);
  for (const char* const causes : {"tickets_ended", "sessions_ended"})
    shown[causes] = counted(room.value(causes, json::object()));
  for (const char* const name : {"name",
                                 "state",
                                 "message",
                                 "waiting",
                                 "present",
                                 "processing",
                                 "tiers",
                                 "resources",
                                 "active",
                                 "provisional",
                                 "entries_last_minute",
                                 "entries_per_second",
                                 "held_back_by_upstream",
                                 "joined",
                                 "called",
                                 "fulfilled",
                                 "entered",
                                 "entries_failed",
                                 "refused",
                                 "refused_users",
                                 "tickets_ended",
                                 "sessions_ended",
                                 "success_rate",
                                 "average_wait_ms"}) {
    print_member(out, shown, name, kMemberWidth);
  }
}

void print_tickets_heading(std::ostream& out) {
  print_ticket_row(out, {{"id", "ID"},
                         {"status", "STATUS"},
                         {"tier", "TIER"},
                         {"position", "PLACE"},
                         {"joined_at", "JOINED"},
                         {"heard_at", "HEARD OF, ENDED"},
                         {"missed", "MISSED, CAUSE"}});
}

void print_ticket_row(std::ostream& out, const json& ticket) {
  const char* const since = ticket.contains("begun_at") ? "begun_at" : "joined_at";
  const bool is_over = ticket.contains("ended_at");
  const std::array<std::string, 7> cells{
      member(ticket, "id"),
      member(ticket, "status"),
      member(ticket, "tier"),
      member(ticket, "position"),
      seconds_of(member(ticket, since)),
      seconds_of(member(ticket, is_over ? "ended_at" : "heard_at")),
      member(ticket, is_over ? "cause" : "missed") +
          (ticket.value("reserved", false) ? ", reserved" : "") +
          (ticket.value("away", false) ? ", away" : "")};
  print_cells(out, cells, std::array<int, 7>{32, 10, 10, 8, 20, 20, 0});
}

void print_ticket(std::ostream& out, const json& ticket) {
  for (const char* const name : {"id",
                                 "status",
                                 "what",
                                 "cause",
                                 "ended_at",
                                 "tier",
                                 "position",
                                 "ahead",
                                 "joined_at",
                                 "begun_at",
                                 "waited_ms",
                                 "heard_at",
                                 "present",
                                 "missed",
                                 "reserved",
                                 "away",
                                 "why",
                                 "estimate",
                                 "claim_remaining_ms",
                                 "type",
                                 "resource",
                                 "duration_ms",
                                 "remaining_max_wait_ms",
                                 "until"}) {
    print_member(out, ticket, name, kMemberWidth);
  }
}

}  // namespace spillway
