#include "system/wire/messages.hpp"

#include <utility>

namespace spillway::wire {

Answer raw(std::string bytes) {
  Answer answer;
  answer.pieces.push_back(std::move(bytes));
  return answer;
}

Answer raw_pieces(std::vector<std::string> pieces) {
  Answer answer;
  answer.pieces = std::move(pieces);
  return answer;
}

Answer ok(std::string_view body, std::string_view lines) {
  return raw("HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(body.size()) + "\r\n" +
             std::string(lines) + "\r\n" + std::string(body));
}

std::string numbered_body(std::size_t number) { return "answer " + std::to_string(number); }

std::string get(std::string_view target, std::string_view lines) {
  return "GET " + std::string(target) + " HTTP/1.1\r\nHost: a.example\r\n" + std::string(lines) +
         "\r\n";
}

std::string post(std::string_view body, std::string_view lines) {
  return framed("Content-Length: " + std::to_string(body.size()) + "\r\n" + std::string(lines),
                body);
}

std::string framed(std::string_view lines, std::string_view rest) {
  return "POST / HTTP/1.1\r\nHost: a.example\r\n" + std::string(lines) + "\r\n" + std::string(rest);
}

std::string chunked_post(std::string_view chunks, std::string_view lines) {
  return framed("Transfer-Encoding: chunked\r\n" + std::string(lines), chunks);
}

std::string many_fields(std::size_t count) {
  std::string lines;
  for (std::size_t n = 0; n < count; ++n) lines += "X-" + std::to_string(n) + ": 1\r\n";
  return lines;
}

std::string long_fields(std::size_t count) {
  std::string lines;
  for (std::size_t n = 0; n < count; ++n) lines += "X-A: " + std::string(993, 'x') + "\r\n";
  return lines;
}

std::string smuggled() { return "GET /smuggled HTTP/1.1\r\nHost: a.example\r\n\r\n"; }

std::string joined(const support::Fields& fields, std::string_view name) {
  std::string all;
  for (const auto& field : fields) {
    if (support::find({field}, name)) all += (all.empty() ? "" : ", ") + field.second;
  }
  return all;
}

std::string with_base(std::string text, std::string_view base) {
  constexpr std::string_view kMark = "{base}";
  for (std::size_t at = 0; (at = text.find(kMark, at)) != std::string::npos; at += base.size()) {
    text.replace(at, kMark.size(), base);
  }
  return text;
}

std::string shown(std::string text) {
  if (text.size() > 120) text = text.substr(0, 120) + "...";
  std::string all;
  for (const char c : text) {
    if (c == '\r') {
      all += "\\r";
    } else if (c == '\n') {
      all += "\\n";
    } else {
      all += static_cast<unsigned char>(c) < 32 || c == 127 ? '?' : c;
    }
  }
  return all;
}

}  // namespace spillway::wire
