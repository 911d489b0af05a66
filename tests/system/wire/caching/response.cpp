#include "system/wire/caching/response.hpp"

#include <chrono>
#include <ctime>
#include <optional>

namespace spillway::wire::caching {

namespace {

// The first two segments: "/fresh/12/p?a=1" is below "/fresh/12".
std::string base_of(const std::string& target) {
  return target.substr(0, target.find_first_of("/?", target.find('/', 1) + 1));
}

std::optional<std::string> line_value(const Response& response, std::string_view name) {
  for (const std::string& line : response.lines) {
    const std::size_t colon = line.find(':');
    if (support::find({{line.substr(0, colon), ""}}, name)) return line.substr(colon + 2);
  }
  return std::nullopt;
}

bool names_this(const Response& response, const Message& request) {
  if (const auto tags = request.field("If-None-Match")) {
    const auto tag = line_value(response, "ETag");
    return tag && tags->find(*tag) != std::string::npos;
  }
  const auto since = request.field("If-Modified-Since");
  return since && since == line_value(response, "Last-Modified");
}

bool wants_part(const Response& response, const Message& request) {
  const auto condition = request.field("If-Range");
  return request.field("Range") == "bytes=0-2" &&
         (!condition || condition == line_value(response, "ETag"));
}

std::string status_line(int status) { return "HTTP/1.1 " + std::to_string(status) + " Said\r\n"; }

// The message's bytes; what is missing at the end of a cut-off one never comes.
std::string on_the_wire(Response response, std::size_t number, const Message& request) {
  std::string body = numbered_body(number);
  if (response.validates && names_this(response, request)) response.status = 304;
  if (response.ranges && wants_part(response, request)) {
    response.status = 206;
    response.lines.push_back("Content-Range: bytes 0-2/" + std::to_string(body.size()));
    body.resize(3);
  }
  std::string text = status_line(response.status);
  if (!response.undated && !line_value(response, "Date")) {
    response.lines.push_back("Date: " + date());
  }
  for (const std::string& line : response.lines) {
    // What a 304 may say of the length would not be true of a 200.
    if (response.status != 304 && line.starts_with("Content-Length:")) continue;
    text += with_base(line, base_of(request.target())) + "\r\n";
  }
  if (response.status == 204 || response.status == 304) return text + "\r\n";
  const bool bodiless = request.method() == "HEAD";
  switch (response.framing) {
    case Framing::nothing: return {};
    case Framing::until_close: text += "Connection: close\r\n\r\n"; break;
    case Framing::chunked:
    case Framing::cut_off_chunked: {
      text += "Transfer-Encoding: chunked\r\n\r\n";
      std::string trailers;
      for (const std::string& line : response.trailers) trailers += line + "\r\n";
      body = support::chunked({body.substr(0, 3), body.substr(3)}, trailers);
      if (response.framing == Framing::cut_off_chunked) body.resize(body.find("0\r\n\r\n"));
      break;
    }
    case Framing::length:
    case Framing::cut_off:
      text += "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n";
      if (response.framing == Framing::cut_off) body.resize(3);
      break;
  }
  return bodiless ? text : text + body;
}

}  // namespace

Response::operator Answer() const {
  Answer answer;
  answer.writes = [response = *this](const Message& request, std::size_t number) {
    return on_the_wire(response, number, request);
  };
  answer.pieces = {""};
  if (framing != Framing::length && framing != Framing::chunked) answer.closing();
  answer.repeats = framing == Framing::nothing;
  return answer;
}

Response says(int status, Lines lines) { return {.status = status, .lines = std::move(lines)}; }

Response framed(Framing framing, Response response) {
  response.framing = framing;
  return response;
}

Response validating(Response response) {
  response.validates = true;
  return response;
}

Response with_ranges(Response response) {
  response.ranges = true;
  return response;
}

std::string date(int seconds) {
  static const std::time_t begin =
      std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  const std::time_t at = begin + seconds;
  std::tm parts{};
  ::gmtime_r(&at, &parts);
  char text[64];
  const std::size_t size = std::strftime(text, sizeof text, "%a, %d %b %Y %H:%M:%S GMT", &parts);
  return {text, size};
}

Step ask(std::string_view method, const Lines& lines, std::string_view body, std::string_view path,
         std::string_view host) {
  std::string bytes(method);
  bytes.append(" {base}").append(path).append(" HTTP/1.1\r\nHost: ").append(host).append("\r\n");
  for (const std::string& line : lines) bytes.append(line).append("\r\n");
  if (!body.empty()) bytes += "Content-Length: " + std::to_string(body.size()) + "\r\n";
  return sends(bytes.append("\r\n").append(body)).succeeds();
}

Verdict part_or_whole(const Observation& seen) {
  const Message& response = seen.responses.at(0);
  const std::size_t size = response.status() == 206 ? 3 : numbered_body(1).size();
  return response.body.size() == size ? "" : "neither the part nor the whole";
}

}  // namespace spillway::wire::caching
