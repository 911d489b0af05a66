#include "config/format.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace spillway::config {
namespace {

using Texts = std::vector<std::string>;

void check(bool (*accepts)(std::string_view), const Texts& good, const Texts& bad) {
  for (const auto& text : good) CHECK_MESSAGE(accepts(text), text);
  for (const auto& text : bad) CHECK_MESSAGE(!accepts(text), text);
}

}  // namespace

TEST_CASE("names keep to a safe alphabet and off the reserved words") {
  check(is_name, {"a", "P0", "check-out_2.x", std::string(64, 'n')},
        {"", "other", "default", "a b", "a/b", "\xc3\xa9", "a\"b", std::string(65, 'n')});
}

TEST_CASE("servers are host and port") {
  check(is_server,
        {"127.0.0.1:3000", "app:1", "app.internal:65535", "[::1]:80", "[2001:db8::1]:8080"},
        {"",          "app",     "app:",         ":80",          "app:0",       "app:65536",
         "app:+80",   "app: 80", "1.2.3:80",     "256.1.1.1:80", "::1:80",      "[::1]",
         "[::1]80",   "[]:80",   "[1.2.3.4]:80", "[:80",         "http://a:80", "a/b:80",
         "user@a:80", "a..b:80", "-a:80",        "app:80 "});
}

TEST_CASE("peers are addresses and CIDR blocks") {
  check(is_peer, {"10.0.0.1", "10.0.0.0/8", "0.0.0.0/0", "::1", "fd00::/8", "::/0"},
        {"", "10.0.0.0/33", "10.0.0.0/", "/8", "10.0.0/8", "fd00::/129", "fd00::/-1", "localhost",
         "10.0.0.0/8/8", "10.0.0.0/8 "});
}

TEST_CASE("loopback is 127/8 and ::1 in any spelling") {
  check(is_loopback, {"127.0.0.1", "127.9.8.7", "::1", "0:0:0:0:0:0:0:1", "::ffff:127.0.0.1"},
        {"0.0.0.0", "::", "10.0.0.1", "1.127.0.0", "localhost", ""});
}

TEST_CASE("path patterns have wildcards for whole segments only") {
  check(is_path_pattern,
        {"/", "/**", "/a", "/a/**", "/a/*/c", "/*", "/a-b_c~d/e.f", "/a/*/**", "/caf\xc3\xa9"},
        {"", "a", "**", "*", "/a/**/b", "/**/b", "/a*", "/a/b**", "/***", "/a//b", "/a/", "//",
         "/a/../b", "/./a", "/a?b", "/a#b", "/a\nb"});
}

TEST_CASE("methods and hosts have one spelling") {
  check(is_method, {"GET", "POST", "M-SEARCH"}, {"", "get", "Post", "GET POST", "G\tT"});
  check(is_host, {"", "example.com", "127.0.0.1", "[::1]"},
        {"Example.com", "example.com:80", "a b", "http://a", "[::1]:80", "[1.2.3.4]", "["});
}

TEST_CASE("fields of a prepared answer are names and printable values") {
  check(is_request_field, {"Accept", "x-a", "!#$%&'*+-.^_`|~"}, {"", "*", "a b", "a:", "\xc3\xa9"});
  check(is_answer_field, {"Retry-After", "Cache-Control", "Set-Cookie", "Spillway", "Datex"},
        {"", "a b", "Date", "DATE", "te", "Spillway-Degraded", "proxy-authenticate"});
  check(is_field_value, {"", "a", "a b\tc", "\"q\"; x=1", std::string(4096, 'v')},
        {" a", "a ", "\ta", "a\nb", "a\rb", "\x7f", "\xc3\xa9", std::string(1, '\0'),
         std::string(4097, 'v')});
}

TEST_CASE("names of files have no control characters") {
  check(is_file_name, {"a", "../b c.html", "/caf\xc3\xa9.json"},
        {"", "a\nb", std::string("a\0b", 3), std::string(4097, 'f')});
}

TEST_CASE("a token is long enough and cannot be a dump's placeholder") {
  check(is_token, {"", "s3cret-token", std::string(256, 't')},
        {"short", "with blank", "tab\ttab99", "<redacted>", std::string(257, 't')});
}

}  // namespace spillway::config
