// Clients that mean harm: requests that might be read as two, bytes that are no HTTP, heads without
// measure. The backend watches for what must never reach it.
#include <array>
#include <string>

#include "system/soak/clients.hpp"
#include "system/soak/expected.hpp"

namespace spillway::soak {

namespace {

using namespace std::string_view_literals;

// What follows each of these is what they want to smuggle.
constexpr std::array kHeads{
    "POST /calm/x HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"sv,
    "POST /calm/x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n"sv,
    "POST /calm/x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip\r\n\r\n"sv,
    "POST /calm/x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked, gzip\r\n\r\n"sv,
    "POST /calm/x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: xchunked\r\nContent-Length: 3\r\n\r\n"sv,
    "POST /calm/x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: \x0b"
    "chunked\r\n\r\n0\r\n\r\n"sv,
    "POST /calm/x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding : chunked\r\n\r\n0\r\n\r\n"sv,
    "POST /calm/x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n"sv,
    "POST /calm/x HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"sv,
    "POST /calm/x HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\nContent-Length: 5\r\n\r\n"sv,
    "POST /calm/x HTTP/1.1\r\nHost: a\r\nContent-Length: 0, 0\r\n\r\n"sv,
    "POST /calm/x HTTP/1.1\r\nHost: a\r\nContent-Length: +0\r\n\r\n"sv,
    "POST /calm/x HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n"sv,
    "POST /calm/x HTTP/1.1\r\nHost: a\r\nContent-Length: 18446744073709551616\r\n\r\n"sv,
    "POST /calm/x HTTP/1.1\r\nHost: a\r\nContent-Length: 0x0\r\n\r\n"sv,
    "GET /calm/x HTTP/1.1\nHost: a\n\n"sv,
    "GET /calm/x HTTP/1.1\r\nHost: a\r\nX: a\r\n folded\r\n\r\n"sv,
    "GET /calm/x HTTP/1.1\r\nHost: a\r\nX: a\0b\r\n\r\n"sv,
    "GET /calm/x HTTP/1.1\r\nHost: a\r\nX: a\rb\r\n\r\n"sv,
    "GET /calm/x HTTP/1.1\r\n\r\n"sv,
    "GET /calm/x HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n"sv,
    "GET /calm/x HTTP/1.1\r\nHost: a b\r\n\r\n"sv,
    "GET /calm/x y HTTP/1.1\r\nHost: a\r\n\r\n"sv,
    "G\x01T /calm/x HTTP/1.1\r\nHost: a\r\n\r\n"sv,
    "GET /calm/x HTTP/3.7\r\nHost: a\r\n\r\n"sv,
    "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"sv,
    "CONNECT a:80 HTTP/1.1\r\nHost: a:80\r\n\r\n"sv,
    "POST /calm/x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0x5\r\nhello\r\n0\r\n\r\n"sv,
    "POST /calm/x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n10000000000000005\r\nhello\r\n0\r\n\r\n"sv,
    "POST /calm/x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n-5\r\nhello\r\n0\r\n\r\n"sv,
    "POST /calm/x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5;a=\"\n\"\r\nhello\r\n0\r\n\r\n"sv,
    "POST /calm/x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhelloX\r\n0\r\n\r\n"sv,
    "POST /calm/x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\nhello\n0\n\n"sv,
};

}  // namespace

void smuggle(Player& player) {
  Wire wire = player.connect();
  const std::string_view head = player.random.pick(kHeads);
  std::string text(head);
  text.append("GET /").append(kSmuggled).append(" HTTP/1.1\r\nHost: a\r\n\r\n");
  // Whole, or in two pieces.
  const std::size_t cut = player.random.below(text.size());
  wire.send(text.substr(0, cut), kPatience);
  if (player.random.chance(0.5)) player.pause(player.random.below(10));
  wire.send(text.substr(cut), kPatience);
  player.take_end(wire);
  const std::string& answer = wire.received();
  const bool refused = answer.empty() || answer.starts_with("HTTP/1.1 4") ||
                       answer.starts_with("HTTP/1.1 5") || answer.starts_with("HTTP/1.0 4");
  if (refused && answer.find(kBackendField) == std::string::npos) {
    player.count(answer.empty() ? End::ended : End::refused);
  } else {
    player.fail(End::wrong, "answered: " + answer.substr(0, 100) + " to " + std::string(head));
  }
  player.pause(player.random.between(5, 40));
}

void garble(Player& player) {
  Random& random = player.random;
  Wire wire = player.connect();
  std::string text;
  if (random.chance(0.5)) {
    for (std::size_t n = random.between(1, 5000); n > 0; --n)
      text += static_cast<char>(random.below(256));
  } else {  // almost a request
    Asked asked{.target = player.target("calm"), .method = random.chance(0.5) ? "POST" : "GET"};
    asked.body = body_of("body\n", random.below(200));
    text = Player::request(asked);
    for (std::size_t n = random.between(1, 4); n > 0; --n) {
      const std::size_t at = random.below(text.size());
      const std::size_t how = random.below(3);
      if (how == 0) text[at] = static_cast<char>(random.below(256));
      if (how == 1) text.erase(at, random.between(1, 8));
      if (how == 2) text.insert(at, 1, static_cast<char>(random.below(256)));
      if (text.empty()) text = "\r\n";
    }
  }
  wire.send(text, kPatience);
  wire.half_close();
  player.take_end(wire);
  player.count(wire.received().empty() ? End::ended : End::refused);
  player.pause(random.between(5, 40));
}

void huge_head(Player& player) {
  Random& random = player.random;
  Wire wire = player.connect();
  Asked asked{.target = player.target("calm")};
  const std::size_t size =
      random.chance(0.5) ? random.between(8'000, 58'000) : random.between(60'000, 200'000);
  // Those that are too large are refused, wherever exactly the border lies.
  asked.may_refuse = size >= 60'000;
  asked.may_end = size >= 66'000;
  const bool is_one = random.chance(0.5);
  while (asked.more_lines.size() < size) {
    asked.more_lines += "X-Huge: " + std::string(is_one ? size : size / 40, 'h') + "\r\n";
  }
  player.ask(wire, asked);
  player.pause(random.between(10, 60));
}

}  // namespace spillway::soak
