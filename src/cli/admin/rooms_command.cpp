#include "cli/admin/rooms_command.hpp"

#include <algorithm>
#include <ostream>
#include <utility>

#include "cli/admin/rooms_table.hpp"
#include "cli/terminal/terminal_text.hpp"
#include "http/field/query.hpp"

namespace spillway {

namespace {

using nlohmann::json;

constexpr std::uint64_t kUsualTickets = 50;
constexpr std::uint64_t kMostOnTicketsPage = 200;
constexpr const char* kUnchanged = "Nothing was changed. With --yes it is done.\n";

std::uint64_t tickets_of(const json& room) {
  return room.value("waiting", std::uint64_t{0}) + room.value("processing", std::uint64_t{0});
}

std::string counted(std::uint64_t count, const char* what) {
  return std::to_string(count) + ' ' + what + (count == 1 ? "" : "s");
}

class RoomsCommand {
 public:
  RoomsCommand(const RoomsOptions& options, AdminDesk desk, std::ostream& out)
      : options_(options), desk_(std::move(desk)), out_(out) {}

  AdminOutcome run() {
    switch (options_.action) {
      case RoomsAction::list: return list();
      case RoomsAction::show: return show();
      case RoomsAction::call: return call();
      case RoomsAction::open: return set("/open", json::object());
      case RoomsAction::close: return set("/close", json::object());
      case RoomsAction::pause: return set("/pause", json::object());
      case RoomsAction::resume: return set("/resume", json::object());
      case RoomsAction::message: return tell();
      case RoomsAction::cancel: return cancel();
      case RoomsAction::move: return move();
      case RoomsAction::secret: return told(desk_.client().get("/room-secret"));
      case RoomsAction::replace_secret: break;
    }
    return replace_secret();
  }

 private:
  AdminOutcome list();
  AdminOutcome list_tickets();
  AdminOutcome show();
  AdminOutcome call();
  AdminOutcome set(const std::string& act, const json& body);
  AdminOutcome cancel();
  AdminOutcome move();
  AdminOutcome tell();
  AdminOutcome replace_secret();
  AdminOutcome told(const AdminReply& reply);
  json message() const;
  std::string room_path() const { return "/rooms/" + http::percent_encoded(options_.room); }
  std::string ticket_path() const { return room_path() + "/tickets/" + options_.ticket; }

