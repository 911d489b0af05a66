// Answers of an origin whose responses are stored, and requests for them.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "system/wire/case.hpp"

namespace spillway::wire::caching {

using Lines = std::vector<std::string>;  // "Name: value", without line ends

enum class Framing {
  length,
  chunked,
  until_close,
  cut_off,          // closed before the bytes that Content-Length promises have come
  cut_off_chunked,  // closed before the last chunk
  nothing,          // closed without a byte, also when asked again within the step
};

// Its body is numbered_body(). "{base}" in a line stands for the path of the case.
struct Response {
  int status = 200;
  Lines lines;  // without Content-Length; Date is added unless `undated` or here
  Framing framing = Framing::length;
  bool undated = false;
  // 304 instead when the request's If-None-Match or If-Modified-Since names this very response.
  bool validates = false;
  // 206 instead, with the first three bytes, for "Range: bytes=0-2" (unless If-Range fails).
  bool ranges = false;
  Lines trailers;  // of a chunked body

  operator Answer() const;
};

Response says(int status, Lines lines);
inline Response says(Lines lines) { return says(200, std::move(lines)); }
Response framed(Framing framing, Response response);
Response validating(Response response);
Response with_ranges(Response response);
inline Response fails() { return framed(Framing::nothing, says({})); }

// An HTTP-date so many seconds after the program began (before, if negative).
std::string date(int seconds = 0);

// A request for the path of the case with `path` behind it. 200 is expected unless something is
// said of the status.
Step ask(std::string_view method, const Lines& lines = {}, std::string_view body = {},
         std::string_view path = {}, std::string_view host = "a.example");
inline Step get(const Lines& lines = {}) { return ask("GET", lines); }
inline Step head(const Lines& lines = {}) { return ask("HEAD", lines); }
inline Step post(const Lines& lines = {}) { return ask("POST", lines, "x"); }
inline Step get_at(std::string_view path, std::string_view host = "a.example") {
  return ask("GET", {}, {}, path, host);
}
inline Step get_of(std::string_view host) { return get_at({}, host); }
inline Step post_at(std::string_view path) { return ask("POST", {}, "x", path); }

// A 206 with the first three bytes, or all.
Verdict part_or_whole(const Observation& seen);

}  // namespace spillway::wire::caching
