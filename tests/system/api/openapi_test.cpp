// docs/openapi.yaml against a running proxy.
#include <doctest/doctest.h>

#include <fstream>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <sstream>
#include <string>

#include "support/places.hpp"
#include "system/api/away_questions.hpp"
#include "system/api/deferral_questions.hpp"
#include "system/api/description.hpp"
#include "system/api/room_questions.hpp"
#include "system/integration/jobs_operator.hpp"

using namespace spillway;
using namespace spillway::support;
using nlohmann::json;

namespace {

std::string text_of_description() {
  std::ifstream file(support::in_source("docs/openapi.yaml"));
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

// One proxy with jobs of all kinds, one with a token, one whose store cannot be reached,
// one that lets clients ask seldom.
class Proxies {
 public:
  Proxies() {
    backend_.accepts = true;
    succeeded = defer(proxy_.port(), "/export/0");
    REQUIRE(desk_.come_to(1, "state=succeeded"));
    backend_.accepts = false;
    for (const char* target : {"/export/1", "/export/2", "/export/3", "/export/4"})
      defer(proxy_.port(), target);
    REQUIRE(desk_.come_to(4, "state=dead"));
    // The first is rejected again, the others wait for a long time.
    const json replayed =
        desk_.post("/jobs/replay", {{"dry_run", false}, {"limit", 4}, {"per_second", 0.001}});
    dead = replayed.at("jobs").at(0);
    for (std::size_t n = 0; n < 3; ++n) waiting[n] = replayed.at("jobs").at(n + 1);
    REQUIRE(desk_.come_to(1, "state=dead"));
  }

  Message client(const std::string& method, const std::string& path) const {
    return RawClient(proxy_.port()).ask(request(method, "/_spillway/jobs/" + path));
  }
  Message client_head(const std::string& id) const {
    return RawClient(proxy_.port()).send(request("HEAD", "/_spillway/jobs/" + id)).read_head();
  }
  Message events(const std::string& id) const {
    return RawClient(proxy_.port())
        .send(request("GET", "/_spillway/jobs/" + id + "/events"))
        .read_head();
  }
  Message client_away(const std::string& method, const std::string& path) const {
    return RawClient(away_.port()).ask(request(method, "/_spillway/jobs/" + path));
  }
  // The first question is answered, further ones come too soon.
  Message client_hurried(const std::string& method, const std::string& path) const {
    RawClient client(hurried_.port());
    client.ask(request(method, "/_spillway/jobs/" + path));
    return client.ask(request(method, "/_spillway/jobs/" + path));
  }
  // A request with two Authorization, whatever else is right with it; "GET /path 400".
  Message client_named_twice(const std::string& status) const {
    const std::string line = std::regex_replace(status, std::regex(R"(\{\w+\})"), unknown);
    return RawClient(proxy_.port())
        .ask(line.substr(0, line.rfind(' ')) +
             " HTTP/1.1\r\nHost: a\r\nAuthorization: a\r\nAuthorization: b\r\n\r\n");
  }
  Message operates(const std::string& method, const std::string& path, const std::string& body = {},
                   std::string_view type = "application/json") const {
    return desk_.ask(method, path, body, type);
  }
  Message from_web_page(const std::string& path) const {
    return Operator{proxy_.admin_port(), "Origin: http://localhost\r\n"}.ask("POST", path, "{}");
  }
  Message without_token(const std::string& method, const std::string& path) const {
    return Operator{guarded_.admin_port()}.ask(method, path, "{}");
  }
  Message operates_away(const std::string& method, const std::string& path) const {
    return Operator{away_.admin_port()}.ask(method, path, "{}");
  }
  Message operates_without_jobs(const std::string& method, const std::string& path) const {
    return Operator{plain_.admin_port()}.ask(method, path, "{}");
  }

  std::string succeeded, dead, waiting[3];
  const std::string unknown = std::string(32, '0');

 private:
  static std::string request(const std::string& method, const std::string& path) {
    return method + " " + path + " HTTP/1.1\r\nHost: a\r\n\r\n";
  }

  RejectingBackend backend_;
  ProxyUnderTest proxy_{backend_.peer.address(), deferring()};
  ProxyUnderTest guarded_{backend_.peer.address(),
                          deferring({{"admin", {{"token", "hush-hush"}}}})};
  ProxyUnderTest away_{backend_.peer.address(),
                       deferring({{"log", {{"level", "error"}}},
                                  {"store", {{"url", "postgresql:///none?host=/nonexistent"}}}})};
  ProxyUnderTest hurried_{backend_.peer.address(),
                          deferring({{"store", {{"lookups_per_second", 0.1}}}})};
  ProxyUnderTest plain_{backend_.peer.address()};
  Operator desk_{proxy_.admin_port()};
};

using Ask = std::function<Message(const Proxies&)>;

std::map<std::string, Ask> client_questions() {
  const std::string job = "/_spillway/jobs/{id}";
  return {
      {"GET " + job + " 200", [](const Proxies& p) { return p.client("GET", p.succeeded); }},
      {"GET " + job + " 404", [](const Proxies& p) { return p.client("GET", p.unknown); }},
      {"GET " + job + " 429", [](const Proxies& p) { return p.client_hurried("GET", p.unknown); }},
      {"GET " + job + " 503", [](const Proxies& p) { return p.client_away("GET", p.dead); }},
      {"DELETE " + job + " 200", [](const Proxies& p) { return p.client("DELETE", p.waiting[1]); }},
      {"DELETE " + job + " 404", [](const Proxies& p) { return p.client("DELETE", p.unknown); }},
      {"DELETE " + job + " 409", [](const Proxies& p) { return p.client("DELETE", p.dead); }},
      {"DELETE " + job + " 429",
       [](const Proxies& p) { return p.client_hurried("DELETE", p.unknown); }},
      {"DELETE " + job + " 503", [](const Proxies& p) { return p.client_away("DELETE", p.dead); }},
      {"GET " + job + "/response 200",
       [](const Proxies& p) { return p.client("GET", p.succeeded + "/response"); }},
      {"GET " + job + "/response 404",
       [](const Proxies& p) { return p.client("GET", p.unknown + "/response"); }},
      {"GET " + job + "/response 409",
       [](const Proxies& p) { return p.client("GET", p.waiting[0] + "/response"); }},
      {"GET " + job + "/response 429",
       [](const Proxies& p) { return p.client_hurried("GET", p.unknown + "/response"); }},
      {"GET " + job + "/response 503",
       [](const Proxies& p) { return p.client_away("GET", p.dead + "/response"); }},
      {"GET " + job + "/events 200", [](const Proxies& p) { return p.events(p.dead); }},
      {"GET " + job + "/events 404",
       [](const Proxies& p) { return p.client("GET", p.unknown + "/events"); }},
      {"GET " + job + "/events 429",
       [](const Proxies& p) { return p.client_hurried("GET", p.unknown + "/events"); }},
      {"GET " + job + "/events 503",
       [](const Proxies& p) { return p.client_away("GET", p.dead + "/events"); }},
  };
}

std::map<std::string, Ask> reading_questions() {
  return {
      {"GET /jobs 200", [](const Proxies& p) { return p.operates("GET", "/jobs?limit=2"); }},
      {"GET /jobs 400", [](const Proxies& p) { return p.operates("GET", "/jobs?limit=0"); }},
      {"GET /jobs 401", [](const Proxies& p) { return p.without_token("GET", "/jobs"); }},
      {"GET /jobs 404", [](const Proxies& p) { return p.operates_without_jobs("GET", "/jobs"); }},
      {"GET /jobs 503", [](const Proxies& p) { return p.operates_away("GET", "/jobs"); }},
      {"GET /jobs/{id} 200", [](const Proxies& p) { return p.operates("GET", "/jobs/" + p.dead); }},
      {"GET /jobs/{id} 401",
       [](const Proxies& p) { return p.without_token("GET", "/jobs/" + p.dead); }},
      {"GET /jobs/{id} 404",
       [](const Proxies& p) { return p.operates("GET", "/jobs/" + p.unknown); }},
      {"GET /jobs/{id} 503",
       [](const Proxies& p) { return p.operates_away("GET", "/jobs/" + p.dead); }},
  };
}

std::map<std::string, Ask> cancel_questions() {
  const std::string cancel = "POST /jobs/{id}/cancel ";
  const auto path = [](const std::string& id) { return "/jobs/" + id + "/cancel"; };
  return {
      {cancel + "200", [=](const Proxies& p) { return p.operates("POST", path(p.waiting[2])); }},
      {cancel + "400", [=](const Proxies& p) { return p.operates("POST", path(p.dead), "[]"); }},
      {cancel + "401", [=](const Proxies& p) { return p.without_token("POST", path(p.dead)); }},
      {cancel + "403", [=](const Proxies& p) { return p.from_web_page(path(p.dead)); }},
      {cancel + "404", [=](const Proxies& p) { return p.operates("POST", path(p.unknown)); }},
      {cancel + "409", [=](const Proxies& p) { return p.operates("POST", path(p.dead)); }},
      {cancel + "415",
       [=](const Proxies& p) { return p.operates("POST", path(p.dead), "{}", "text/plain"); }},
      {cancel + "503", [=](const Proxies& p) { return p.operates_away("POST", path(p.dead)); }},
  };
}

std::map<std::string, Ask> change_questions(const std::string& path) {
  const std::string post = "POST " + path + " ";
  return {
      {post + "200", [=](const Proxies& p) { return p.operates("POST", path, "{}"); }},
      {post + "400", [=](const Proxies& p) { return p.operates("POST", path, "[]"); }},
      {post + "401", [=](const Proxies& p) { return p.without_token("POST", path); }},
      {post + "403", [=](const Proxies& p) { return p.from_web_page(path); }},
      {post + "404", [=](const Proxies& p) { return p.operates_without_jobs("POST", path); }},
      {post + "415", [=](const Proxies& p) { return p.operates("POST", path, "{}", "a/b"); }},
      {post + "503", [=](const Proxies& p) { return p.operates_away("POST", path); }},
  };
}

std::map<std::string, Ask> questions() {
  std::map<std::string, Ask> all = client_questions();
  all.merge(reading_questions());
  all.merge(cancel_questions());
  all.merge(change_questions("/jobs/replay"));
  all.merge(change_questions("/jobs/purge"));
  return all;
}

// Without its parameters.
std::string media_type(const Message& answer) {
  const std::string type = answer.field("Content-Type").value_or("");
  return type.substr(0, type.find(';'));
}

}  // namespace

TEST_CASE("every status that the description names is asked for, and each answer is as described") {
  const api::Description description(text_of_description());
  const Proxies proxies;
  const api::RoomQuestions rooms;
  const api::DeferralQuestions deferrals;
  api::Questions all = rooms.all();
  all.merge(deferrals.all());
  for (const auto& [status, ask] : questions())
    all[status] = [&proxies, ask = ask] { return ask(proxies); };
  for (const std::string& status : description.statuses()) {
    if (status.find(" /_spillway/") == std::string::npos || !status.ends_with(" 400")) continue;
    all.try_emplace(status, [&proxies, status] { return proxies.client_named_twice(status); });
  }
  std::set<std::string> asked;
  const auto check = [&](const std::string& status, const api::Question& ask) {
    CAPTURE(status);
    asked.insert(status);
    const Message answer = ask();
    CAPTURE(answer.body);
    CHECK(std::to_string(answer.status()) == status.substr(status.rfind(' ') + 1));
    CHECK(description.judge(status, media_type(answer), answer.body) == "");
  };
  for (const auto& [status, ask] : all) check(status, ask);
  if (!support::Postgres::is_installed()) return;
  const api::AwayQuestions away;
  for (const auto& [status, ask] : away.all()) check(status, ask);
  const Message refused = away.join();
  CHECK(refused.status() == 503);
  CHECK(description.judge("POST /_spillway/rooms/{room}/tickets 503", media_type(refused),
                          refused.body) == "");
  CHECK(asked == description.statuses());
}

TEST_CASE("HEAD is answered as GET is, without a body, and other methods 405 with Allow") {
  const Proxies proxies;
  const Message read = proxies.client("GET", proxies.succeeded);
  const Message head = proxies.client_head(proxies.succeeded);
  CHECK(head.status() == 200);
  CHECK(head.field("Content-Length") == read.field("Content-Length"));
  CHECK(proxies.client("PUT", proxies.succeeded).status() == 405);
  CHECK(proxies.client("PUT", proxies.succeeded).field("Allow") == "GET, HEAD, DELETE");
  CHECK(proxies.client("DELETE", proxies.succeeded + "/response").field("Allow") == "GET, HEAD");
}

TEST_CASE("an answer with a member more, one less or one of another kind is not as described") {
  const api::Description description(text_of_description());
  const std::string json_type = "application/json";
  const auto judge = [&](const std::string& body) {
    return description.judge("POST /jobs/purge 200", json_type, body);
  };
  CHECK(judge(R"({"dry_run":true,"count":1})") == "");
  CHECK(judge(R"({"dry_run":true,"count":1,"more":1})") == "more is not described");
  CHECK(judge(R"({"dry_run":true})") == "count is missing");
  CHECK(judge(R"({"dry_run":1,"count":1})") == "dry_run: 1 is of another type");
  CHECK(judge("[") == "no JSON");
  CHECK(description.judge("POST /jobs/purge 200", "text/html", "") != "");
  const std::string id(32, 'a');
  const auto cancelled = [&](const std::string& body) {
    return description.judge("POST /jobs/{id}/cancel 200", json_type, body);
  };
  CHECK(cancelled(R"({"id":")" + id + R"(","state":"cancelled"})") == "");
  CHECK(cancelled(R"({"id":")" + id + R"(","state":"dead"})") != "");
  CHECK(cancelled(R"({"id":"1","state":"cancelled"})") != "");
}
