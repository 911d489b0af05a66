#include "proxy/admin/room_query.hpp"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <utility>

#include "http/field/ascii.hpp"
#include "http/field/query.hpp"
#include "proxy/admin/json_members.hpp"

namespace spillway::proxy {

namespace {

using nlohmann::json;
using Problem = std::optional<std::string>;  // nullopt: none

constexpr std::string_view kRooms = "/rooms";
constexpr std::string_view kSecret = "/room-secret";  // shared by all rooms
constexpr std::string_view kReplaceSecret = "/room-secret/replace";

bool is_below(std::string_view path, std::string_view page) {
  return path.starts_with(page) && (path.size() == page.size() || path[page.size()] == '/');
}

// Returns the text up to the next slash; removes both.
std::string_view take_segment(std::string_view& path) {
  const std::size_t end = std::min(path.find('/'), path.size());
  const std::string_view segment = path.substr(0, end);
  path.remove_prefix(std::min(end + 1, path.size()));
  return segment;
}

Problem read_status(std::string_view text, TicketsListing& to) {
  using waiting::TicketState;
  for (const TicketState state :
       {TicketState::waiting, TicketState::processing, TicketState::fulfilled}) {
    if (status_name(state) == text) to.status = state;
  }
  to.is_of_ended = text == "ended";
  if (to.status || to.is_of_ended) return std::nullopt;
  return "\"status\" must be one of: waiting, processing, fulfilled, ended";
}

// For sessions a number; for tickets that are over an id; for the line an arrival, a priority and
// an id, separated by dots, plus the number of its type if that is not the first.
Problem read_after(std::string_view text, TicketsListing& to) {
  const std::string wrong = "\"after\" must be \"next\" of a page with the same \"status\"";
  if (to.status == waiting::TicketState::fulfilled)
    return read_number(text, to.from) ? std::nullopt : Problem(wrong);
  if (to.is_of_ended) {
    to.before = waiting::parse_ticket_id(text);
    return to.before ? std::nullopt : Problem(wrong);
  }
  const auto take = [&text] {
    const std::size_t dot = std::min(text.find('.'), text.size());
    const std::string_view part = text.substr(0, dot);
    text.remove_prefix(std::min(dot + 1, text.size()));
    return part;
  };
  std::int64_t joined = 0;
  waiting::Priority priority = 0;
  if (!read_number(take(), joined) || !read_number(take(), priority)) return wrong;
  const auto id = waiting::parse_ticket_id(take());
  std::size_t lane = 0;
  if (!id || (!text.empty() && !read_number(text, lane))) return wrong;
  to.after = {waiting::Time(Milliseconds(joined)), *id, priority, lane};
  return std::nullopt;
}

std::size_t characters(std::string_view utf8) {
  return static_cast<std::size_t>(std::count_if(utf8.begin(), utf8.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xc0) != 0x80;
  }));
}

std::string too_long(std::string_view member, std::size_t most) {
  return in_quotes(member) + " must be a text of at most " + std::to_string(most) + " characters";
}

}  // namespace

std::string_view status_name(waiting::TicketState state) {
  using waiting::TicketState;
  switch (state) {
    case TicketState::waiting: break;
    case TicketState::processing: return "processing";
    case TicketState::fulfilled: return "fulfilled";
  }
  return "waiting";
}

bool is_rooms_path(std::string_view path) {
  return is_below(path, kRooms) || is_below(path, kSecret);
}

std::optional<RoomsPath> read_rooms_path(std::string_view path) {
  using Kind = RoomsPath::Kind;
  if (!is_rooms_path(path)) return std::nullopt;
  if (path == kRooms) return RoomsPath{};
  if (path == kSecret) return RoomsPath{.kind = Kind::secret, .room = {}};
  if (path == kReplaceSecret) return RoomsPath{.kind = Kind::replace_secret, .room = {}};
  if (is_below(path, kSecret)) return std::nullopt;
  path.remove_prefix(kRooms.size() + 1);
  if (path.ends_with('/')) return std::nullopt;
  RoomsPath read{.kind = Kind::room, .room = take_segment(path)};
  if (read.room.empty()) return std::nullopt;
  if (path.empty()) return read;
  constexpr std::array<std::pair<std::string_view, Kind>, 7> kActs{{{"tickets", Kind::tickets},
                                                                    {"call", Kind::call},
                                                                    {"open", Kind::open},
                                                                    {"close", Kind::close},
                                                                    {"pause", Kind::pause},
                                                                    {"resume", Kind::resume},
                                                                    {"message", Kind::message}}};
  const std::string_view act = take_segment(path);
  const auto* const known =
      std::find_if(kActs.begin(), kActs.end(), [&](const auto& each) { return each.first == act; });
  if (known == kActs.end()) return std::nullopt;
  read.kind = known->second;
  if (path.empty()) return read;
  const auto id = waiting::parse_ticket_id(take_segment(path));
  if (read.kind != Kind::tickets || !id) return std::nullopt;
  read.ticket = *id;
  read.kind = path == "move" ? Kind::move : path == "call" ? Kind::call_one : Kind::ticket;
  return path.empty() || read.kind != Kind::ticket ? std::optional(read) : std::nullopt;
}

