#include "system/caching/origin.hpp"

#include <algorithm>
#include <utility>

namespace spillway::caching {

namespace {

std::optional<std::string> line_value(const Answer& answer, std::string_view name) {
  for (const std::string& line : answer.lines) {
    const std::size_t colon = line.find(':');
    if (support::find({{line.substr(0, colon), ""}}, name)) return line.substr(colon + 2);
  }
  return std::nullopt;
}

bool names_this(const Answer& answer, const Message& request) {
  if (const auto tags = request.field("If-None-Match")) {
    const auto tag = line_value(answer, "ETag");
    return tag && tags->find(*tag) != std::string::npos;
  }
  const auto since = request.field("If-Modified-Since");
  return since && since == line_value(answer, "Last-Modified");
}

bool wants_part(const Answer& answer, const Message& request) {
  const auto condition = request.field("If-Range");
  return request.field("Range") == "bytes=0-2" &&
         (!condition || condition == line_value(answer, "ETag"));
}

std::string status_line(int status) { return "HTTP/1.1 " + std::to_string(status) + " Said\r\n"; }

// The message's bytes; what is missing at the end of a cut-off one never comes.
std::string on_the_wire(Answer answer, std::size_t number, const Message& request,
                        std::string_view base) {
  std::string body = body_of_answer(number);
  if (answer.validates && names_this(answer, request)) answer.status = 304;
  if (answer.ranges && wants_part(answer, request)) {
    answer.status = 206;
    answer.lines.push_back("Content-Range: bytes 0-2/" + std::to_string(body.size()));
    body.resize(3);
  }
  std::string text = status_line(answer.status);
  if (!answer.undated && !line_value(answer, "Date")) answer.lines.push_back("Date: " + date());
  for (const std::string& line : answer.lines) {
    // What a 304 may say of the length would not be true of a 200.
    if (answer.status != 304 && line.starts_with("Content-Length:")) continue;
    text += with_base(line, base) + "\r\n";
  }
  if (answer.status == 204 || answer.status == 304) return text + "\r\n";
  const bool bodiless = request.method() == "HEAD";
  switch (answer.framing) {
    case Framing::nothing: return {};
    case Framing::until_close: text += "Connection: close\r\n\r\n"; break;
    case Framing::chunked:
    case Framing::cut_off_chunked: {
      text += "Transfer-Encoding: chunked\r\n\r\n";
      std::string trailers;
      for (const std::string& line : answer.trailers) trailers += line + "\r\n";
      body = support::chunked({body.substr(0, 3), body.substr(3)}, trailers);
      if (answer.framing == Framing::cut_off_chunked) body.resize(body.find("0\r\n\r\n"));
      break;
    }
    case Framing::length:
    case Framing::cut_off:
      text += "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n";
      if (answer.framing == Framing::cut_off) body.resize(3);
      break;
  }
  return bodiless ? text : text + body;
}

// The first three segments: "/a/b/c/d?e" is below "/a/b/c".
std::string base_of(const std::string& target) {
  std::size_t end = 0;
  for (int segment = 0; segment < 3 && end != std::string::npos; ++segment) {
    end = target.find_first_of("/?", end + 1);
  }
  return target.substr(0, end);
}

}  // namespace

std::string with_base(std::string text, std::string_view base) {
  constexpr std::string_view kMark = "{base}";
  for (std::size_t at = 0; (at = text.find(kMark, at)) != std::string::npos; at += base.size()) {
    text.replace(at, kMark.size(), base);
  }
  return text;
}

Origin::Origin() : peer_([this](support::PeerConnection& connection) { serve(connection); }) {}

void Origin::take_part(const std::string& base, const std::vector<Answer>& answers) {
  const std::lock_guard lock(mutex_);
  parts_[base] = {.answers = answers};
}

std::pair<Answer, std::size_t> Origin::take_turn(const std::string& base, const Message& request) {
  const std::lock_guard lock(mutex_);
  Part& part = parts_[base];
  part.asked.push_back(request);
  changed_.notify_all();
  if (part.turn >= part.answers.size()) return {says({"Cache-Control: no-store"}), ++part.turn};
  const Answer& answer = part.answers[part.turn];
  part.failing = answer.framing == Framing::nothing;
  return {answer, part.failing ? 0 : ++part.turn};
}

void Origin::serve(support::PeerConnection& connection) {
  while (const auto request = connection.read_request()) {
    const std::string base = base_of(request->target());
    const auto [answer, number] = take_turn(base, *request);
    if (!connection.send(on_the_wire(answer, number, *request, base))) return;
    if (answer.framing != Framing::length && answer.framing != Framing::chunked) return;
  }
}

void Origin::end_failure(const std::string& base) {
  const std::lock_guard lock(mutex_);
  Part& part = parts_.at(base);
  if (std::exchange(part.failing, false)) ++part.turn;
}

std::size_t Origin::times_asked(const std::string& base) const {
  const std::lock_guard lock(mutex_);
  return parts_.at(base).asked.size();
}

std::vector<Message> Origin::asked(const std::string& base, std::size_t since) const {
  const std::lock_guard lock(mutex_);
  const std::vector<Message>& all = parts_.at(base).asked;
  return {all.begin() + static_cast<std::ptrdiff_t>(since), all.end()};
}

bool Origin::wait_asked(const std::string& base, std::size_t times,
                        support::Milliseconds within) const {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, within, [&] { return parts_.at(base).asked.size() >= times; });
}

}  // namespace spillway::caching
