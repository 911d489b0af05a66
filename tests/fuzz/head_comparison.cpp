#include "fuzz/head_comparison.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/beast/http/basic_parser.hpp>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "http/field/ascii.hpp"
#include "http/message/framing.hpp"
#include "http/message/scan.hpp"

namespace spillway::fuzz {
namespace {

namespace beast = boost::beast;

using http::Error;
using http::Scan;
using http::Verb;
using Kind = http::Framing::Kind;

struct ReadField {
  http::FieldId id = http::FieldId::unknown;
  std::string name;
  std::string value;
  bool operator==(const ReadField&) const = default;
};

// A head as one of the two parsers reads it.
struct Reading {
  enum class State { need_more, refused, accepted };
  State state = State::need_more;
  Error error = Error::none;  // ours only, when refused
  std::string start_line;     // its parts, joined by '|'
  std::vector<ReadField> fields;
  http::Framing framing;
  bool keep_alive = false;
  std::size_t end = 0;  // the head's, as an offset in what was received
};

// --- Beast

template <bool kRequest>
class BeastParser final : public beast::http::basic_parser<kRequest> {
 public:
  static Reading read(std::string_view received, Verb request_method) {
    BeastParser parser;
    parser.header_limit(UINT32_MAX);
    parser.body_limit(boost::none);
    parser.skip(!kRequest && request_method == Verb::head);
    beast::error_code ec;
    parser.reading_.end = parser.put(boost::asio::buffer(received.data(), received.size()), ec);
    if (ec == beast::http::error::need_more) return {};
    if (ec || !parser.is_header_done()) {
      parser.reading_.state = Reading::State::refused;
    } else {
      parser.reading_.state = Reading::State::accepted;
      parser.reading_.framing = parser.framing();
      parser.reading_.keep_alive = parser.keep_alive();
    }
    return std::move(parser.reading_);
  }

 private:
  http::Framing framing() const {
    if (this->is_done()) return {};
    if (this->chunked()) return {Kind::chunked, 0};
    if (const auto length = this->content_length()) return {Kind::length, *length};
    return {Kind::until_close, 0};
  }

  void on_request_impl(Verb, beast::string_view method, beast::string_view target, int version,
                       beast::error_code&) override {
    reading_.start_line =
        std::string(method) + "|" + std::string(target) + "|" + std::to_string(version);
  }
  void on_response_impl(int status, beast::string_view reason, int version,
                        beast::error_code&) override {
    reading_.start_line =
        std::to_string(status) + "|" + std::string(reason) + "|" + std::to_string(version);
  }
  void on_field_impl(http::FieldId id, beast::string_view name, beast::string_view value,
                     beast::error_code&) override {
    reading_.fields.push_back({id, std::string(name), std::string(value)});
  }
  void on_header_impl(beast::error_code&) override {}
  void on_body_init_impl(const boost::optional<std::uint64_t>&, beast::error_code&) override {}
  std::size_t on_body_impl(beast::string_view body, beast::error_code&) override {
    return body.size();
  }
  void on_chunk_header_impl(std::uint64_t, beast::string_view, beast::error_code&) override {}
  std::size_t on_chunk_body_impl(std::uint64_t, beast::string_view body,
                                 beast::error_code&) override {
    return body.size();
  }
  void on_finish_impl(beast::error_code&) override {}

