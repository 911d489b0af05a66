#include "http/message/framing.hpp"

#include <doctest/doctest.h>

#include <string>

#include "unit/http/requests.hpp"

using namespace spillway::http;

namespace {

using Kind = Framing::Kind;

std::string post(std::string_view fields, std::string_view version = "1.1") {
  return "POST / HTTP/" + std::string(version) + "\r\nHost: a\r\n" + std::string(fields) + "\r\n";
}

}  // namespace

TEST_CASE("ambiguous or malformed request framing is refused") {
  struct Case {
    std::string_view section;
    std::string text;
  };
  const Case cases[] = {
      {"9112 6.3 gzip only", post("Transfer-Encoding: gzip\r\n")},
      {"9112 6.3 final coding is not chunked", post("Transfer-Encoding: chunked, gzip\r\n")},
      {"9112 6.3 no token before chunked", post("Transfer-Encoding: g z, chunked\r\n")},
      {"9112 6.3 nothing before chunked", post("Transfer-Encoding: , chunked\r\n")},
      {"9112 6.3 chunked before and after", post("Transfer-Encoding: chunked, x, chunked\r\n")},
      {"9112 6.1 identity", post("Transfer-Encoding: identity\r\n")},
      {"9112 6.1 twice in one field", post("Transfer-Encoding: chunked, chunked\r\n")},
      {"9112 6.1 twice", post("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n")},
      {"9112 6.1 hidden in a second field",
       post("Transfer-Encoding: chunked\r\nTransfer-Encoding: x\r\n")},
      {"9112 6.1 empty", post("Transfer-Encoding:\r\n")},
      {"9112 6.1 parameter", post("Transfer-Encoding: chunked;a=b\r\n")},
      {"9112 6.1 quoted", post("Transfer-Encoding: \"chunked\"\r\n")},
      {"9112 6.1 HTTP/1.0", post("Transfer-Encoding: chunked\r\n", "1.0")},
      {"9112 6.3 TE then CL", post("Transfer-Encoding: chunked\r\nContent-Length: 3\r\n")},
      {"9112 6.3 CL then TE", post("Content-Length: 3\r\nTransfer-Encoding: chunked\r\n")},
      {"9112 6.3 other TE then CL", post("Transfer-Encoding: gzip\r\nContent-Length: 3\r\n")},
      {"9112 6.3 equal CLs", post("Content-Length: 3\r\nContent-Length: 3\r\n")},
      {"9112 6.3 different CLs", post("Content-Length: 3\r\nContent-Length: 4\r\n")},
      {"9112 6.3 list", post("Content-Length: 3, 3\r\n")},
      {"9110 8.6 sign", post("Content-Length: +3\r\n")},
      {"9110 8.6 negative", post("Content-Length: -3\r\n")},
      {"9110 8.6 hexadecimal", post("Content-Length: 0x3\r\n")},
      {"9110 8.6 empty", post("Content-Length:\r\n")},
      {"9110 8.6 fraction", post("Content-Length: 3.0\r\n")},
      {"9110 8.6 beyond 63 bits", post("Content-Length: 9223372036854775808\r\n")},
      {"9110 8.6 beyond 64 bits", post("Content-Length: 18446744073709551619\r\n")},
  };
  RequestHead head;
  for (const Case& one : cases) {
    CAPTURE(one.section);
    CHECK(read_request(one.text, head) == Error::bad_framing);
  }
}

TEST_CASE("a transfer coding that is not known is told apart from framing that is not clear") {
  RequestHead head;
  for (const char* codings : {"gzip, chunked", "x-a,gzip , CHUNKED"}) {
    const std::string text = post("Transfer-Encoding: " + std::string(codings) + "\r\n");
    CHECK(read_request(text, head) == Error::unknown_coding);
  }
  CHECK(read_request(post("Transfer-Encoding: gzip, chunked\r\nContent-Length: 3\r\n"), head) ==
        Error::bad_framing);
  CHECK(read_request(post("Transfer-Encoding: gzip, chunked\r\n", "1.0"), head) ==
        Error::bad_framing);
}

TEST_CASE("only OPTIONS that may go no further ends here") {
  const auto is_final_recipient = [](const std::string& method, const std::string& fields) {
    const std::string text = method + " / HTTP/1.1\r\nHost: a\r\n" + fields + "\r\n";
    RequestHead head;
    REQUIRE(read_request(text, head) == Error::none);
    return head.is_final_recipient;
  };
  CHECK(is_final_recipient("OPTIONS", "Max-Forwards: 0\r\n"));
  CHECK(is_final_recipient("OPTIONS", "max-forwards: 000\r\n"));
  CHECK_FALSE(is_final_recipient("OPTIONS", "Max-Forwards: 1\r\n"));
  CHECK_FALSE(is_final_recipient("OPTIONS", "Max-Forwards: 99999999999999999999999\r\n"));
  CHECK_FALSE(is_final_recipient("OPTIONS", "Max-Forwards:\r\n"));
  CHECK_FALSE(is_final_recipient("OPTIONS", "Max-Forwards: 0\r\nMax-Forwards: 0\r\n"));
  CHECK_FALSE(is_final_recipient("OPTIONS", ""));
  CHECK_FALSE(is_final_recipient("GET", "Max-Forwards: 0\r\n"));
}

