#include "system/api/room_questions.hpp"

#include <nlohmann/json.hpp>

namespace spillway::api {

using nlohmann::json;
using support::Message;
using support::RawClient;

namespace {

const std::string kUnknown(32, '0');

json route(const std::string& name, json room) {
  room["secure_cookie"] = false;
  return {{"name", name},
          {"match", {{"path", "/" + name + "/**"}}},
          {"class", "P1"},
          {"waiting_room", std::move(room)}};
}

json rooms(const support::TemporaryDirectory& directory) {
  json full = support::always();
  full["max_tickets"] = 1;
  json drawn = support::always();
  drawn["opens_at"] = "2026-01-01T00:00:00Z";
  drawn["queueing"] = "random_start";
  const json lab{{"resources",
                  {{{"type", "gpu"}, {"count", 2}, {"sizes", {{"memory_gb", 16}}}},
                   {{"type", "scope"}, {"name", "scope-a"}}}},
                 {"default_type", "gpu"}};
  json offered = support::always();
  offered["join"] = "offer";
  offered["joins_per_second"] = 1;
  json worked = support::always();
  worked["challenge"] = {{"work_bits", 18}};
  json away = support::always();
  away["reserve"] = {{"anonymous", true}};
  away["webhook"] = {{"route", "hooks"}, {"key_file", support::webhook_key(directory)}};
  return {{"workers", 1},
          {"store", {{"url", "memory:"}}},
          {"routes",
           {route("sale", support::always()), route("next", support::always()),
            route("by-hand", support::always()), route("full", std::move(full)),
            route("over", support::always()), route("drawn", std::move(drawn)),
            route("offered", std::move(offered)), route("worked", std::move(worked)),
            route("away", std::move(away)), route("lab", lab), support::hooks()}}};
}

json guarded(const support::TemporaryDirectory& directory) {
  json changes = rooms(directory);
  changes["admin"] = {{"token", "hush-hush"}};
  return changes;
}

}  // namespace

RoomQuestions::RoomQuestions()
    : proxy_(shop_.address(), rooms(directory_)),
      guarded_(shop_.address(), guarded(directory_)),
      replacing_(shop_.address(), support::selling(support::always())),
      plain_(shop_.address()) {
  for (const char* const room : {"sale", "next", "by-hand", "full", "away"})
    desk_.post("/rooms/" + std::string(room) + "/pause");
  by_hand_ = ticket_in("by-hand");
  called_ = ticket_in("sale");
  desk_.post("/rooms/sale/call");
  for (int n = 0; n < 3; ++n) waiting_.push_back(ticket_in("sale"));
  called_away_ = ticket_in("away");
  desk_.post("/rooms/away/call");
  waiting_away_ = ticket_in("away");
  ticket_in("next");
  ticket_in("next");
  for (int n = 0; n < 3; ++n) ticket_in("lab");
  ticket_in("full");
  desk_.post("/rooms/over/message", {{"text", "Sold out"}, {"ends", true}});
}

Message RoomQuestions::join(const std::string& room, const std::string& token,
                            const std::string& body, const std::string& lines) const {
  return RawClient(proxy_.port())
      .ask(support::post("/_spillway/rooms/" + room + "/tickets", body,
                         lines + (token.empty() ? "" : "Spillway-Ticket: " + token + "\r\n")));
}

Message RoomQuestions::program(const std::string& method, const std::string& path,
                               const std::string& token, const std::string& lines) const {
  return RawClient(proxy_.port())
      .ask(method + " /_spillway/rooms/" + path + " HTTP/1.1\r\nHost: a\r\n" + lines +
           (token.empty() ? "" : "Spillway-Ticket: " + token + "\r\n") + "\r\n");
}

RoomQuestions::Ticket RoomQuestions::ticket_in(const std::string& room) const {
  const Message made = join(room, join(room).field("Spillway-Ticket").value_or(""));
  REQUIRE(made.status() == 201);
  return {made.field("Spillway-Ticket").value_or(""), json::parse(made.body).at("id")};
}

void RoomQuestions::add_programs(Questions& to) const {
  const std::string post = "POST /_spillway/rooms/{room}/tickets ";
  to[post + "200"] = [this] { return join("sale", waiting_[0].token); };
  to[post + "201"] = [this] {
    const std::string wish = R"({"type":"scope","duration_ms":60000,"max_wait_ms":60000})";
    return join("lab", join("lab", "", wish).field("Spillway-Ticket").value_or(""));
  };
  to[post + "202"] = [this] { return join("worked"); };
  to[post + "400"] = [this] { return join("sale", "", "[]"); };
  to[post + "403"] = [this] { return join("sale", "", "", "Accept: */*\r\n"); };
  to[post + "404"] = [this] { return join("none"); };
  to[post + "409"] = [this] { return join("over"); };
  to[post + "413"] = [this] { return join("sale", "", std::string(2000, ' ')); };
  to[post + "415"] = [this] { return join("sale", "", "{}", "Spillway-Join: 1\r\n"); };
  to[post + "422"] = [this] { return join("lab", "", R"({"sizes":{"memory_gb":17}})"); };
  to[post + "429"] = [this] {
    const Ticket ticket = ticket_in("sale");
    flood_with(ticket.token);
    return join("sale", ticket.token);
  };
  to[post + "503"] = [this] { return join("full"); };
  const std::string one = " /_spillway/rooms/{room}/tickets/{id} ";
  const std::string tickets = "sale/tickets/";
  to["GET" + one + "200"] = [=, this] { return program("GET", tickets + waiting_[0].id); };
  to["GET" + one + "404"] = [=, this] { return program("GET", tickets + kUnknown); };
  to["GET" + one + "429"] = [=, this] {
    const Ticket ticket = ticket_in("sale");
    flood_with(ticket.token);
    return program("GET", tickets + ticket.id, ticket.token);
  };
  to["DELETE" + one + "204"] = [=, this] {
    return program("DELETE", tickets + waiting_[1].id, waiting_[1].token);
  };
  to["DELETE" + one + "400"] = [=, this] {
    return program("DELETE", tickets + waiting_[0].id + "?why=x", waiting_[0].token);
  };
  to["DELETE" + one + "404"] = [=, this] { return program("DELETE", tickets + waiting_[0].id); };
  const std::string own = "GET /_spillway/rooms/{room}/ticket ";
  to[own + "200"] = [this] { return program("GET", "sale/ticket", called_.token); };
  to[own + "403"] = [this] {
    return program("GET", "worked/ticket", join("worked").field("Spillway-Ticket").value_or(""));
  };
  to[own + "404"] = [this] { return program("GET", "none/ticket"); };
  to[own + "429"] = [this] { return flood_with(ticket_in("sale").token); };
  const std::string more = "POST /_spillway/rooms/{room}/extend ";
  to[more + "200"] = [this] { return program("POST", "sale/extend", called_.token); };
  to[more + "303"] = [this] {
    return program("POST", "sale/extend", called_.token, "Accept: text/html\r\n");
  };
  to[more + "404"] = [this] { return program("POST", "sale/extend"); };
  to[more + "409"] = [this] { return program("POST", "sale/extend", waiting_[0].token); };
  const std::string draw = "GET /_spillway/rooms/{room}/draw ";
  to[draw + "200"] = [this] { return program("GET", "drawn/draw"); };
  to[draw + "404"] = [this] { return program("GET", "sale/draw"); };
}

void RoomQuestions::add_visitors(Questions& to) const {
  const std::string room = " /_spillway/rooms/{room}/";
  to["GET" + room + "events 200"] = [this] { return events(ticket_in("sale").token); };
  to["GET" + room + "events 404"] = [this] { return program("GET", "none/events"); };
  to["GET" + room + "events 409"] = [this] { return program("GET", "sale/events"); };
  to["GET" + room + "events 429"] = [this] {
    const Ticket ticket = ticket_in("sale");
    flood_with(ticket.token);
    return program("GET", "sale/events", ticket.token);
  };
  const std::string leave = "POST" + room + "leave ";
  to[leave + "204"] = [this] { return leave_with(ticket_in("sale").token, true); };
  to[leave + "403"] = [this] { return leave_with(ticket_in("sale").token, false); };
  to[leave + "404"] = [this] { return leave_with("", true); };
  const std::string take = "POST" + room + "join ";
  to[take + "303"] = [this] { return take_place("offered"); };
  to[take + "403"] = [this] { return take_place("offered", "offer=made-up"); };
  to[take + "404"] = [this] { return take_place("none", "offer=x"); };
  to[take + "413"] = [this] { return take_place("offered", std::string(2000, 'x')); };
  to[take + "429"] = [this] {
    Message answer = take_place("offered");
    for (int n = 0; n < 30 && answer.status() == 303; ++n) answer = take_place("offered");
    return answer;
  };
  for (const std::string refresh : {"refresh/off", "refresh/on"}) {
    to["POST" + room + refresh + " 303"] = [=, this] { return program("POST", "sale/" + refresh); };
    to["POST" + room + refresh + " 404"] = [=, this] { return program("POST", "none/" + refresh); };
  }
  for (const std::string form : {"refresh/off", "refresh/on", "rejoin", "extend"}) {
    to["POST" + room + form + " 403"] = [=, this] {
      return program("POST", "sale/" + form, "", "Sec-Fetch-Site: cross-site\r\n");
    };
  }
  to["POST" + room + "rejoin 303"] = [this] { return program("POST", "sale/rejoin"); };
  to["POST" + room + "rejoin 404"] = [this] { return program("POST", "none/rejoin"); };
}

Message RoomQuestions::flood_with(const std::string& token) const {
  Message answer = program("GET", "sale/ticket", token);
  for (int n = 0; n < 100 && answer.status() == 200; ++n)
    answer = program("GET", "sale/ticket", token);
  return answer;
}

Message RoomQuestions::events(const std::string& token) const {
  return RawClient(proxy_.port())
      .send(support::get("/_spillway/rooms/sale/events", "Spillway-Ticket: " + token + "\r\n"))
      .read_head();
}

Message RoomQuestions::leave_with(const std::string& token, bool says_so) const {
  return RawClient(proxy_.port())
      .ask(support::post("/_spillway/rooms/sale/leave", "",
                         (says_so ? "Spillway-Leave: 1\r\n" : "") +
                             (token.empty() ? "" : "Spillway-Ticket: " + token + "\r\n")));
}

Message RoomQuestions::take_place(const std::string& room, const std::string& form) const {
  RawClient visitor(proxy_.port());
  const Message page = visitor.ask(support::get("/offered/page", "Accept: text/html\r\n"));
  const std::string cookie = page.field("Set-Cookie").value_or("");
  const std::string field = "name=\"offer\" value=\"";
  const std::size_t begin = page.body.find(field);
  REQUIRE(begin != std::string::npos);
  const std::string shown = page.body.substr(begin + field.size());
  return visitor.ask(
      support::post("/_spillway/rooms/" + room + "/join",
                    form.empty() ? "offer=" + shown.substr(0, shown.find('"')) : form,
                    "Cookie: " + cookie.substr(0, cookie.find(';')) + "\r\n"));
}

void RoomQuestions::add_reservations(Questions& to) const {
  const std::string form = "POST /_spillway/rooms/{room}/reserve ";
  const std::string one = "POST /_spillway/rooms/{room}/tickets/{id}/reserve ";
  const auto add = [&](const std::string& described, const std::string& of_waiting,
                       const std::string& of_called) {
    to[described + "200"] = [=, this] { return program("POST", of_waiting, waiting_away_.token); };
    to[described + "403"] = [=, this] {
      return program("POST", of_waiting, waiting_away_.token, "Sec-Fetch-Site: cross-site\r\n");
    };
    to[described + "404"] = [=, this] { return program("POST", of_waiting); };
    to[described + "409"] = [=, this] { return program("POST", of_called, called_away_.token); };
  };
  add(form, "away/reserve", "away/reserve");
  add(one, "away/tickets/" + waiting_away_.id + "/reserve",
      "away/tickets/" + called_away_.id + "/reserve");
  to[form + "303"] = [this] {
    return program("POST", "away/reserve", waiting_away_.token, "Accept: text/html\r\n");
  };
}

void RoomQuestions::add_reports(Questions& to) const {
  const auto add = [&](const std::string& described, const std::string& path) {
    to["GET " + described + " 200"] = [=, this] { return desk_.ask("GET", path); };
    to["GET " + described + " 401"] = [=, this] { return stranger_.ask("GET", path); };
  };
  add("/rooms", "/rooms");
  add("/rooms/{room}", "/rooms/lab");
  add("/rooms/{room}/tickets", "/rooms/lab/tickets?limit=2&type=gpu");
  add("/rooms/{room}/tickets/{id}", "/rooms/sale/tickets/" + called_.id);
  to["GET /rooms/{room} 404"] = [this] { return desk_.ask("GET", "/rooms/none"); };
  to["GET /rooms/{room}/tickets 400"] = [this] {
    return desk_.ask("GET", "/rooms/sale/tickets?owner=7");
  };
  to["GET /rooms/{room}/tickets 404"] = [this] { return desk_.ask("GET", "/rooms/none/tickets"); };
  to["GET /rooms/{room}/tickets/{id} 404"] = [this] {
    return desk_.ask("GET", "/rooms/sale/tickets/" + kUnknown);
  };
}

void RoomQuestions::add_cancel(Questions& to) const {
  const std::string cancel = "DELETE /rooms/{room}/tickets/{id} ";
  const std::string path = "/rooms/sale/tickets/" + waiting_[2].id;
  to[cancel + "200"] = [=, this] { return desk_.ask("DELETE", path + "?reason=twice"); };
  to[cancel + "400"] = [=, this] { return desk_.ask("DELETE", path + "?user=7"); };
  to[cancel + "401"] = [=, this] { return stranger_.ask("DELETE", path); };
  to[cancel + "403"] = [=, this] { return page_.ask("DELETE", path); };
  to[cancel + "404"] = [this] { return desk_.ask("DELETE", "/rooms/sale/tickets/" + kUnknown); };
}

void RoomQuestions::add_act(Questions& to, const std::string& described, const Act& act) const {
  const std::string post = "POST /rooms/{room}" + described + " ";
  to[post + "200"] = [=, this] { return desk_.ask("POST", act.path, act.body); };
  to[post + "400"] = [=, this] { return desk_.ask("POST", act.path, act.wrong); };
  to[post + "401"] = [=, this] { return stranger_.ask("POST", act.path, act.body); };
  to[post + "403"] = [=, this] { return page_.ask("POST", act.path, act.body); };
  to[post + "404"] = [=, this] {
    const std::string rest = act.path.substr(act.path.find('/', 7));
    return desk_.ask("POST", "/rooms/none" + rest, act.body);
  };
  to[post + "415"] = [=, this] { return desk_.ask("POST", act.path, act.body, "text/plain"); };
}

void RoomQuestions::add_secret(Questions& to) const {
  const std::string path = "/room-secret";
  const support::Operator desk{replacing_.admin_port()};
  const support::Operator plain{plain_.admin_port()};
  to["GET " + path + " 200"] = [=] { return desk.ask("GET", path); };
  to["GET " + path + " 401"] = [=, this] { return stranger_.ask("GET", path); };
  to["GET " + path + " 404"] = [=] { return plain.ask("GET", path); };
  const std::string replace = path + "/replace";
  const std::string post = "POST " + replace + " ";
  to[post + "200"] = [=] { return desk.ask("POST", replace, R"({"at_once":true})"); };
  to[post + "400"] = [=] { return desk.ask("POST", replace, R"({"at_once":1})"); };
  to[post + "401"] = [=, this] { return stranger_.ask("POST", replace, "{}"); };
  to[post + "403"] = [=, this] { return page_.ask("POST", replace, "{}"); };
  to[post + "404"] = [=] { return plain.ask("POST", replace, "{}"); };
  to[post + "409"] = [=] {
    desk.ask("POST", replace, "{}");
    return desk.ask("POST", replace, "{}");
  };
  to[post + "415"] = [=] { return desk.ask("POST", replace, "{}", "text/plain"); };
}

Questions RoomQuestions::all() const {
  Questions all;
  add_programs(all);
  add_visitors(all);
  add_reservations(all);
  add_reports(all);
  add_cancel(all);
  add_secret(all);
  for (const std::string act : {"/open", "/close", "/pause", "/resume"})
    add_act(all, act, {"/rooms/over" + act, "{}", "[]"});
  add_act(all, "/message", {"/rooms/over/message", R"({"text":"Over"})", "{}"});
  add_act(all, "/call", {"/rooms/next/call", R"({"count":2})", R"({"count":51})"});
  const std::string one = "/rooms/by-hand/tickets/" + by_hand_.id + "/call";
  add_act(all, "/tickets/{id}/call", {one, "{}", "[]"});
  all["POST /rooms/{room}/tickets/{id}/call 409"] = [=, this] {
    return desk_.ask("POST", "/rooms/sale/tickets/" + called_.id + "/call", "{}");
  };
  const auto move = [](const Ticket& ticket) {
    return "/rooms/sale/tickets/" + ticket.id + "/move";
  };
  add_act(all, "/tickets/{id}/move", {move(waiting_[0]), R"({"to":"front"})", R"({"to":0})"});
  all["POST /rooms/{room}/tickets/{id}/move 409"] = [=, this] {
    return desk_.ask("POST", move(called_), R"({"to":1})");
  };
  return all;
}

}  // namespace spillway::api
