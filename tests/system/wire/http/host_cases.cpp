#include "system/wire/http/cases.hpp"

namespace spillway::wire {

namespace {

std::string with_host(const std::string& value) {
  return "GET / HTTP/1.1\r\nHost: " + value + "\r\n\r\n";
}

// RFC 9112 section 3.2: 400 for each Host that is not of the grammar.
Case no_host(std::string sentence, const std::string& value) {
  return must("9112 3.2", std::move(sentence), sends(with_host(value)).refused());
}

Case host(std::string sentence, const std::string& value) {
  return must("9112 3.2", std::move(sentence),
              sends(with_host(value)).passes().asked_with("Host", value));
}

}  // namespace

std::vector<Case> host_cases() {
  return {must("9112 3.2", "a request without Host is refused",
               sends("GET / HTTP/1.1\r\nX-A: 1\r\n\r\n").refused()),
          must("9112 3.2", "two Hosts are refused",
               sends("GET / HTTP/1.1\r\nHost: a.example\r\nHost: b.example\r\n\r\n").refused()),
          must("9112 3.2", "two equal Hosts are refused",
               sends("GET / HTTP/1.1\r\nHost: a.example\r\nX-A: 1\r\nhost: a.example\r\n\r\n")
                   .refused()),
          must("9112 3.2", "two Hosts are refused in HTTP/1.0 too",
               sends("GET / HTTP/1.0\r\nHost: a.example\r\nHost: b.example\r\n\r\n").refused()),
          no_host("a Host with a space is refused", "a.example b.example"),
          no_host("a Host with a slash is refused", "a.example/b"),
          no_host("a Host with a backslash is refused", "a.example\\b"),
          no_host("a Host with a query is refused", "a.example?b"),
          no_host("a Host with a hash is refused", "a.example#b"),
          no_host("a Host with user information is refused", "user@a.example"),
          no_host("a Host with a quote is refused", "a\"example"),
          no_host("a Host with angle brackets is refused", "<script>"),
          no_host("a Host with curly brackets is refused", "{a}.example"),
          no_host("a Host with a pipe is refused", "a|b.example"),
          no_host("a Host with a caret is refused", "a^b.example"),
          no_host("a Host with a NUL is refused", std::string("a\0b.example", 11)),
          no_host("a Host with a tab is refused", "a\tb.example"),
          no_host("a Host with a byte beyond ASCII is refused", "\xc3\xa4.example"),
          ours("a Host longer than any name is refused",
               sends(with_host(std::string(20'000, 'a'))).refused().untouched().closed()),
          no_host("a Host with a scheme is refused", "http://a.example"),
          no_host("a Host with letters for a port is refused", "a.example:http"),
          no_host("a Host with a negative port is refused", "a.example:-1"),
          no_host("a Host with two ports is refused", "a.example:80:80"),
          no_host("a Host with a space before its port is refused", "a.example :80"),
          no_host("a Host of a port alone is refused", ":80"),
          no_host("a Host with an open bracket is refused", "[::1"),
          no_host("a Host with a closed bracket is refused", "::1]"),
          no_host("a Host with a name in brackets is refused", "[a.example]"),
          no_host("a Host with something behind the brackets is refused", "[::1]x"),
          no_host("a Host with an encoding of nothing is refused", "a%zz.example"),
          ours("a Host with an encoded dot is refused",
               sends(with_host("a%2eexample")).refused().untouched()),
          ours("a Host with an encoded letter is refused",
               sends(with_host("%61.example")).refused().untouched()),
          ours("a Host with a comma is refused",
               sends(with_host("a.example,b.example")).refused().untouched()),
          ours("a Host with a semicolon is refused",
               sends(with_host("a.example;b")).refused().untouched()),
          ours("an absolute target with an encoded host is refused",
               sends("GET http://a%2eexample/ HTTP/1.1\r\nHost: a.example\r\n\r\n")
                   .refused()
                   .untouched()),
          ours("a Host with an underscore is passed on",
               sends(with_host("a_b.example")).passes().asked_with("Host", "a_b.example")),
          ours("an empty Host is refused",
               sends("GET / HTTP/1.1\r\nHost:\r\n\r\n").refused().untouched()),
          ours("a Host with a port beyond 65535 is refused",
               sends(with_host("a.example:65536")).refused().untouched()),
          host("a Host is passed on", "a.example"),
          host("a Host with a port is passed on with it", "a.example:8080"),
          host("a Host of an address is passed on", "192.0.2.1"),
          host("a Host of an IPv6 address and a port is passed on", "[2001:db8::1]:8080"),
          ours("a Host keeps its capitals",
               sends(with_host("A.Example")).passes().asked_with("Host", "A.Example")),
          must("9112 3.2", "HTTP/1.0 needs no Host", sends("GET / HTTP/1.0\r\n\r\n").passes()),
          must("9110 7.6.1", "Connection cannot name Host away",
               sends(get("/", "Connection: Host\r\n")).passes().asked_with("Host", "a.example"))};
}

}  // namespace spillway::wire
