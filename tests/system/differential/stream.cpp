#include "system/differential/stream.hpp"

#include <array>

#include "system/soak/random.hpp"

namespace spillway::differential {
namespace {

using soak::Random;
using std::string_view;

enum class Part : std::uint8_t {
  method,     // in place of GET or POST
  target,     // in place of the path
  version,    // in place of HTTP/1.1
  host,       // in place of the line with Host
  line,       // a field line more
  framing,    // in place of the body with its framing lines
  chunks,     // in place of the chunks, behind `Transfer-Encoding: chunked`
  beginning,  // before the request line
  separator,  // in place of the blanks of the request line
};

struct Entry {
  Part part;
  Oddity oddity;
  string_view text;  // of `framing` the lines, an empty one, and the body
};

constexpr string_view kLineWithNul("X-A: 1\0 2\r\n", 11);

constexpr std::array kEntries = std::to_array<Entry>({
    {Part::method, {"PUT", "9110 9.3.4"}, "PUT"},
    {Part::method, {"DELETE", "9110 9.3.5"}, "DELETE"},
    {Part::method, {"OPTIONS", "9110 9.3.7"}, "OPTIONS"},
    {Part::method, {"PATCH", "5789 2"}, "PATCH"},
    {Part::method, {"unknown method", "9110 9.1"}, "BREW"},
    {Part::method, {"method in lower case", "9110 9.1"}, "get"},
    {Part::method, {"method with marks", "9110 9.1"}, "M-SEARCH!"},
    {Part::method, {"CONNECT", "9110 9.3.6"}, "CONNECT"},
    {Part::method, {"TRACE", "9110 9.3.8"}, "TRACE"},
    {Part::method, {"method that is no token", "9110 9.1"}, "GE(T"},
    {Part::target, {"query", "3986 3.4"}, "/a?b=c&d=/../e"},
    {Part::target, {"escapes", "3986 2.1"}, "/%41/%2e%2E/b%20c"},
    {Part::target, {"escaped slash", "3986 2.2"}, "/a%2Fb%2f..%2fc"},
    {Part::target, {"escaped NUL", "3986 7.3"}, "/a%00b"},
    {Part::target, {"bad escape", "3986 2.1"}, "/a%zz%1"},
    {Part::target, {"dot segments", "3986 5.2.4"}, "/a/../b/./c"},
    {Part::target, {"dots above the root", "3986 5.2.4"}, "/../../a"},
    {Part::target, {"empty segments", "3986 3.3"}, "//a///b"},
    {Part::target, {"backslash", "3986 3.3"}, "/a\\..\\b"},
    {Part::target, {"parameters", "3986 3.3"}, "/a;b=c/..;/d"},
    {Part::target, {"bytes above 127", "3986 2.1"}, "/\xc3\xa4\xff"},
    {Part::target, {"marks in a path", "3986 3.3"}, "/a|b{c}\"^`<d>"},
    {Part::target, {"fragment", "9112 3.2.1"}, "/a#b"},
    {Part::target, {"absolute-form", "9112 3.2.2"}, "http://a.example/x?y"},
    {Part::target, {"absolute-form of another host", "9112 3.2.2"}, "http://b.example/x"},
    {Part::target, {"absolute-form with a port", "9112 3.2.2"}, "http://a.example:80/x"},
    {Part::target, {"absolute-form without a path", "9112 3.2.2"}, "http://a.example"},
    {Part::target, {"absolute-form with user", "9110 4.2.4"}, "http://u@a.example/x"},
    {Part::target, {"absolute-form of another scheme", "9110 7.1"}, "ftp://a.example/x"},
    {Part::target, {"asterisk", "9112 3.2.4"}, "*"},
    {Part::target, {"target without slash", "9112 3.2"}, "a/b"},
    {Part::target, {"authority-form", "9112 3.2.3"}, "a.example:80"},
    {Part::version, {"HTTP/1.0", "9112 2.3"}, "HTTP/1.0"},
    {Part::version, {"HTTP/1.2", "9110 2.5"}, "HTTP/1.2"},
    {Part::version, {"HTTP/2.0", "9110 2.5"}, "HTTP/2.0"},
    {Part::version, {"HTTP/01.1", "9112 2.3"}, "HTTP/01.1"},
    {Part::version, {"version in lower case", "9112 2.3"}, "http/1.1"},
    {Part::separator, {"two blanks in the request line", "9112 3"}, "  "},
    {Part::separator, {"tab in the request line", "9112 3"}, "\t"},
    {Part::host, {"no Host", "9112 3.2"}, ""},
    {Part::host, {"two Hosts", "9112 3.2"}, "Host: a.example\r\nHost: b.example\r\n"},
    {Part::host, {"the same Host twice", "9112 3.2"}, "Host: a.example\r\nHost: a.example\r\n"},
    {Part::host, {"Host with port", "9110 7.2"}, "Host: a.example:8080\r\n"},
    {Part::host, {"Host in capitals", "9110 4.2.3"}, "Host: A.Example\r\n"},
    {Part::host, {"empty Host", "9112 3.2"}, "Host:\r\n"},
    {Part::host, {"Host with a slash", "9112 3.2"}, "Host: a.example/b\r\n"},
    {Part::host, {"Host with user", "9112 3.2"}, "Host: u@a.example\r\n"},
    {Part::host, {"Host with a bad port", "9112 3.2"}, "Host: a.example:8x\r\n"},
    {Part::host, {"Host list", "9112 3.2"}, "Host: a.example, b.example\r\n"},
    {Part::host, {"Host with an escape", "3986 3.2.2"}, "Host: a%2eexample\r\n"},
    {Part::host, {"Host with a comma", "3986 3.2.2"}, "Host: a.example,b\r\n"},
    {Part::host, {"Host of an IPv6 address", "9110 7.2"}, "Host: [::1]:80\r\n"},
    {Part::line, {"blanks around a value", "9112 5.1"}, "X-A: \t v \t \r\n"},
    {Part::line, {"empty value", "9112 5.1"}, "X-A:\r\n"},
    {Part::line, {"blank before the colon", "9112 5.1"}, "X-A : v\r\n"},
    {Part::line, {"folded line", "9112 5.2"}, "X-A: v\r\n w\r\n"},
    {Part::line, {"folded Host", "9112 5.2"}, " X-A: v\r\n"},
    {Part::line, {"line without colon", "9112 5"}, "X-A\r\n"},
    {Part::line, {"empty name", "9112 5"}, ": v\r\n"},
    {Part::line, {"name with a bracket", "9110 5.1"}, "X(A): v\r\n"},
    {Part::line, {"underscore", "9110 5.1"}, "X_A: v\r\n"},
    {Part::line, {"underscored forwarding field", "9110 5.1"}, "X_Forwarded_For: 10.0.0.1\r\n"},
    {Part::line, {"dotted forwarding field", "9110 5.1"}, "X.Forwarded.For: 10.0.0.1\r\n"},
    {Part::line, {"repeated field", "9110 5.3"}, "X-A: 1\r\nX-B: 2\r\nx-a: 3\r\n"},
    {Part::line, {"bytes above 127 in a value", "9110 5.5"}, "X-A: \xc3\xa4\xff\r\n"},
    {Part::line, {"NUL in a value", "9110 5.5"}, kLineWithNul},
    {Part::line, {"control character in a value", "9110 5.5"}, "X-A: 1\x01\x7f\r\n"},
    {Part::line, {"bare CR", "9112 2.2"}, "X-A: 1\rX-B: 2\r\n"},
    {Part::line, {"bare LF", "9112 2.2"}, "X-A: 1\nX-B: 2\r\n"},
    {Part::line, {"Connection names a field", "9110 7.6.1"}, "X-A: v\r\nConnection: X-A\r\n"},
    {Part::line, {"Connection names Host", "9110 7.6.1"}, "Connection: Host\r\n"},
    {Part::line,
     {"Connection names a forwarding field", "9110 7.6.1"},
     "Connection: X-Forwarded-For\r\n"},
    {Part::line, {"Connection: close", "9112 9.6"}, "Connection: close\r\n"},
    {Part::line, {"Connection list", "9110 7.6.1"}, "Connection: , keep-alive ,X-A,\r\nX-A: v\r\n"},
    {Part::line, {"Keep-Alive", "9110 7.6.1"}, "Keep-Alive: timeout=5\r\n"},
    {Part::line, {"Proxy-Connection", "9110 7.6.1"}, "Proxy-Connection: keep-alive\r\n"},
    {Part::line, {"TE", "9110 10.1.4"}, "TE: trailers\r\nConnection: TE\r\n"},
    {Part::line, {"Upgrade", "9110 7.8"}, "Upgrade: other\r\nConnection: Upgrade\r\n"},
    {Part::line, {"Via", "9110 7.6.3"}, "Via: 1.0 z\r\n"},
    {Part::line, {"Max-Forwards", "9110 7.6.2"}, "Max-Forwards: 3\r\n"},
    {Part::line, {"X-Forwarded-For", "7239 4"}, "X-Forwarded-For: 10.0.0.1\r\n"},
    {Part::line, {"unknown expectation", "9110 10.1.1"}, "Expect: other\r\n"},
    {Part::line, {"Cookie twice", "6265 5.4"}, "Cookie: a=1\r\nCookie: b=2\r\n"},
    {Part::line, {"Trailer", "9110 6.6.2"}, "Trailer: X-A\r\n"},
    {Part::framing, {"body", "9112 6.3"}, "Content-Length: 5\r\n\r\nhello"},
    {Part::framing, {"Content-Length 0", "9110 8.6"}, "Content-Length: 0\r\n\r\n"},
    {Part::framing, {"leading zeros", "9110 8.6"}, "Content-Length: 0005\r\n\r\nhello"},
    {Part::framing, {"length with plus", "9110 8.6"}, "Content-Length: +5\r\n\r\nhello"},
    {Part::framing, {"length with minus", "9110 8.6"}, "Content-Length: -5\r\n\r\n"},
    {Part::framing, {"hexadecimal length", "9110 8.6"}, "Content-Length: 0x5\r\n\r\nhello"},
    {Part::framing, {"length behind a tab", "9112 5.1"}, "Content-Length:\t5\r\n\r\nhello"},
    {Part::framing, {"empty length", "9110 8.6"}, "Content-Length:\r\n\r\n"},
    {Part::framing,
     {"length above 2^64", "9110 8.6"},
     "Content-Length: 18446744073709551621\r\n\r\nhello"},
    {Part::framing,
     {"the same length twice", "9110 8.6"},
     "Content-Length: 5\r\nContent-Length: 5\r\n\r\nhello"},
    {Part::framing, {"length list", "9110 8.6"}, "Content-Length: 5, 5\r\n\r\nhello"},
    {Part::framing,
     {"two lengths", "9112 6.3"},
     "Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello"},
    {Part::framing,
     {"length and chunked", "9112 6.1"},
     "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"},
    {Part::framing,
     {"chunked and length", "9112 6.1"},
     "Transfer-Encoding: chunked\r\nContent-Length: 40\r\n\r\n5\r\nhello\r\n0\r\n\r\n"},
    {Part::framing,
     {"two codings", "9112 6.1"},
     "Transfer-Encoding: gzip, chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"},
    {Part::framing,
     {"chunked twice", "9112 7.1"},
     "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"},
    {Part::framing,
     {"chunked is not last", "9112 6.1"},
     "Transfer-Encoding: chunked, gzip\r\n\r\n5\r\nhello\r\n0\r\n\r\n"},
    {Part::framing,
     {"coding identity", "9112 7"},
     "Transfer-Encoding: identity\r\nContent-Length: 5\r\n\r\nhello"},
    {Part::framing,
     {"coding in capitals", "9112 7"},
     "Transfer-Encoding: CHUNKED\r\n\r\n5\r\nhello\r\n0\r\n\r\n"},
    {Part::framing,
     {"unknown coding", "9112 6.1"},
     "Transfer-Encoding: xchunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"},
    {Part::framing,
     {"coding behind VT", "9110 5.5"},
     "Transfer-Encoding: \x0b"
     "chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"},
    {Part::framing,
     {"blank before the coding's colon", "9112 5.1"},
     "Transfer-Encoding : chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"},
    {Part::chunks, {"chunks", "9112 7.1"}, "3\r\nhel\r\n2\r\nlo\r\n0\r\n\r\n"},
    {Part::chunks, {"chunk size in capitals", "9112 7.1"}, "A\r\n0123456789\r\n0\r\n\r\n"},
    {Part::chunks, {"zeros before a chunk size", "9112 7.1"}, "0005\r\nhello\r\n000\r\n\r\n"},
    {Part::chunks, {"chunk extension", "9112 7.1.1"}, "5;a=b\r\nhello\r\n0;c\r\n\r\n"},
    {Part::chunks,
     {"quoted chunk extension", "9112 7.1.1"},
     "5;a=\"b;\\\"c\"\r\nhello\r\n0\r\n\r\n"},
    {Part::chunks, {"blank before a chunk extension", "9112 7.1.1"}, "5 ;a\r\nhello\r\n0\r\n\r\n"},
    {Part::chunks, {"blank behind a chunk size", "9112 7.1"}, "5 \r\nhello\r\n0\r\n\r\n"},
    {Part::chunks, {"blank before a chunk size", "9112 7.1"}, " 5\r\nhello\r\n0\r\n\r\n"},
    {Part::chunks, {"chunk size with 0x", "9112 7.1"}, "0x5\r\nhello\r\n0\r\n\r\n"},
    {Part::chunks, {"chunk size with minus", "9112 7.1"}, "-5\r\nhello\r\n0\r\n\r\n"},
    {Part::chunks,
     {"chunk size above 2^64", "9112 7.1"},
     "10000000000000005\r\nhello\r\n0\r\n\r\n"},
    {Part::chunks, {"chunk line ends in LF", "9112 2.2"}, "5\nhello\n0\n\n"},
    {Part::chunks, {"LF in a chunk extension", "9112 7.1.1"}, "5;\nx\r\nhello\r\n0\r\n\r\n"},
    {Part::chunks, {"chunk without its end", "9112 7.1"}, "5\r\nhello0\r\n\r\n"},
    {Part::chunks, {"chunk longer than its size", "9112 7.1"}, "3\r\nhello\r\n0\r\n\r\n"},
    {Part::chunks, {"trailer", "9112 7.1.2"}, "5\r\nhello\r\n0\r\nX-T: v\r\n\r\n"},
    {Part::chunks,
     {"framing in a trailer", "9110 6.5.1"},
     "5\r\nhello\r\n0\r\nContent-Length: 9\r\n\r\n"},
    {Part::chunks, {"Host in a trailer", "9110 6.5.1"}, "5\r\nhello\r\n0\r\nHost: b\r\n\r\n"},
    {Part::chunks, {"bad trailer", "9112 7.1.2"}, "5\r\nhello\r\n0\r\nX T\r\n\r\n"},
    {Part::chunks, {"last chunk alone", "9112 7.1"}, "0\r\n\r\n"},
    {Part::beginning, {"empty line first", "9112 2.2"}, "\r\n"},
    {Part::beginning, {"LF first", "9112 2.2"}, "\n"},
    {Part::beginning, {"blank first", "9112 3"}, " "},
});

std::string request(const std::array<string_view, 9>& parts) {
  const auto part = [&](Part which) { return parts[static_cast<std::size_t>(which)]; };
  const auto in_place_of = [&](Part which, string_view usual) {
    return part(which).data() != nullptr ? part(which) : usual;
  };
  const bool has_body =
      part(Part::framing).data() != nullptr || part(Part::chunks).data() != nullptr;
  const string_view blank = in_place_of(Part::separator, " ");
  std::string text(part(Part::beginning));
  text.append(in_place_of(Part::method, has_body ? "POST" : "GET")).append(blank);
  text.append(in_place_of(Part::target, "/first")).append(blank);
  text.append(in_place_of(Part::version, "HTTP/1.1")).append("\r\n");
  text.append(in_place_of(Part::host, "Host: a.example\r\n")).append(part(Part::line));
  if (part(Part::framing).data() != nullptr) {
    text += part(Part::framing);
  } else if (part(Part::chunks).data() != nullptr) {
    text.append("Transfer-Encoding: chunked\r\n\r\n").append(part(Part::chunks));
  } else {
    text += "\r\n";
  }
  return text;
}

std::string plain(string_view path, string_view lines) {
  return std::string("GET ").append(path).append(" HTTP/1.1\r\nHost: a.example\r\n").append(lines) +
         "\r\n";
}

}  // namespace

Stream stream_of(std::uint64_t seed) {
  Random random(seed);
  std::array<string_view, 9> parts{};
  Stream stream;
  // Each alone for the first seeds, then two or three of different parts.
  const std::size_t count = seed < kEntries.size() ? 1 : random.between(2, 3);
  for (std::size_t n = 0; n < count; ++n) {
    const Entry& entry =
        seed < kEntries.size() ? kEntries[seed] : kEntries[random.below(kEntries.size())];
    string_view& part = parts[static_cast<std::size_t>(entry.part)];
    if (part.data() != nullptr) continue;
    part = entry.text;
    stream.oddities.push_back(entry.oddity.name);
  }
  stream.bytes = request(parts) + plain(kSecond, "") + plain(kEnd, "Connection: close\r\n");
  return stream;
}

const std::vector<Oddity>& oddities() {
  static const std::vector<Oddity> all = [] {
    std::vector<Oddity> found;
    for (const Entry& entry : kEntries) found.push_back(entry.oddity);
    return found;
  }();
  return all;
}

}  // namespace spillway::differential
