#include "http/message/head.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace spillway::http;

TEST_CASE("a request's parts are views of the block it came in") {
  const std::string text =
      "POST /a/b?c=d HTTP/1.1\r\nHost: example.com:8080\r\nX-Odd:   spaced\t \r\nX-Odd: again\r\n"
      "Empty:\r\n\r\n";
  RequestHead head;
  REQUIRE(parse_request(text, head) == Error::none);
  CHECK(head.method == Verb::post);
  CHECK(head.method_name == "POST");
  CHECK(head.target == "/a/b?c=d");
  CHECK(head.version == 11);
  REQUIRE(head.fields.size() == 4);
  CHECK(head.fields[0].id == FieldId::host);
  CHECK(head.fields[1].name == "X-Odd");
  CHECK(head.fields[1].value == "spaced");
  CHECK(head.fields[2].value == "again");
  CHECK(head.fields[3].name == "Empty");
  CHECK(head.fields[3].value.empty());
  CHECK(head.fields.find(FieldId::host)->value == "example.com:8080");
  CHECK(head.fields.find("x-odd")->value == "spaced");
  CHECK(head.fields.find("x-other") == nullptr);
  CHECK(head.fields.count(FieldId::host) == 1);
  CHECK(head.fields.count(FieldId::cookie) == 0);
  CHECK(head.field_lines.data() == head.fields[0].name.data());
  CHECK(head.field_lines.ends_with("Empty:\r\n"));
}

TEST_CASE("a head object is used again without remains of the message before") {
  RequestHead head;
  REQUIRE(parse_request("GET / HTTP/1.1\r\nHost: a\r\nCookie: b\r\n\r\n", head) == Error::none);
  REQUIRE(parse_request("PURGE /x HTTP/1.0\r\n\r\n", head) == Error::none);
  CHECK(head.method_name == "PURGE");
  CHECK(head.version == 10);
  CHECK(head.fields.size() == 0);
  CHECK_FALSE(head.fields.contains(FieldId::cookie));
  CHECK(head.field_lines.empty());
}

TEST_CASE("every malformed request head has its fault") {
  struct Case {
    std::string_view section;
    std::string text;
    Error error;
  };
  const Case cases[] = {
      {"9112 3 two spaces", "GET  / HTTP/1.1\r\n\r\n", Error::bad_target},
      {"9112 3 no version", "GET /\r\n\r\n", Error::bad_request_line},
      {"9112 3 space in the target", "GET /a b HTTP/1.1\r\n\r\n", Error::bad_request_line},
      {"9112 3 space after the version", "GET / HTTP/1.1 \r\n\r\n", Error::bad_request_line},
      {"9112 2.3 lower case", "GET / http/1.1\r\n\r\n", Error::bad_request_line},
      {"9112 2.3 no minor version", "GET / HTTP/1\r\n\r\n", Error::bad_request_line},
      {"9112 2.3 two digits", "GET / HTTP/1.10\r\n\r\n", Error::bad_request_line},
      {"9112 2.3 HTTP/0.9", "GET / HTTP/0.9\r\n\r\n", Error::version_unsupported},
      {"9113 3.4 the HTTP/2 preface", "PRI * HTTP/2.0\r\n\r\n", Error::version_unsupported},
      {"9112 5.1 space before the colon", "GET / HTTP/1.1\r\nHost : a\r\n\r\n", Error::bad_field},
      {"9112 5 no colon", "GET / HTTP/1.1\r\nHost\r\n\r\n", Error::bad_field},
      {"9110 5.1 empty name", "GET / HTTP/1.1\r\n: a\r\n\r\n", Error::bad_field},
      {"9110 5.1 space in the name", "GET / HTTP/1.1\r\nA B: c\r\n\r\n", Error::bad_field},
      {"9112 5.2 folding", "GET / HTTP/1.1\r\nA: b\r\n c\r\n\r\n", Error::obs_fold},
      {"9110 7.6.1 no list of tokens", "GET / HTTP/1.1\r\nConnection: a b\r\n\r\n",
       Error::bad_field},
      {"cut short", "GET / HTTP/1.1\r\nHost: a\r\n", Error::truncated},
  };
  RequestHead head;
  for (const Case& one : cases) {
    CAPTURE(one.section);
    CHECK(parse_request(one.text, head) == one.error);
  }
}

// RFC 9110 section 2.5.
TEST_CASE("a higher minor version is read as HTTP/1.1") {
  RequestHead request;
  ResponseHead response;
  for (const char minor : {'1', '2', '9'}) {
    CAPTURE(minor);
    CHECK(parse_request(std::string("GET / HTTP/1.") + minor + "\r\n\r\n", request) == Error::none);
    CHECK(request.version == 11);
    CHECK(parse_response(std::string("HTTP/1.") + minor + " 200 OK\r\n\r\n", response) ==
          Error::none);
    CHECK(response.version == 11);
  }
  CHECK(parse_request("GET / HTTP/1.0\r\n\r\n", request) == Error::none);
  CHECK(request.version == 10);
}

TEST_CASE("128 fields fit and 129 are too many") {
  std::string text = "GET / HTTP/1.1\r\n";
  for (int i = 0; i < 128; ++i) text += "A" + std::to_string(i) + ": b\r\n";
  RequestHead head;
  CHECK(parse_request(text + "\r\n", head) == Error::none);
  CHECK(head.fields.size() == FieldList::kCapacity);
  CHECK(parse_request(text + "One: more\r\n\r\n", head) == Error::too_many_fields);
}

TEST_CASE("a head of 64 KiB with a large content length is no matter for the parser") {
  const std::string text =
      "PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 9000000000000000000\r\nBig: " +
      std::string(65000, 'x') + "\r\n\r\n";
  RequestHead head;
  CHECK(parse_request(text, head) == Error::none);
}

TEST_CASE("a response's status line is read and checked") {
  ResponseHead head;
  REQUIRE(parse_response("HTTP/1.0 404 Not  Here\r\nA: b\r\n\r\n", head) == Error::none);
  CHECK(head.status == 404);
  CHECK(head.reason_phrase == "Not  Here");
  CHECK(head.version == 10);
  CHECK(head.fields.find("a")->value == "b");
  CHECK(parse_response("HTTP/1.1 200 \r\n\r\n", head) == Error::none);
  CHECK(head.reason_phrase.empty());
  REQUIRE(parse_response("HTTP/1.1 404\r\nA: b\r\n\r\n", head) == Error::none);
  CHECK(head.status == 404);
  CHECK(head.reason_phrase.empty());
  CHECK(head.fields.find("a")->value == "b");

  for (const char* text :
       {"HTTP/1.1 20 OK\r\n\r\n", "HTTP/1.1 2000 OK\r\n\r\n", "nonsense\r\n\r\n",
        "HTTP/1.1200 OK\r\n\r\n", "ICY 200 OK\r\n\r\n", "HTTP/1.1 20\r\n\r\n",
        "HTTP/1.1 2000\r\n\r\n", "HTTP/1.1 200\t\r\n\r\n", "HTTP/1.1 \r\n\r\n"}) {
    CAPTURE(text);
    CHECK(parse_response(text, head) == Error::bad_status_line);
  }
  CHECK(parse_response("HTTP/2.0 200 OK\r\n\r\n", head) == Error::version_unsupported);
}