TEST_CASE("clear request framing is understood") {
  struct Case {
    std::string text;
    Kind kind;
    std::uint64_t length;
  };
  const Case cases[] = {
      {post(""), Kind::none, 0},
      {post("Content-Length: 0\r\n"), Kind::none, 0},
      {post("Content-Length: 17\r\n"), Kind::length, 17},
      {post("Content-Length: 0017\r\n"), Kind::length, 17},
      {post("Content-Length: 9223372036854775807\r\n"), Kind::length, 9223372036854775807u},
      {post("Transfer-Encoding: chunked\r\n"), Kind::chunked, 0},
      {post("transfer-encoding:  CHUNKED \r\n"), Kind::chunked, 0},
      {post("Content-Length: 17\r\n", "1.0"), Kind::length, 17},
  };
  RequestHead head;
  for (const Case& one : cases) {
    CAPTURE(one.text);
    REQUIRE(read_request(one.text, head) == Error::none);
    CHECK(head.framing.kind == one.kind);
    CHECK(head.framing.length == one.length);
  }
}

TEST_CASE("a connection stays open as the version and Connection say") {
  struct Case {
    std::string_view version;
    std::string_view fields;
    bool keep_alive;
  };
  const Case cases[] = {
      {"1.1", "", true},
      {"1.1", "Connection: close\r\n", false},
      {"1.1", "Connection: keep-alive, Close\r\n", false},
      {"1.1", "Connection: x\r\nConnection: close\r\n", false},
      {"1.0", "", false},
      {"1.0", "Connection: Keep-Alive\r\n", true},
      {"1.0", "Connection: keep-alive, close\r\n", false},
  };
  RequestHead head;
  for (const Case& one : cases) {
    CAPTURE(one.fields);
    REQUIRE(read_request(post(one.fields, one.version), head) == Error::none);
    CHECK(head.keep_alive == one.keep_alive);
  }
}

TEST_CASE("only 100-continue is expected and only where there is a body to wait for") {
  RequestHead head;
  REQUIRE(read_request(post("Expect: 100-Continue\r\nContent-Length: 3\r\n"), head) == Error::none);
  CHECK(head.expect_continue);
  REQUIRE(read_request(post("Expect: 100-continue\r\n"), head) == Error::none);
  CHECK_FALSE(head.expect_continue);
  REQUIRE(read_request(post("Expect: x\r\nContent-Length: 3\r\n", "1.0"), head) == Error::none);
  CHECK_FALSE(head.expect_continue);
  CHECK(read_request(post("Expect: 200-ok\r\n"), head) == Error::expectation_failed);
  CHECK(read_request(post("Expect: 100-continue\r\nExpect: 100-continue\r\n"), head) ==
        Error::expectation_failed);
}

TEST_CASE("CONNECT and TRACE are refused and an upgrade is noticed") {
  RequestHead head;
  CHECK(read_request("CONNECT a:443 HTTP/1.1\r\nHost: a:443\r\n\r\n", head) ==
        Error::method_refused);
  CHECK(read_request("TRACE / HTTP/1.1\r\nHost: a\r\n\r\n", head) == Error::method_refused);
  REQUIRE(read_request(post("Connection: Upgrade\r\nUpgrade: websocket\r\n"), head) == Error::none);
  CHECK(head.upgrade);
  REQUIRE(read_request(post("Upgrade: websocket\r\n"), head) == Error::none);
  CHECK_FALSE(head.upgrade);
}

TEST_CASE("a standard method in small letters is refused and methods of others are not") {
  RequestHead head;
  for (const std::string method : {"get", "Get", "gEt", "post", "patch", "head", "options", "trace",
                                   "connect", "m-search", "Propfind", "PURGe"}) {
    CAPTURE(method);
    CHECK(read_request(method + " / HTTP/1.1\r\nHost: a\r\n\r\n", head) == Error::bad_method);
  }
  for (const std::string method : {"GET", "PURGE", "list", "LIST", "gets", "M!az", "g", "x-post"}) {
    CAPTURE(method);
    const std::string text = method + " / HTTP/1.1\r\nHost: a\r\n\r\n";
    CHECK(read_request(text, head) == Error::none);
    CHECK(head.method_name == method);
  }
  CHECK(status_of(Error::bad_method) == 400);
}

TEST_CASE("Connection names 32 fields at most") {
  std::string value = "a0";
  for (int i = 1; i < 32; ++i) value += ", a" + std::to_string(i);
  RequestHead head;
  CHECK(read_request(post("Connection: close, " + value + "\r\n"), head) == Error::none);
  CHECK(read_request(post("Connection: " + value + ", b\r\n"), head) == Error::bad_field);
}

