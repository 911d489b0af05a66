#include "system/api/away_questions.hpp"

#include <nlohmann/json.hpp>

namespace spillway::api {

using nlohmann::json;
using support::Message;
using support::RawClient;

namespace {

const std::string kRoom = "/_spillway/rooms/sale";

std::string token_of(const Message& answer) {
  return "Spillway-Ticket: " + answer.field("Spillway-Ticket").value_or("") + "\r\n";
}

json held(const support::TemporaryDirectory& directory) {
  json room = support::always();
  room["reserve"] = {{"anonymous", true}};
  room["webhook"] = {{"route", "hooks"}, {"key_file", support::webhook_key(directory)}};
  room["on_store_failure"] = "hold";
  room["joins_per_second"] = 1;
  return room;
}

json shared(const support::TemporaryDirectory& directory, const std::string& database) {
  json settings = support::selling(held(directory),
                                   {{"log", {{"level", "error"}}}, {"store", {{"url", database}}}});
  settings["routes"].push_back(support::hooks());
  return settings;
}

}  // namespace

AwayQuestions::AwayQuestions()
    : proxy_(shop_.address(), shared(directory_, postgres_.create_database())) {
  const auto contact = [this](const std::string& lines) {
    return program("POST " + kRoom + "/tickets", "Spillway-Join: 1\r\n" + lines);
  };
  const Message made = contact(token_of(contact("")));
  REQUIRE(made.status() == 201);
  token_ = token_of(made);
  id_ = json::parse(made.body).at("id");
  stamp_ = token_of(contact(""));
  postgres_.stop();
}

Message AwayQuestions::program(const std::string& start, const std::string& lines,
                               const char* from) const {
  return RawClient(proxy_.port(), 0, from)
      .ask(start + " HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n" + lines + "\r\n");
}

Message AwayQuestions::flood(const std::string& start, const std::string& lines) const {
  Message answer;
  for (int n = 0; n < 20 && answer.status() != 429; ++n)
    answer = program(start, lines + token_, "127.0.0.9");
  return answer;
}

Message AwayQuestions::join() const {
  return program("POST " + kRoom + "/tickets", "Spillway-Join: 1\r\n" + stamp_);
}

Questions AwayQuestions::all() const {
  Questions all;
  const std::string room = "/_spillway/rooms/{room}";
  all["POST " + room + "/leave 429"] = [this] {
    return flood("POST " + kRoom + "/leave", "Spillway-Leave: 1\r\n");
  };
  all["POST " + room + "/extend 429"] = [this] { return flood("POST " + kRoom + "/extend"); };
  for (const std::string of : {"", "/tickets/{id}"}) {
    const std::string path = kRoom + (of.empty() ? "" : "/tickets/" + id_) + "/reserve";
    all["POST " + room + of + "/reserve 429"] = [=, this] { return flood("POST " + path); };
    all["POST " + room + of + "/reserve 503"] = [=, this] {
      return program("POST " + path, token_);
    };
  }
  all["DELETE " + room + "/tickets/{id} 429"] = [this] {
    return flood("DELETE " + kRoom + "/tickets/" + id_);
  };
  all["POST " + room + "/leave 503"] = [this] {
    return program("POST " + kRoom + "/leave", "Spillway-Leave: 1\r\n" + token_);
  };
  all["POST " + room + "/extend 503"] = [this] {
    return program("POST " + kRoom + "/extend", token_);
  };
  all["DELETE " + room + "/tickets/{id} 503"] = [this] {
    return program("DELETE " + kRoom + "/tickets/" + id_, token_);
  };
  const std::string ticket = "/tickets/" + id_;
  all["DELETE /rooms/{room}/tickets/{id} 503"] = [=, this] {
    return desk_.ask("DELETE", "/rooms/sale" + ticket);
  };
  all["POST /room-secret/replace 503"] = [this] {
    return desk_.ask("POST", "/room-secret/replace", "{}");
  };
  const auto order = [&](const std::string& described, const std::string& act,
                         const std::string& body) {
    all["POST /rooms/{room}" + described + " 503"] = [=, this] {
      return desk_.ask("POST", "/rooms/sale" + act, body);
    };
  };
  for (const std::string act : {"/open", "/close", "/pause", "/resume", "/call"})
    order(act, act, "{}");
  order("/message", "/message", R"({"text":"Soon"})");
  order("/tickets/{id}/call", ticket + "/call", "{}");
  order("/tickets/{id}/move", ticket + "/move", R"({"to":"front"})");
  return all;
}

}  // namespace spillway::api
