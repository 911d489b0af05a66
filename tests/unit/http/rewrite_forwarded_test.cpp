// What a rewritten request says of those it came through: X-Forwarded-* and Forwarded.
#include <doctest/doctest.h>

#include <string>

#include "http/outgoing/rewrite.hpp"
#include "unit/http/requests.hpp"

using namespace spillway;
using namespace spillway::http;

TEST_CASE("where the client named no host the forwarding fields name none either") {
  ForwardedRequest with = kClient;
  with.default_host = "127.0.0.1:3000";
  for (const bool is_trusted : {false, true}) {
    CAPTURE(is_trusted);
    with.trusted_peer = is_trusted;
    const std::string head = forward("GET / HTTP/1.0\r\n\r\n", with);
    CHECK(has_line(head, "Host: 127.0.0.1:3000"));
    CHECK_FALSE(has_field(head, "X-Forwarded-Host"));
    CHECK(has_line(head, "Forwarded: for=192.0.2.7;proto=http"));
    CHECK(has_line(head, "X-Forwarded-Proto: http"));
  }
  // What a trusted peer says goes on.
  const std::string said =
      forward("GET / HTTP/1.0\r\nForwarded: for=1.1.1.1;host=shop.example\r\n\r\n", with);
  CHECK(has_line(said, "X-Forwarded-Host: shop.example"));
  CHECK(has_line(said, "Forwarded: for=1.1.1.1;host=shop.example, for=192.0.2.7;proto=http"));
}

TEST_CASE("an untrusted peer's forwarding fields are replaced") {
  const std::string text =
      "GET / HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: 6.6.6.6\r\nx-forwarded-proto: https\r\n"
      "X-FORWARDED-HOST: evil\r\nX-Forwarded-Port: 1\r\nForwarded: for=6.6.6.6\r\nVia: 1.0 "
      "x\r\n\r\n";
  const std::string head = forward(text, kClient);
  CHECK(head.find("6.6.6.6") == std::string::npos);
  CHECK(head.find("evil") == std::string::npos);
  CHECK(head.find("https") == std::string::npos);
  CHECK_FALSE(has_field(head, "X-Forwarded-Port"));
  CHECK(has_line(head, "X-Forwarded-For: 192.0.2.7"));
  CHECK(has_line(head, "Via: 1.0 x"));
  CHECK(has_line(head, "Via: 1.1 spillway"));
}

TEST_CASE("a trusted peer's forwarding fields are appended to") {
  const std::string text =
      "GET / HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: 1.1.1.1\r\nX-Forwarded-For: 2.2.2.2\r\n"
      "X-Forwarded-Proto: https\r\nX-Forwarded-Host: front\r\nForwarded: for=1.1.1.1\r\n\r\n";
  ForwardedRequest with{.client_address = "2001:db8::1"};
  with.trusted_peer = true;
  const std::string head = forward(text, with);
  CHECK(has_line(head, "X-Forwarded-For: 1.1.1.1, 2.2.2.2, 2001:db8::1"));
  CHECK(has_line(head, "X-Forwarded-Proto: https"));
  CHECK_FALSE(has_line(head, "X-Forwarded-Proto: http"));
  CHECK(has_line(head, "X-Forwarded-Host: front"));
  CHECK_FALSE(has_line(head, "X-Forwarded-Host: a"));
  // RFC 7239 section 6: IPv6 in brackets and quotes.
  CHECK(has_line(head, "Forwarded: for=1.1.1.1, for=\"[2001:db8::1]\";host=a;proto=http"));
}

// RFC 7239 section 7.4.
TEST_CASE("what a trusted peer says in one form only goes on in both") {
  ForwardedRequest with{.client_address = "10.0.0.1"};
  with.trusted_peer = true;
  const std::string begin = "GET / HTTP/1.1\r\nHost: a\r\n";
  const std::string x = forward(begin +
                                    "X-Forwarded-For: 1.1.1.1, 2.2.2.2\r\n"
                                    "X-Forwarded-Proto: https\r\n\r\n",
                                with);
  CHECK(has_line(x, "X-Forwarded-For: 1.1.1.1, 2.2.2.2, 10.0.0.1"));
  CHECK(has_line(
      x, "Forwarded: for=1.1.1.1, for=2.2.2.2;proto=https, for=10.0.0.1;host=a;proto=http"));

  const std::string standard = forward(
      begin + "Forwarded: for=\"[2001:db8::7]:99\";proto=https;host=shop.example\r\n\r\n", with);
  CHECK(has_line(standard, "X-Forwarded-For: 2001:db8::7, 10.0.0.1"));
  CHECK(has_line(standard, "X-Forwarded-Proto: https"));
  CHECK(has_line(standard, "X-Forwarded-Host: shop.example"));
  CHECK(has_line(standard,
                 "Forwarded: for=\"[2001:db8::7]:99\";proto=https;host=shop.example, "
                 "for=10.0.0.1;host=a;proto=http"));
  // Others vouch for nothing.
  with.trusted_peer = false;
  const std::string stranger = forward(begin + "Forwarded: for=6.6.6.6;proto=https\r\n\r\n", with);
  CHECK(has_line(stranger, "X-Forwarded-For: 10.0.0.1"));
  CHECK(has_line(stranger, "X-Forwarded-Proto: http"));
  CHECK(has_line(stranger, "Forwarded: for=10.0.0.1;host=a;proto=http"));
}

TEST_CASE("nothing is appended to a Forwarded whose open quotation mark would take it in") {
  ForwardedRequest with{.client_address = "10.0.0.1"};
  with.trusted_peer = true;
  const std::string head = forward(
      "GET / HTTP/1.1\r\nHost: a\r\nForwarded: for=\"6.6.6.6\r\nForwarded: for=1.1.1.1\r\n\r\n",
      with);
  CHECK(has_line(head, "X-Forwarded-For: 10.0.0.1"));
  CHECK(has_line(head, "Forwarded: for=10.0.0.1;host=a;proto=http"));
}

TEST_CASE("a chain that is converted fits into the room there is") {
  ForwardedRequest with{.client_address = "2001:db8:1111:2222:3333:4444:5555:6666"};
  with.trusted_peer = true;
  std::string entries;
  for (int i = 0; i < 40; ++i) entries += "ffff:ffff:ffff:ffff:ffff:ffff:255.255.255.255,";
  const std::string begin = "GET / HTTP/1.1\r\nHost: a\r\n";
  const std::string host = "X-Forwarded-Host: " + std::string(255, 'h') + "\r\n";
  // forward() gives it no more room than is promised, and fails without.
  CHECK(has_field(forward(begin + host + "X-Forwarded-For: " + entries + "\r\n\r\n", with),
                  "Forwarded"));
  std::string elements;
  for (int i = 0; i < 40; ++i) elements += "a=b,";
  CHECK(has_field(forward(begin + "Forwarded: " + elements + "for=a;host=" + std::string(255, 'h') +
                              ";proto=abcdefghijklmnop\r\n\r\n",
                          with),
                  "X-Forwarded-For"));
}
