#include "system/wire/messages.hpp"

#include <utility>

namespace spillway::conformance {

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

std::string smuggled() { return "GET /smuggled HTTP/1.1\r\nHost: a.example\r\n\r\n"; }

}  // namespace spillway::conformance
