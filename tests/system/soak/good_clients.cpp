// Clients that do everything right, of whom none may ever get anything but the right answer.
#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "system/soak/clients.hpp"
#include "system/soak/expected.hpp"

namespace spillway::soak {

namespace {

constexpr std::array<std::size_t, 9> kSizes{0, 1, 64, 500, 4096, 20'000, 65'536, 200'000, 1 << 20};
constexpr std::array<std::string_view, 3> kFramings{"length", "chunked", "close"};

std::string sized(Player& player) {
  // Small ones most of the time, as anywhere.
  const std::size_t size =
      player.random.chance(0.8) ? player.random.below(3000) : player.random.pick(kSizes);
  std::string parameters = "size=" + std::to_string(size);
  if (player.random.chance(0.4))
    parameters += "&framing=" + std::string(player.random.pick(kFramings));
  if (player.random.chance(0.1)) parameters += "&interim=2";
  if (player.random.chance(0.2)) parameters += "&delay=" + std::to_string(player.random.below(20));
  return parameters;
}

}  // namespace

void keep_alive(Player& player) {
  Wire wire = player.connect();
  for (std::size_t left = player.random.between(1, 60); left > 0 && !player.ending(); --left) {
    Asked asked{.target = player.target("calm", sized(player))};
    if (player.random.chance(0.05)) asked.method = "HEAD";
    if (!player.ask(wire, asked)) return;
    player.pause(player.random.below(4));
  }
}

void post(Player& player) {
  Wire wire = player.connect();
  for (std::size_t left = player.random.between(1, 20); left > 0 && !player.ending(); --left) {
    Asked asked{.target = player.target("calm", "a=b"),
                .method = player.random.chance(0.8) ? "POST" : "PUT"};
    const std::size_t size = player.random.chance(0.6)   ? player.random.between(1, 2000)
                             : player.random.chance(0.7) ? player.random.between(60'000, 70'000)
                                                         : player.random.between(100'000, 600'000);
    asked.body = body_of(asked.target + "\n", size);
    std::string head = Player::head(asked);
    std::string body = asked.body;
    if (player.random.chance(0.4)) {
      const std::size_t cut = player.random.between(1, size);
      std::vector<std::string> parts{body.substr(0, cut), body.substr(cut)};
      std::erase(parts, "");
      body = support::chunked(parts, player.random.chance(0.3) ? "X-Sum: 1\r\n" : "");
      head += "Transfer-Encoding: chunked\r\n";
    } else {
      head += "Content-Length: " + std::to_string(size) + "\r\n";
    }
    if (player.random.chance(0.3)) {
      wire.send(head + "Expect: 100-continue\r\n\r\n", kPatience);
      support::Message interim;
      // Who is not told to go on in time goes on by himself (RFC 9110 section 10.1.1).
      const Wire::Read read = wire.read_head(interim, Milliseconds{5000});
      if (read == Wire::Read::done && interim.status() != 100) {
        player.fail(player.scene.draining ? End::refused : End::wrong,
                    "no 100 but " + interim.start_line);
        return;
      }
    } else {
      wire.send(head + "\r\n", kPatience);
    }
    wire.send(body, kPatience);
    if (!player.take_answer(wire, asked)) return;
    player.pause(player.random.below(8));
  }
}

void pipeline(Player& player) {
  Wire wire = player.connect();
  for (std::size_t rounds = player.random.between(1, 4); rounds > 0 && !player.ending(); --rounds) {
    std::vector<Asked> all(player.random.between(2, 24));
    std::string text;
    for (Asked& asked : all) {
      asked.target = player.target("calm", "size=" + std::to_string(player.random.below(9000)));
      if (player.random.chance(0.2)) {
        asked.method = "POST";
        asked.body = body_of(asked.target, player.random.between(1, 3000));
      }
      text += Player::request(asked);
    }
    wire.send(text, kPatience);
    for (const Asked& asked : all) {
      if (!player.take_answer(wire, asked)) return;
    }
    player.pause(player.random.below(20));
  }
}

void fresh_connection(Player& player) {
  Wire wire = player.connect();
  Asked asked{.target = player.target("calm", sized(player))};
  const std::size_t how = player.random.below(3);
  if (how == 0) asked.more_lines = "Connection: close\r\n";
  wire.send(Player::head(asked, how == 1 ? "HTTP/1.0" : "HTTP/1.1") + "\r\n", kPatience);
  player.take_answer(wire, asked);
  if (how != 2) player.take_end(wire);
  player.pause(player.random.between(2, 12));
}

}  // namespace spillway::soak
