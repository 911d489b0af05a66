// Clients that leave: before a request, within it, while it waits or runs, within the answer; by a
// close, by a reset, or with an ear still open.
#include <array>
#include <string>

#include "system/soak/clients.hpp"
#include "system/soak/expected.hpp"

namespace spillway::soak {

namespace {

constexpr std::array<std::string_view, 6> kRoutes{"calm",   "busy/p0", "busy/p2",
                                                  "cached", "stale",   "pair"};

void go(Player& player, Wire& wire) {
  const std::size_t how = player.random.below(3);
  if (how == 0) wire.close();
  if (how == 1) wire.reset();
  if (how == 2) {
    wire.half_close();
    player.take_end(wire);
  }
  player.count(End::left);
}

}  // namespace

void leave(Player& player) {
  Random& random = player.random;
  Wire wire = player.connect(random.chance(0.3) ? 4096 : 0);
  const std::string_view route = random.pick(kRoutes);
  const std::string delay = "delay=" + std::to_string(random.below(300));
  Asked asked{.target = player.target(route, "cache=1&size=200000&" + delay)};
  switch (random.below(9)) {
    case 0: break;  // not a byte
    case 1: wire.send(Player::request(asked).substr(0, random.between(1, 60)), kPatience); break;
    case 2:  // while it waits or runs
      wire.send(Player::request(asked), kPatience);
      player.pause(random.below(100));
      break;
    case 3: {  // within a small body, or a large one
      asked.method = "POST";
      asked.body = body_of("leaving\n", random.chance(0.5) ? 3000 : 300'000);
      const std::string text = Player::request(asked);
      wire.send(text.substr(0, text.size() - random.between(1, asked.body.size())), kPatience);
      player.pause(random.below(50));
      break;
    }
    case 4:  // within a chunked one
      asked.method = "POST";
      wire.send(Player::head(asked) + "Transfer-Encoding: chunked\r\n\r\n1000\r\n" +
                    std::string(random.below(4096), 'x'),
                kPatience);
      player.pause(random.below(50));
      break;
    case 5:  // without waiting for the 100
      asked.method = "POST";
      wire.send(Player::head(asked) + "Content-Length: 5\r\nExpect: 100-continue\r\n\r\n",
                kPatience);
      player.pause(random.below(50));
      break;
    case 6:  // within the answer
      asked.target = player.target(route, "size=1000000");
      wire.send(Player::request(asked), kPatience);
      wire.read_some(kPatience, random.between(1, 60'000));
      break;
    case 7: {  // with requests behind it
      std::string text;
      for (std::size_t n = random.between(2, 20); n > 0; --n) text += Player::request(asked);
      wire.send(text, kPatience);
      player.pause(random.below(50));
      break;
    }
    case 8:  // right after a whole answer
      asked.target = player.target("calm");
      player.ask(wire, asked);
      break;
  }
  go(player, wire);
  player.pause(random.between(5, 30));
}

}  // namespace spillway::soak
