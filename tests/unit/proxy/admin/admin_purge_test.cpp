#include "proxy/admin/admin_purge.hpp"

#include <doctest/doctest.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_future.hpp>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "proxy/admin/admin_answer.hpp"

namespace spillway::proxy {
namespace {

namespace beast_http = boost::beast::http;
using Purge = cache::PurgeRequest::Kind;

cache::PurgeRequest read(std::string_view body) {
  auto result = read_purge(body);
  if (const auto* wrong = std::get_if<std::string>(&result)) FAIL(std::string(body), ": ", *wrong);
  return std::get<cache::PurgeRequest>(std::move(result));
}

// What is wrong with the body; empty when nothing is.
std::string wrong(std::string_view body) {
  const auto result = read_purge(body);
  const auto* text = std::get_if<std::string>(&result);
  return text == nullptr ? "" : *text;
}

// The page behind a source that remembers what it was asked.
struct Desk {
  AdminResponse ask(beast_http::verb method, std::string body,
                    std::string_view media_type = "application/json",
                    std::string_view host = "localhost", std::string_view authorization = {}) {
    AdminRequest request(method, "/cache/purge", 11);
    request.set(beast_http::field::host, host);
    if (!media_type.empty()) request.set(beast_http::field::content_type, media_type);
    if (!authorization.empty()) request.set(beast_http::field::authorization, authorization);
    if (is_web_page) request.set(beast_http::field::origin, "http://localhost");
    request.body() = std::move(body);
    request.prepare_payload();
    AdminSource source;
    source.purge = [this](const cache::PurgeRequest& what) {
      asked = what;
      return answer;
    };
    boost::asio::io_context io;
    auto response =
        boost::asio::co_spawn(io, admin_answer(request, token, source), boost::asio::use_future);
    io.run();
    return finished(request, response.get());
  }
  AdminResponse post(std::string body) { return ask(beast_http::verb::post, std::move(body)); }