TEST_CASE("trailers are left out where Connection names fields that may be among them") {
  const std::string coding = "Transfer-Encoding: chunked\r\n";
  struct Case {
    std::string fields;
    bool drops;
  };
  const Case cases[] = {{coding, false},
                        {coding + "Connection: keep-alive, TE\r\nTE: trailers\r\n", false},
                        {coding + "Connection: close, Upgrade\r\nUpgrade: a\r\n", false},
                        {coding + "Connection: X-Sum\r\n", true},
                        {"Connection: te\r\n" + coding + "Connection: close, X-Sum\r\n", true},
                        {"Content-Length: 3\r\nConnection: X-Sum\r\n", false}};
  for (const Case& one : cases) {
    CAPTURE(one.fields);
    RequestHead request;
    REQUIRE(read_request(post(one.fields), request) == Error::none);
    CHECK(request.framing.drops_trailers == one.drops);
    ResponseHead response;
    REQUIRE(read_response("HTTP/1.1 200 OK\r\n" + one.fields + "\r\n", Verb::get, response) ==
            Error::none);
    CHECK(response.framing.drops_trailers == one.drops);
  }
}

TEST_CASE("response framing follows RFC 9112 section 6.3") {
  struct Case {
    std::string_view why;
    std::string text;
    Verb method;
    Kind kind;
    std::uint64_t length;
    bool keep_alive;
  };
  const std::string ok = "HTTP/1.1 200 OK\r\n";
  const Case cases[] = {
      {"HEAD", ok + "Content-Length: 9\r\n\r\n", Verb::head, Kind::none, 0, true},
      {"HEAD chunked", ok + "Transfer-Encoding: chunked\r\n\r\n", Verb::head, Kind::none, 0, true},
      {"204", "HTTP/1.1 204 No Content\r\n\r\n", Verb::get, Kind::none, 0, true},
      {"304", "HTTP/1.1 304 X\r\nContent-Length: 9\r\n\r\n", Verb::get, Kind::none, 0, true},
      {"100", "HTTP/1.1 100 Continue\r\n\r\n", Verb::post, Kind::none, 0, true},
      {"length", ok + "Content-Length: 9\r\n\r\n", Verb::get, Kind::length, 9, true},
      {"empty", ok + "Content-Length: 0\r\n\r\n", Verb::get, Kind::none, 0, true},
      {"chunked", ok + "Transfer-Encoding: chunked\r\n\r\n", Verb::get, Kind::chunked, 0, true},
      {"to the end", ok + "\r\n", Verb::get, Kind::until_close, 0, false},
      {"equal fields", ok + "Content-Length: 9\r\nA: b\r\ncontent-length: 09\r\n\r\n", Verb::get,
       Kind::length, 9, true},
      {"equal in a list", ok + "Content-Length: 9 ,\t9,9\r\n\r\n", Verb::get, Kind::length, 9,
       true},
      {"equal and empty", ok + "Content-Length: 0, 0\r\nContent-Length: 0\r\n\r\n", Verb::get,
       Kind::none, 0, true},
      {"1.0", "HTTP/1.0 200 OK\r\nContent-Length: 9\r\n\r\n", Verb::get, Kind::length, 9, false},
      {"closes", ok + "Connection: close\r\nContent-Length: 9\r\n\r\n", Verb::get, Kind::length, 9,
       false},
  };
  ResponseHead head;
  for (const Case& one : cases) {
    CAPTURE(one.why);
    REQUIRE(read_response(one.text, one.method, head) == Error::none);
    CHECK(head.framing.kind == one.kind);
    CHECK(head.framing.length == one.length);
    CHECK(head.keep_alive == one.keep_alive);
  }
  for (const char* fields :
       {"Transfer-Encoding: gzip\r\n", "Content-Length: 1\r\nContent-Length: 2\r\n",
        "Content-Length: 1, 2\r\n", "Content-Length: 1, 1\r\nContent-Length: 2\r\n",
        "Content-Length: 1\r\nContent-Length:\r\n", "Content-Length: 1, x\r\n",
        "Content-Length: 1 1\r\n", "Content-Length: ,\r\n",
        "Content-Length: 1\r\nContent-Length: 9223372036854775808\r\n",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n",
        "Transfer-Encoding: chunked\r\nContent-Length: 1\r\n", "Content-Length: x\r\n"}) {
    CAPTURE(fields);
    CHECK(read_response(ok + fields + "\r\n", Verb::get, head) == Error::bad_framing);
  }
  CHECK(read_response("HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", Verb::get, head) ==
        Error::bad_framing);
  CHECK(read_response("HTTP/1.1 099 X\r\n\r\n", Verb::get, head) == Error::bad_status_line);
}
