// Reads a whole head as the proxy does: scan, parse, framing; and writes the head that goes on.
#pragma once

#include <doctest/doctest.h>

#include <string>
#include <string_view>

#include "http/message/framing.hpp"
#include "http/message/head.hpp"
#include "http/message/scan.hpp"
#include "http/outgoing/rewrite.hpp"

namespace spillway::http {

// The head keeps views of `text`: it must live on.
inline Error read_request(std::string_view text, RequestHead& head) {
  HeadScanner scanner(HeadScanner::Kind::request);
  const Scan scan = scanner.scan(text);
  if (scan.state == Scan::State::invalid) return scan.error;
  if (scan.state == Scan::State::need_more) return Error::truncated;
  const Error error = parse_request(text.substr(scan.begin, scan.end - scan.begin), head);
  return error != Error::none ? error : request_framing(head);
}

inline Error read_response(std::string_view text, Verb method, ResponseHead& head) {
  HeadScanner scanner(HeadScanner::Kind::response);
  const Scan scan = scanner.scan(text);
  if (scan.state == Scan::State::invalid) return scan.error;
  if (scan.state == Scan::State::need_more) return Error::truncated;
  const Error error = parse_response(text.substr(scan.begin, scan.end - scan.begin), head);
  return error != Error::none ? error : response_framing(head, method);
}

inline const ForwardedRequest kClient{.client_address = "192.0.2.7"};

// The head that reaches the upstream.
inline std::string forward(const std::string& text, const ForwardedRequest& with) {
  RequestHead head;
  REQUIRE(read_request(text, head) == Error::none);
  std::string block(text.size() + kRewriteRoom, '\0');
  TextWriter out(block);
  REQUIRE(write_request_head(out, head, with));
  return std::string(out.text());
}

inline bool has_line(const std::string& head, const std::string& line) {
  return head.find("\r\n" + line + "\r\n") != std::string::npos;
}

inline bool has_field(const std::string& head, const std::string& name) {
  return head.find("\r\n" + name + ":") != std::string::npos;
}

}  // namespace spillway::http