  const RoomsOptions& options_;
  AdminDesk desk_;
  std::ostream& out_;
};

AdminOutcome RoomsCommand::list() {
  if (!options_.room.empty()) return list_tickets();
  return desk_.print(out_, desk_.client().get("/rooms"), [this](const json& answer) {
    print_rooms(out_, answer.value("rooms", json::array()));
  });
}

// Fetches page by page: a page may have fewer tickets than the limit allows. As JSON one page.
AdminOutcome RoomsCommand::list_tickets() {
  std::uint64_t left = options_.limit.value_or(kUsualTickets);
  std::optional<std::string> after = options_.after;
  bool is_first = true;
  while (left > 0) {
    std::string target = room_path() + "/tickets?limit=" +
                         std::to_string(options_.json ? left : std::min(left, kMostOnTicketsPage));
    if (options_.status) target += "&status=" + http::percent_encoded(*options_.status);
    if (options_.tier) target += "&tier=" + http::percent_encoded(*options_.tier);
    if (options_.type) target += "&type=" + http::percent_encoded(*options_.type);
    if (options_.user) target += "&user=" + http::percent_encoded(*options_.user);
    if (after) target += "&after=" + http::percent_encoded(*after);
    json next;
    const AdminOutcome outcome =
        desk_.print(out_, desk_.client().get(target), [&](const json& page) {
          if (std::exchange(is_first, false)) print_tickets_heading(out_);
          const json rows = page.value("tickets", json::array());
          for (const json& ticket : rows) print_ticket_row(out_, ticket);
          left -= std::min<std::uint64_t>(left, rows.size());
          next = page.value("next", json());
        });
    if (outcome != AdminOutcome::done || !next.is_string()) return outcome;
    after = next.get<std::string>();
  }
  out_ << "There may be more: --after " << plain(after.value_or("")) << '\n';
  return AdminOutcome::done;
}

AdminOutcome RoomsCommand::show() {
  const bool is_ticket = !options_.ticket.empty();
  const AdminReply reply = desk_.client().get(is_ticket ? ticket_path() : room_path());
  return desk_.print(out_, reply, [&](const json& answer) {
    is_ticket ? print_ticket(out_, answer) : print_room(out_, answer);
  });
}

// The command fails if no visitor was called.
AdminOutcome RoomsCommand::call() {
  if (!options_.ticket.empty()) {
    return desk_.print(
        out_, desk_.post(ticket_path() + "/call", json::object()),
        [this](const json& answer) { out_ << "called  " << member(answer, "id") << '\n'; });
  }
  bool was_any = true;
  json body{{"count", options_.count}, {"continue_on_error", options_.continue_on_error}};
  if (options_.type) body["type"] = *options_.type;
  const AdminReply reply = desk_.post(room_path() + "/call", body);
  const AdminOutcome outcome = desk_.print(out_, reply, [&](const json& answer) {
    const json successes = answer.value("successes", json::array());
    for (const json& each : successes) out_ << "called  " << member(each, "id") << '\n';
    for (const json& each : answer.value("failures", json::array()))
      out_ << "failed  " << member(each, "error") << ": " << member(each, "detail") << '\n';
    was_any = !successes.empty();
  });
  return was_any ? outcome : AdminOutcome::failed;
}

AdminOutcome RoomsCommand::set(const std::string& act, const json& body) {
  return desk_.print(out_, desk_.post(room_path() + act, body),
                     [this](const json& answer) { print_rooms(out_, json::array({answer})); });
}

// A message that ends a room loses its tickets: without --yes, only prints how many.
AdminOutcome RoomsCommand::tell() {
  if (!options_.ends || options_.yes) return set("/message", message());
  return desk_.print(out_, desk_.client().get(room_path()), [this](const json& room) {
    out_ << counted(tickets_of(room), "ticket") << " would end, and none comes back"
         << "; sessions go on.\n"
         << kUnchanged;
  });
}

json RoomsCommand::message() const {
  json body = json::object();
  if (options_.text) body["text"] = *options_.text;
  if (options_.ends || options_.goes_on) body["ends"] = options_.ends;
  return body;
}

AdminOutcome RoomsCommand::cancel() {
  std::string target = ticket_path();
  if (options_.reason) target += "?reason=" + http::percent_encoded(*options_.reason);
  return desk_.print(out_, desk_.client().remove(target),
                     [this](const json&) { out_ << "Cancelled.\n"; });
}

AdminOutcome RoomsCommand::move() {
  const bool is_front = options_.to == "front";
  const json to = is_front ? json("front") : json(std::stoul(options_.to));
  return desk_.print(out_, desk_.post(ticket_path() + "/move", {{"to", to}}),
                     [this](const json& answer) {
                       out_ << "It has place " << member(answer, "position") << " now.\n";
                     });
}

// With at_once all tickets and sessions are lost too, so --yes is needed.
AdminOutcome RoomsCommand::replace_secret() {
  if (!options_.at_once || options_.yes)
    return told(desk_.post("/room-secret/replace", {{"at_once", options_.at_once}}));
  return desk_.print(out_, desk_.client().get("/rooms"), [this](const json& answer) {
    std::uint64_t tickets = 0;
    std::uint64_t inside = 0;
    for (const json& room : answer.value("rooms", json::array())) {
      tickets += tickets_of(room);
      inside +=
          room.value("active", std::uint64_t{0}) + room.value("provisional", std::uint64_t{0});
    }
    out_ << counted(tickets, "ticket") << " and " << counted(inside, "session")
         << " would be lost: all visitors arrive anew.\n"
         << kUnchanged;
  });
}

// Prints the reply about the secret of visitors' tokens.
AdminOutcome RoomsCommand::told(const AdminReply& reply) {
  return desk_.print(out_, reply, [this](const json& answer) {
    out_ << "Secret " << member(answer, "number");
    const auto tell = [&](const char* what, const char* name) {
      if (!answer.value(name, json()).is_null()) out_ << what << member(answer, name);
    };
    tell(", signs from ", "signs_from");
    tell(", the former one counts until ", "former_until");
    out_ << ".\n";
  });
}

}  // namespace

AdminOutcome run_rooms_command(const RoomsOptions& options, std::ostream& out, std::ostream& err) {
  auto desk = AdminDesk::open(options, err);
  if (!desk) return AdminOutcome::bad_usage;
  return RoomsCommand(options, std::move(*desk), out).run();
}

}  // namespace spillway
