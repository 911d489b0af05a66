// Clients that take their time: with an answer, with a body, with a head that never ends.
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "system/soak/clients.hpp"
#include "system/soak/expected.hpp"

namespace spillway::soak {

// Slower than the backend, faster than any least rate.
void slow_reader(Player& player) {
  Wire wire = player.connect(8192);
  Asked asked{.target = player.target(
                  "calm", "size=" + std::to_string(player.random.between(100'000, 1'000'000)))};
  wire.send(Player::request(asked), kPatience);
  const std::size_t step = player.random.between(8'000, 60'000);
  while (wire.read_some(kPatience, step) == Wire::Read::done &&
         wire.received().size() < number(asked.target, "size", 0)) {
    if (!player.pause(player.random.below(40))) break;
  }
  player.take_answer(wire, asked);
}

void slow_sender(Player& player) {
  Wire wire = player.connect();
  Asked asked{.target = player.target("calm", "a=b"), .method = "POST"};
  asked.body = body_of(asked.target, player.random.between(500, 150'000));
  const std::string text = Player::request(asked);
  const std::size_t step = text.size() / player.random.between(3, 30) + 1;
  for (std::string_view rest = text; !rest.empty();
       rest.remove_prefix(std::min(step, rest.size()))) {
    if (!wire.send(rest.substr(0, step), kPatience)) break;
    player.pause(player.random.below(60));
  }
  player.take_answer(wire, asked);
}

// Heads byte by byte that never end: they are answered 408, or closed.
void slowloris(Player& player) {
  std::vector<std::unique_ptr<Wire>> wires;
  for (int n = 0; n < 8; ++n) wires.push_back(std::make_unique<Wire>(player.scene.port, 9));
  const std::string text =
      Player::head({.target = player.target("calm")}) + "X-Slow: " + std::string(200, 'a');
  for (std::size_t n = 0; n < text.size() && player.pause(25); ++n) {
    for (const auto& wire : wires) wire->send(text.substr(n, 1), Milliseconds{0});
  }
  for (const auto& wire : wires) {
    player.take_end(*wire);
    const std::string& answer = wire->received();
    const bool fine = answer.empty() || answer.starts_with("HTTP/1.1 408 ") ||
                      (player.scene.draining && answer.starts_with("HTTP/1.1 503 "));
    if (fine) {
      player.count(answer.empty() ? End::ended : End::refused);
    } else {
      player.fail(End::wrong, "an answer to half a head: " + answer.substr(0, 100));
    }
  }
}

// Below any least rate: bodies of ten bytes a second, answers that nobody takes. Both are cut off,
// which takes seconds, so there are several at a time.
void dawdle(Player& player) {
  std::vector<std::unique_ptr<Wire>> senders, takers;
  const Asked sent{.target = player.target("calm", "a=b"), .method = "POST"};
  const Asked taken{.target = player.target("calm", "size=8000000")};
  for (int n = 0; n < 4; ++n) {
    const auto source = static_cast<std::uint16_t>(10 + player.random.below(60'000));
    senders.push_back(std::make_unique<Wire>(player.scene.port, source));
    senders.back()->send(Player::head(sent) + "Content-Length: 5000\r\n\r\n", kPatience);
    takers.push_back(std::make_unique<Wire>(player.scene.port, source, 4096));
    takers.back()->send(Player::request(taken), kPatience);
  }
  for (int second = 0; second < 20 && player.pause(1000); ++second) {
    for (const auto& wire : senders) wire->send("0123456789", Milliseconds{0});
  }
  const bool is_cut_off = player.scene.has_min_rate && !player.ending();
  for (const auto& wire : senders) {
    if (!is_cut_off) wire->close();
    player.take_end(*wire, Milliseconds{5000});
    player.count(wire->received().empty() ? End::left : End::refused);
  }
  for (const auto& wire : takers) {
    const bool ended = !is_cut_off || wire->read_to_end(Milliseconds{5000}) != Wire::Read::late;
    if (ended && wire->received().size() < 8'000'000) {
      player.count(is_cut_off ? End::ended : End::left);
    } else {
      player.fail(End::wrong, "an answer goes on though nobody took it for 20 s");
    }
  }
}

}  // namespace spillway::soak