  Reading reading_;
};

// --- ours

std::string start_line_of(const http::RequestHead& head) {
  return std::string(head.method_name) + "|" + std::string(head.target) + "|" +
         std::to_string(head.version);
}

std::string start_line_of(const http::ResponseHead& head) {
  return std::to_string(head.status) + "|" + std::string(head.reason_phrase) + "|" +
         std::to_string(head.version);
}

Error parse(std::string_view block, Verb, http::RequestHead& head) {
  const Error error = http::parse_request(block, head);
  return error == Error::none ? http::request_framing(head) : error;
}

Error parse(std::string_view block, Verb request_method, http::ResponseHead& head) {
  const Error error = http::parse_response(block, head);
  return error == Error::none ? http::response_framing(head, request_method) : error;
}

template <class Head>
Reading read_ours(std::string_view received, const Scan& scan, Verb request_method) {
  if (scan.state == Scan::State::need_more) return {};
  Reading reading;
  reading.state = Reading::State::refused;
  reading.error = scan.error;
  if (scan.state == Scan::State::invalid) return reading;
  Head head;
  reading.error = parse(received.substr(scan.begin, scan.end - scan.begin), request_method, head);
  if (reading.error != Error::none) return reading;
  reading.state = Reading::State::accepted;
  reading.start_line = start_line_of(head);
  for (const http::Field& field : head.fields) {
    reading.fields.push_back({field.id, std::string(field.name), std::string(field.value)});
  }
  reading.framing = head.framing;
  reading.keep_alive = head.keep_alive;
  reading.end = scan.end;
  return reading;
}

// --- where they may differ

// What Beast accepts and we refuse.
bool may_refuse(Error error) {
  switch (error) {
    case Error::obs_fold:        // a proxy may reject line folding (RFC 9112 5.2); Beast joins it
    case Error::bad_framing:     // a coding that is not chunked, or in HTTP/1.0; a length that is
                                 // repeated, a list or above 2^63 (RFC 9112 6.1, 6.3)
    case Error::unknown_coding:  // chunked after a coding that we cannot decode (RFC 9112 6.1)
    case Error::bad_host:        // missing, repeated or malformed (RFC 9112 3.2)
    case Error::bad_target:      // Beast takes any visible characters (RFC 9112 3.2)
    case Error::bad_method:      // GET in small letters is another method (RFC 9110 9.1)
    case Error::method_refused:  // CONNECT and TRACE (RFC 9110 9.3.6, 9.3.8)
    case Error::expectation_failed:  // RFC 9110 10.1.1
    case Error::bad_status_line:     // a status below 100 (RFC 9110 15)
    case Error::bad_field:           // more connection options than kMaxConnectionOptions
    case Error::too_many_fields:     // our limits; Beast is given none
    case Error::head_too_large:
    case Error::uri_too_long: return true;
    default: return false;
  }
}

// Whether Beast's keep_alive() is what RFC 9112 section 9.3 says.
bool beast_keeps_alive_by_the_rfc(const Reading& beast) {
  bool close = false;
  bool keep_alive = false;
  for (const ReadField& field : beast.fields) {
    // Beast takes Proxy-Connection for Connection; to HTTP it is a field without a meaning
    // (RFC 9112 appendix C.2.2).
    if (field.id == http::FieldId::proxy_connection) return false;
    if (field.id != http::FieldId::connection) continue;
    http::for_each_element(field.value, [&](std::string_view option) {
      close = close || http::iequals(option, "close");
      keep_alive = keep_alive || http::iequals(option, "keep-alive");
    });
  }
  // Beast lets "keep-alive" win over "close" in HTTP/1.0; by the RFC "close" always wins.
  return !(close && keep_alive);
}

std::string difference(const Reading& ours, const Reading& beast) {
  if (ours.start_line != beast.start_line) {
    return "the start line is " + ours.start_line + " or " + beast.start_line;
  }
  if (ours.fields != beast.fields) return "the fields differ";
  if (ours.end != beast.end) {
    return "the head ends at " + std::to_string(ours.end) + " or " + std::to_string(beast.end);
  }
  if (ours.framing.kind != beast.framing.kind || ours.framing.length != beast.framing.length) {
    return "the body ends elsewhere";
  }
  if (ours.keep_alive != beast.keep_alive && beast_keeps_alive_by_the_rfc(beast)) {
    return "only one keeps the connection open";
  }
  return {};
}

std::string disagreement(const Reading& ours, const Reading& beast) {
  using State = Reading::State;
  if (ours.state == State::accepted && beast.state == State::accepted) {
    return difference(ours, beast);
  }
  if (ours.state == State::accepted) return "Beast does not accept what we accept";
  if (beast.state != State::accepted) return {};
  if (ours.state == State::need_more) return "we await more of what Beast has read to its end";
  if (may_refuse(ours.error)) return {};
  return "we refuse for no listed reason: " + std::string(http::describe(ours.error));
}

// What Beast refuses and we take: RFC 9110 section 2.5 has a higher minor version read as HTTP/1.1,
// and some servers leave out the blank behind the status.
std::string as_beast_takes(std::string_view received, bool of_request) {
  std::string text(received);
  const std::size_t end = text.find("\r\n");
  if (!of_request && end == std::string_view("HTTP/1.1 200").size()) text.insert(end, 1, ' ');
  if (end == std::string::npos || end < 8) return text;
  const std::size_t minor = of_request ? end - 1 : 7;
  const bool is_higher = text.compare(minor - 7, 7, "HTTP/1.") == 0 &&
                         http::is_digit(text[minor]) && text[minor] > '1';
  if (is_higher) text[minor] = '1';
  return text;
}

template <class Head>
HeadComparison compare(std::string_view received, Verb request_method) {
  constexpr bool kRequest = std::is_same_v<Head, http::RequestHead>;
  http::HeadScanner scanner(kRequest ? http::HeadScanner::Kind::request
                                     : http::HeadScanner::Kind::response);
  const Scan scan = scanner.scan(received);
  const Reading ours = read_ours<Head>(received, scan, request_method);
  // Beast refuses empty lines before a request line, which a server should ignore (RFC 9112 2.2):
  // it is given what comes after them.
  const std::string_view from_start = received.substr(scan.begin);
  const std::string for_beast = as_beast_takes(from_start, kRequest);
  Reading beast = BeastParser<kRequest>::read(for_beast, request_method);
  beast.end += scan.begin;
  beast.end -= for_beast.size() - from_start.size();
  return {ours.state == Reading::State::accepted, beast.state == Reading::State::accepted,
          disagreement(ours, beast)};
}

}  // namespace

HeadComparison compare_request(std::string_view received) {
  return compare<http::RequestHead>(received, Verb::unknown);
}

HeadComparison compare_response(std::string_view received, Verb request_method) {
  return compare<http::ResponseHead>(received, request_method);
}

}  // namespace spillway::fuzz
