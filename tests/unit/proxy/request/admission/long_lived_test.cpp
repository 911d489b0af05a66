// Which responses stay open.
#include "proxy/request/admission/long_lived.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <vector>

#include "unit/proxy/request/lone_process.hpp"
#include "unit/proxy/request/lone_request.hpp"

namespace spillway::proxy {
namespace {

http::ResponseHead response_of(unsigned status, std::string_view type) {
  http::ResponseHead response;
  response.status = status;
  if (!type.empty())
    response.fields.push(
        {.name = "Content-Type", .value = type, .id = http::FieldId::content_type});
  return response;
}

}  // namespace

TEST_CASE("an event stream is text/event-stream in answer to a GET") {
  using http::Verb;
  struct Case {
    Verb method;
    unsigned status;
    std::string_view type;
    bool is_stream;
  };
  const std::vector<Case> cases{
      {Verb::get, 200, "text/event-stream", true},
      {Verb::get, 200, "Text/Event-Stream", true},
      {Verb::get, 200, "text/event-stream; charset=utf-8", true},
      {Verb::get, 200, "text/event-stream ;charset=utf-8", true},
      {Verb::get, 200, "text/event-streams", false},
      {Verb::get, 200, "text/html", false},
      {Verb::get, 200, "", false},
      {Verb::get, 204, "text/event-stream", false},
      {Verb::get, 503, "text/event-stream", false},
      {Verb::head, 200, "text/event-stream", false},
      {Verb::post, 200, "text/event-stream", false},
  };
  for (const Case& c : cases) {
    CAPTURE(c.type);
    CAPTURE(c.status);
    CHECK(is_event_stream(c.method, response_of(c.status, c.type)) == c.is_stream);
  }
}

TEST_CASE("a long response is expected of an upgrade, and of a GET that accepts events") {
  Process process;
  struct Case {
    std::string_view line, fields, upgrade;
    bool is_long;
  };
  const std::vector<Case> cases{
      {"GET / HTTP/1.1", "", "", false},
      {"GET / HTTP/1.1", "", "websocket", true},
      {"GET / HTTP/1.1", "Accept: text/event-stream\r\n", "", true},
      {"GET / HTTP/1.1", "Accept: text/event-stream;q=1\r\n", "", true},
      {"GET / HTTP/1.1", "Accept: text/html\r\n", "", false},
      {"GET / HTTP/1.1", "Accept: text/html, text/event-stream\r\n", "", false},
      {"POST / HTTP/1.1", "Accept: text/event-stream\r\n", "", false},
      {"HEAD / HTTP/1.1", "Accept: text/event-stream\r\n", "", false},
  };
  for (const Case& c : cases) {
    CAPTURE(c.line);
    CAPTURE(c.fields);
    const LoneRequest request(
        process, std::string(c.line) + "\r\nHost: h\r\n" + std::string(c.fields) + "\r\n");
    CHECK(expects_long_response(request.head, c.upgrade) == c.is_long);
  }
}

TEST_CASE("at the head of the response only an event stream keeps its permit") {
  Process process;
  const LoneRequest request(process, "GET / HTTP/1.1\r\nHost: h\r\n\r\n");
  for (const char* const type : {"text/event-stream", "text/html"}) {
    CAPTURE(type);
    REQUIRE(process.permits.try_take(10));
    TunnelPermit permit(process.permits,
                        process.gauges->tunnels[index(observe::TunnelKind::event_stream)]);
    keep_permit_if_stream(request.context, response_of(200, type), permit);
    const bool is_kept = std::string_view(type) == "text/event-stream";
    CHECK(static_cast<bool>(permit) == is_kept);
    CHECK(process.permits.taken() == (is_kept ? 1 : 0));
  }
}

}  // namespace spillway::proxy