  std::string token;
  bool is_web_page = false;  // the request has an Origin
  cache::PurgeResult answer{.purged = 3, .unknown = {}};
  std::optional<cache::PurgeRequest> asked;
};

constexpr const char* kWhole = R"({"route":"list"})";

TEST_CASE("a purge names one URL or all that begin so or a route") {
  const cache::PurgeRequest key = read(R"({"key": "http://Shop.Example:8080/List?Page=2"})");
  CHECK(key.kind == Purge::key);
  CHECK(key.authority == "shop.example:8080");
  CHECK(key.path_and_query == "/List?Page=2");
  const cache::PurgeRequest prefix = read(R"({"prefix":"/list/"})");
  CHECK(prefix.kind == Purge::prefix);
  CHECK(prefix.authority.empty());
  CHECK(prefix.path_and_query == "/list/");
  const cache::PurgeRequest route = read(R"({"route":"Search \u00e4"})");
  CHECK(route.kind == Purge::route);
  CHECK(route.route == "Search \xc3\xa4");
}

TEST_CASE("a URL without a path means the root as it does in a request") {
  CHECK(read(R"({"key":"http://shop.example"})").path_and_query == "/");
  CHECK(read(R"({"key":"http://shop.example?a=/b"})").path_and_query == "/?a=/b");
  CHECK(read(R"({"prefix":"HTTP://[::1]:80"})").authority == "[::1]:80");
  CHECK(read(R"({"key":"//shop.example/"})").path_and_query == "//shop.example/");
}

TEST_CASE("a purge that is not exactly one string of a known name is explained") {
  for (const char* body :
       {"", "{", "key=/", "{\"key\":\"/\"} x", "{\"key\":\"\xff\"}", "{\"key\":1e999}"}) {
    CHECK_MESSAGE(wrong(body) == "the body is not JSON", body);
  }
  for (const char* body : {"[]", "null", "\"/\"", "[{\"key\":\"/\"}]"}) {
    CHECK_MESSAGE(wrong(body) == "the body is not a JSON object", body);
  }
  for (const char* body : {"{}", R"({"url":"/"})", R"({"key":"/","prefix":"/"})", R"({"Key":"/"})",
                           R"({"key":"/","comment":{}})"}) {
    CHECK_MESSAGE(wrong(body) == "exactly one of \"key\", \"prefix\" and \"route\" is needed",
                  body);
  }
  CHECK(wrong(R"({"key":"/a","key":"/b"})") == "a member is given twice");
  for (const char* body : {R"({"key":1})", R"({"key":null})", R"({"key":["/"]})",
                           R"({"key":{"key":"/"}})", R"({"key":true})"}) {
    CHECK_MESSAGE(wrong(body) == "\"key\" must be a string", body);
  }
  CHECK(wrong(R"({"route":""})") == "\"route\" must not be empty");
  CHECK(wrong(R"({"prefix":""})") == "\"prefix\" must not be empty");
}

TEST_CASE("a URL that no request can have asked for is refused instead of purging nothing") {
  for (const char* text :
       {"list", "shop.example/list", "ftp://shop.example/list", "http:/list", "*"}) {
    const std::string body = "{\"key\":\"" + std::string(text) + "\"}";
    CHECK_MESSAGE(wrong(body).find("begins with http") != std::string::npos, text);
  }
  for (const char* text : {"http://", "http:///list", "http://a b/", "http://user@host/",
                           "http://shop.example:99999/", "http://[::g]/"}) {
    CHECK_MESSAGE(wrong("{\"prefix\":\"" + std::string(text) + "\"}") != "", text);
  }
  for (const char* text : {"/a b", "/a\\u0000b", "/a\\n", "/\\u007f"}) {
    CHECK_MESSAGE(wrong("{\"key\":\"" + std::string(text) + "\"}").find("percent-encoded") !=
                      std::string::npos,
                  text);
  }
}

TEST_CASE("a text longer than any request line is refused") {
  const auto key = [](std::size_t size) {
    return "{\"key\":\"" + std::string("/").append(size - 1, 'x') + "\"}";
  };
  CHECK(wrong(key(kMaxPurgeText)) == "");
  CHECK(wrong(key(kMaxPurgeText + 1)) == "\"key\" is too long");
  CHECK(wrong("{\"route\":\"" + std::string(kMaxPurgeText + 1, 'x') + "\"}") != "");
  CHECK(wrong(std::string(65536, '[')) == "the body is not JSON");
}

TEST_CASE("a purge answers how many stored answers are gone") {
  Desk desk;
  const AdminResponse response = desk.post(kWhole);
  CHECK(response.result_int() == 200);
  CHECK(response[beast_http::field::content_type] == "application/json");
  CHECK(response.body() == "{\"purged\":3}\n");
  REQUIRE(desk.asked);
  CHECK(desk.asked->route == "list");
}

TEST_CASE("what the purge does not know is 404 in its own words") {
  Desk desk;
  desk.answer = {.purged = 0, .unknown = "there is no route \"list\""};
  const AdminResponse response = desk.post(kWhole);
  CHECK(response.result_int() == 404);
  const auto problem = nlohmann::json::parse(response.body());
  CHECK(problem["status"] == 404);
  CHECK(problem["detail"] == "there is no route \"list\"");
}

TEST_CASE("a body that names nothing is a problem and purges nothing") {
  Desk desk;
  const AdminResponse response = desk.post("{\"keys\":\"/\"}");
  CHECK(response.result_int() == 400);
  CHECK(response[beast_http::field::content_type] == "application/problem+json");
  CHECK_FALSE(desk.asked);
}

TEST_CASE("only POST purges and the page says so") {
  using beast_http::verb;
  for (const verb method : {verb::get, verb::head, verb::put, verb::delete_, verb::options}) {
    Desk desk;
    const AdminResponse response = desk.ask(method, kWhole);
    CHECK(response.result_int() == 405);
    CHECK(response[beast_http::field::allow] == "POST");
    CHECK(response.body().empty() == (method == verb::head));
    CHECK(response.count(beast_http::field::access_control_allow_origin) == 0);
    CHECK_FALSE(desk.asked);
  }
}

TEST_CASE("a media type that a foreign web page may post does not purge") {
  for (const char* type : {"", "text/plain", "application/x-www-form-urlencoded",
                           "multipart/form-data; boundary=x", "text/plain; application/json",
                           "application/json-patch+json", "application/problem+json"}) {
    Desk desk;
    const AdminResponse response = desk.ask(beast_http::verb::post, kWhole, type);
    CHECK_MESSAGE(response.result_int() == 415, type);
    CHECK(response[beast_http::field::accept] == "application/json");
    CHECK_FALSE(desk.asked);
  }
  for (const char* type : {"application/json", "Application/JSON ; charset=utf-8"}) {
    Desk desk;
    CHECK_MESSAGE(desk.ask(beast_http::verb::post, kWhole, type).result_int() == 200, type);
  }
}

TEST_CASE("a web page does not purge, whatever media type it posts") {
  Desk desk;
  desk.is_web_page = true;
  CHECK(desk.post(kWhole).result_int() == 403);
  CHECK_FALSE(desk.asked);
}

TEST_CASE("a purge needs the token where there is one and a loopback host where there is none") {
  const auto post = [](Desk& desk, std::string_view host, std::string_view authorization) {
    return desk.ask(beast_http::verb::post, kWhole, "application/json", host, authorization)
        .result_int();
  };
  Desk guarded;
  guarded.token = "s3cret-token";
  CHECK(post(guarded, "localhost", "") == 401);
  CHECK(post(guarded, "localhost", "Bearer wrong-token") == 401);
  CHECK_FALSE(guarded.asked);
  CHECK(post(guarded, "admin.example", "Bearer s3cret-token") == 200);
  CHECK(guarded.asked);

  Desk open;
  CHECK(post(open, "rebound.example", "") == 403);
  CHECK_FALSE(open.asked);
  CHECK(post(open, "127.0.0.1:9090", "") == 200);
  CHECK(open.asked);
}

}  // namespace
}  // namespace spillway::proxy