std::variant<TicketsListing, std::string> read_tickets_query(std::string_view query) {
  const auto read = http::read_query(query);
  if (const auto* const wrong = std::get_if<std::string>(&read)) return *wrong;
  TicketsListing listing;
  std::optional<std::string> after;
  for (const http::Parameter& each : std::get<http::Parameters>(read)) {
    if (each.name == "status") {
      if (Problem problem = read_status(each.value, listing)) return std::move(*problem);
    } else if (each.name == "tier") {
      listing.tier = each.value;
    } else if (each.name == "type") {
      listing.type = each.value;
    } else if (each.name == "user") {
      listing.user = each.value;
    } else if (each.name == "limit") {
      const bool is_number = read_number(each.value, listing.limit);
      if (!is_number || listing.limit == 0 || listing.limit > kMostTickets)
        return "\"limit\" must be a whole number from 1 to " + std::to_string(kMostTickets);
    } else if (each.name == "after") {
      after = each.value;
    } else {
      return unknown_member(each.name);
    }
  }
  if (listing.tier && (listing.is_of_ended || listing.status == waiting::TicketState::fulfilled))
    return "\"tier\" is for those in line";
  if (listing.type && listing.is_of_ended) return "\"type\" is for those in line, and for sessions";
  if (listing.user && (listing.is_of_ended || listing.tier || after))
    return "\"user\" goes with \"type\" and \"limit\", and with a \"status\" other than ended";
  if (after) {
    if (Problem problem = read_after(*after, listing)) return std::move(*problem);
  }
  return listing;
}

std::string cursor_of(const waiting::WaitingRoom::Report& last) {
  return std::to_string(last.view.joined.time_since_epoch().count()) + "." +
         std::to_string(last.view.priority) + "." + to_text(last.id) +
         (last.lane > 0 ? "." + std::to_string(last.lane) : "");
}

std::string cursor_of(waiting::Slot from) { return std::to_string(from); }

std::variant<std::optional<std::string>, std::string> read_cancel_query(std::string_view query) {
  using Reason = std::optional<std::string>;
  const auto read = http::read_query(query);
  if (const auto* const wrong = std::get_if<std::string>(&read)) return *wrong;
  Reason reason;
  for (const http::Parameter& each : std::get<http::Parameters>(read)) {
    if (each.name != "reason") return unknown_member(each.name);
    if (characters(each.value) > kMostReason) return too_long("reason", kMostReason);
    reason = each.value;
  }
  return reason;
}

std::variant<CallOrder, std::string> read_call(std::string_view body) {
  CallOrder order;
  if (http::trim(body).empty()) return order;
  const auto members = read_members(body);
  if (const auto* const wrong = std::get_if<std::string>(&members)) return *wrong;
  for (const auto& [name, value] : std::get<json>(members).items()) {
    if (name == "count") {
      const auto count = whole(value, 1, kMostCalls);
      if (!count) return "\"count\" must be a whole number from 1 to " + std::to_string(kMostCalls);
      order.count = static_cast<std::size_t>(*count);
    } else if (name == "continue_on_error") {
      if (!value.is_boolean()) return "\"continue_on_error\" must be true or false";
      order.continues_on_error = value.get<bool>();
    } else if (name == "type") {
      if (!value.is_string() || value.get_ref<const std::string&>().empty())
        return "\"type\" must be the name of a type of resource";
      order.type = value.get<std::string>();
    } else {
      return unknown_member(name);
    }
  }
  return order;
}

std::variant<MessageOrder, std::string> read_message(std::string_view body) {
  const auto members = read_members(body);
  if (const auto* const wrong = std::get_if<std::string>(&members)) return *wrong;
  MessageOrder order;
  for (const auto& [name, value] : std::get<json>(members).items()) {
    if (name == "text") {
      if (!value.is_string() || characters(value.get_ref<const std::string&>()) > kMostMessage)
        return too_long(name, kMostMessage);
      order.text = value.get<std::string>();
    } else if (name == "ends") {
      if (!value.is_boolean()) return "\"ends\" must be true or false";
      order.ends = value.get<bool>();
    } else {
      return unknown_member(name);
    }
  }
  if (!order.text && !order.ends) return "\"text\", \"ends\" or both are needed";
  return order;
}

std::variant<waiting::Replacement, std::string> read_replacement(std::string_view body) {
  using waiting::Replacement;
  if (is_blank(body)) return Replacement::gradual;
  const auto members = read_members(body);
  if (const auto* const wrong = std::get_if<std::string>(&members)) return *wrong;
  Replacement how = Replacement::gradual;
  for (const auto& [name, value] : std::get<json>(members).items()) {
    if (name != "at_once") return unknown_member(name);
    if (!value.is_boolean()) return "\"at_once\" must be true or false";
    if (value.get<bool>()) how = Replacement::at_once;
  }
  return how;
}

std::variant<std::size_t, std::string> read_move(std::string_view body) {
  const auto members = read_members(body);
  if (const auto* const wrong = std::get_if<std::string>(&members)) return *wrong;
  const json& object = std::get<json>(members);
  for (const auto& member : object.items()) {
    if (member.key() != "to") return unknown_member(member.key());
  }
  const json to = object.value("to", json());
  if (to == "front") return std::size_t{0};
  const auto place = whole(to, 1, kMostPlace);
  if (!place) return "\"to\" must be \"front\", or a place from 1 on";
  return static_cast<std::size_t>(*place - 1);
}

}  // namespace spillway::proxy
