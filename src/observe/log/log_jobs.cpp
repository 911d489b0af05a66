// The log lines about deferred requests and waiting rooms.
#include <array>
#include <optional>

#include "jobs/job_id.hpp"
#include "jobs/time_text.hpp"
#include "observe/log/log_event.hpp"

namespace spillway::observe {
namespace {

constexpr std::size_t kMaxRoute = 256;

std::string_view name(JobChange::Kind kind) {
  constexpr std::array<std::string_view, 3> kKinds{"jobs_cancelled", "jobs_replayed",
                                                   "jobs_purged"};
  return kKinds[static_cast<std::size_t>(kind)];
}

std::string_view name(RoomChange::Act act) {
  constexpr std::array<std::string_view, 10> kActs{"open", "close", "pause", "resume", "message",
                                                   "end",  "go_on", "call",  "cancel", "move"};
  return kActs[static_cast<std::size_t>(act)];
}

void add_time(JsonLine& line, std::string_view key, const std::optional<jobs::WallTime>& time) {
  if (time) line.text(key, jobs::to_text(*time));
}

void add_filter(JsonLine& line, const store::Filter& filter) {
  line.open("filter");
  if (filter.id) line.text("id", jobs::to_text(*filter.id).substr(0, 16));
  if (filter.state) line.text("state", jobs::name(*filter.state));
  if (filter.route) line.text("route", filter.route->substr(0, kMaxRoute));
  if (filter.cause) line.text("cause", jobs::name(*filter.cause));
  add_time(line, "accepted_from", filter.accepted_from);
  add_time(line, "accepted_before", filter.accepted_before);
  add_time(line, "ended_from", filter.ended_from);
  add_time(line, "ended_before", filter.ended_before);
  line.close();
}

}  // namespace

void Log::jobs_changed(const JobChange& change) {
  JsonLine line = event(Level::info, name(change.kind));
  line.text("client", change.client).integer("count", change.count);
  add_filter(line, change.filter);
  write(Level::info, line.members());
}

void Log::room_changed(const RoomChange& change) {
  JsonLine line = event(Level::info, "room_changed");
  line.text("act", name(change.act)).text("client", change.client).text("room", change.room);
  if (!change.ticket.empty()) line.text("ticket", change.ticket);
  if (change.number) line.integer("number", *change.number);
  if (change.text) line.text("text", *change.text);
  write(Level::info, line.members());
}

void Log::room_secret_replaced(std::string_view client, std::uint64_t number,
                               std::string_view how) {
  write(Level::info, event(Level::info, "room_secret_replaced")
                         .text("client", client)
                         .integer("number", number)
                         .text("how", how)
                         .members());
}

void Log::ticket_cancelled(std::string_view room, std::string_view ticket,
                           std::string_view reason) {
  write(Level::info, event(Level::info, "ticket_cancelled")
                         .text("room", room)
                         .text("ticket", ticket)
                         .text("reason", reason)
                         .members());
}

// Successes and changes in progress interest few readers: `debug`.
void Log::job(const JobLine& line) {
  using jobs::JobState;
  const bool is_bad = line.state == JobState::dead || line.state == JobState::expired;
  const bool is_retry = line.state == JobState::retrying;
  const Level level = is_bad ? Level::warn : is_retry ? Level::info : Level::debug;
  if (!is_written(level)) return;
  JsonLine out = event(level, "job");
  out.text("id", line.id);
  if (!line.route.empty()) out.text("route", line.route).text("tenant", line.tenant);
  out.text("state", jobs::name(line.state));
  if (!line.route.empty()) out.integer("attempts", line.attempts);
  if (line.cause != jobs::Cause::none) out.text("cause", jobs::name(line.cause));
  if (line.status != 0) out.integer("status", line.status);
  write(level, out.members());
}

}  // namespace spillway::observe
