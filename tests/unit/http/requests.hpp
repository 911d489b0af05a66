// Reads a whole request head as the proxy does: scan, parse, framing.
#pragma once

#include <string>
#include <string_view>

#include "http/framing.hpp"
#include "http/head.hpp"
#include "http/scan.hpp"

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

}  // namespace spillway::http
