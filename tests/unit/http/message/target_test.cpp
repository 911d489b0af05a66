#include "http/message/target.hpp"

#include <doctest/doctest.h>

#include <string>

#include "unit/http/requests.hpp"

using namespace spillway::http;

TEST_CASE("every form of target gives host and path") {
  struct Case {
    std::string_view section;
    std::string text;
    std::string_view host;
    std::string_view path;
    bool path_is_missing;
  };
  const std::string host = " HTTP/1.1\r\nHost: h.example:81\r\n\r\n";
  const Case cases[] = {
      {"9112 3.2.1", "GET /a%20b//../c?x=/?y" + host, "h.example:81", "/a%20b//../c?x=/?y", false},
      {"9112 3.2.1", "GET //evil/x" + host, "h.example:81", "//evil/x", false},
      {"9112 3.2.2", "GET http://o.example/p?q" + host, "o.example", "/p?q", false},
      {"9112 3.2.2", "GET HTTPS://o.example:444" + host, "o.example:444", "/", false},
      {"9112 3.2.2", "GET http://o.example?q=1" + host, "o.example", "?q=1", true},
      {"9112 3.2.2", "GET http://[::1]:80/" + host, "[::1]:80", "/", false},
      {"9112 3.2.4", "OPTIONS *" + host, "h.example:81", "*", false},
      {"9112 3.2.4", "OPTIONS http://o.example" + host, "o.example", "*", false},
      {"9112 3.2", "GET / HTTP/1.0\r\n\r\n", "", "/", false},
      {"9112 3.2", "GET / HTTP/1.0\r\nHost: x\r\n\r\n", "x", "/", false},
  };
  RequestHead head;
  for (const Case& one : cases) {
    CAPTURE(one.text);
    REQUIRE(read_request(one.text, head) == Error::none);
    CHECK(head.host == one.host);
    CHECK(head.path_and_query == one.path);
    CHECK(head.path_is_missing == one.path_is_missing);
  }
}

TEST_CASE("targets that no form allows are refused") {
  RequestHead head;
  for (const std::string target :
       {"*", "example.com:80", "foo", "?a", "ftp://a/", "http://", "http:///a", "http://u@a/",
        "http://a:b/", "http://a%2eb/", "http://a,b/", "/a#b", "http:/a"}) {
    CAPTURE(target);
    CHECK(read_request("GET " + target + " HTTP/1.1\r\nHost: a\r\n\r\n", head) ==
          Error::bad_target);
  }
}

TEST_CASE("Host must be there once and be valid") {
  // RFC 9112 section 3.2
  RequestHead head;
  for (const std::string fields : {"",
                                   "Host: a\r\nHost: a\r\n",
                                   "Host: a\r\nhost: b\r\n",
                                   "Host:\r\n",
                                   "Host: a b\r\n",
                                   "Host: a/b\r\n",
                                   "Host: u@a\r\n",
                                   "Host: a:x\r\n",
                                   "Host: a:65536\r\n",
                                   "Host: :80\r\n",
                                   "Host: [::1\r\n",
                                   "Host: [a]\r\n",
                                   "Host: [1.2.3.4]\r\n",
                                   "Host: a%2\r\n",
                                   "Host: a,\"b\r\n",
                                   "Host: \xc3\xa4\r\n",
                                   "Host: a%2db\r\n",
                                   "Host: a%2eb\r\n",
                                   "Host: %61\r\n",
                                   "Host: a,b\r\n",
                                   "Host: a;b\r\n",
                                   "Host: a!\r\n",
                                   "Host: a$b\r\n",
                                   "Host: a&b\r\n",
                                   "Host: a'b\r\n",
                                   "Host: (a)\r\n",
                                   "Host: *\r\n",
                                   "Host: a+b\r\n",
                                   "Host: a=b\r\n",
                                   "Host: [::%31]\r\n"}) {
    CAPTURE(fields);
    CHECK(read_request("GET / HTTP/1.1\r\n" + fields + "\r\n", head) == Error::bad_host);
    if (!fields.empty()) {
      CHECK(read_request("GET http://a/ HTTP/1.1\r\n" + fields + "\r\n", head) == Error::bad_host);
    }
  }
  CHECK(read_request("GET / HTTP/1.0\r\nHost: a\r\nHost: a\r\n\r\n", head) == Error::bad_host);
  for (const std::string host : {"a", "EXAMPLE.com.", "a:", "a:65535", "[::1]", "[2001:db8::1]:80",
                                 "1.2.3.4", "a-b", "a_b", "~a.b-9"}) {
    CAPTURE(host);
    CHECK(read_request("GET / HTTP/1.1\r\nHost: " + host + "\r\n\r\n", head) == Error::none);
  }
}

TEST_CASE("an authority is told from its port") {
  CHECK(without_port("a.example:80") == "a.example");
  CHECK(without_port("a.example") == "a.example");
  CHECK(without_port("[::1]:80") == "[::1]");
  CHECK(without_port("") == "");
}

TEST_CASE("the loggable part of a target is its path without query and user info") {
  CHECK(path_of("/a/b?token=s3cret") == "/a/b");
  CHECK(path_of("/a/b#s3cret") == "/a/b");
  CHECK(path_of("/") == "/");
  CHECK(path_of("*") == "*");
  CHECK(path_of("http://user:s3cret@h.example/a?b") == "/a");
  CHECK(path_of("http://user:s3cret@h.example") == "");
  CHECK(path_of("http://h.example?s3cret=/x") == "");
  CHECK(path_of("user:s3cret@h.example:443") == "");
  CHECK(path_of("") == "");
}
