// Connections that outlive a request: upgrades and event streams.
#include <string>

#include "system/soak/clients.hpp"
#include "system/soak/expected.hpp"

namespace spillway::soak {

void tunnel(Player& player) {
  Random& random = player.random;
  Wire wire = player.connect();
  const Asked asked{.target = player.target("tunnel"),
                    .more_lines =
                        "Upgrade: websocket\r\nConnection: Upgrade\r\n"
                        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
                        "Sec-WebSocket-Version: 13\r\n",
                    .may_refuse = true};
  wire.send(Player::request(asked), kPatience);
  support::Message head;
  const Wire::Read read = wire.read_head(head, kPatience);
  if (read == Wire::Read::late) return player.fail(End::hung, "no answer to an upgrade");
  if (head.status() != 101) {
    // Over the cap of tunnels; or as a plain request, where upgrades are not passed on.
    const bool fine = head.status() == 503 || !player.scene.has_tunnels || player.scene.draining;
    if (!fine) return player.fail(End::wrong, "instead of an upgrade: " + head.start_line);
    player.count(End::refused);
    player.pause(random.between(50, 200));
    return;
  }
  for (std::size_t left = random.between(1, 30); left > 0 && !player.ending(); --left) {
    const std::string sent = body_of(asked.target + std::to_string(left),
                                     random.chance(0.1) ? 200'000 : random.between(1, 3000));
    if (random.chance(0.1)) {  // who does not wait for the echo
      wire.send(sent, Milliseconds{0});
      break;
    }
    std::string_view rest = sent;
    const Deadline deadline(kPatience);
    // Both ways at once, or a large one would fill both.
    while (wire.received().size() < sent.size() && !deadline.passed()) {
      const std::string_view part = rest.substr(0, 16'384);
      if (!part.empty() && !wire.send(part, kPatience)) break;
      rest.remove_prefix(part.size());
      const Wire::Read got = wire.read_some(rest.empty() ? kPatience : Milliseconds{0});
      if (got == Wire::Read::ended || got == Wire::Read::reset) break;
    }
    const bool whole = wire.received() == sent;
    if (!whole) {
      if (player.scene.draining) return player.count(End::ended);
      return player.fail(End::wrong, "an echo of " + std::to_string(wire.received().size()) +
                                         " bytes to " + std::to_string(sent.size()));
    }
    wire.received().clear();
    player.count(End::right);
    player.pause(random.below(40));
  }
  const std::size_t how = random.below(4);
  if (how == 0) wire.reset();
  if (how == 3) player.take_end(wire);  // which comes when both have been silent for long
  if (how == 1) {
    wire.half_close();
    player.take_end(wire);
  }
  player.count(End::left);
}

void event_stream(Player& player) {
  Random& random = player.random;
  Wire wire = player.connect();
  const std::size_t events = random.between(1, 60);
  const Asked asked{.target = player.target("events", "delay=20&events=" + std::to_string(events)),
                    .more_lines = "Accept: text/event-stream\r\n"};
  wire.send(Player::request(asked), kPatience);
  if (random.chance(0.3)) {
    for (std::size_t left = random.below(10); left > 0; --left) wire.read_some(kPatience);
    if (random.chance(0.5)) wire.reset();
    return player.count(End::left);
  }
  support::Message answer;
  const Wire::Read read = wire.read(answer, support::Expected::response, kPatience);
  if (read == Wire::Read::late) return player.fail(End::hung, "no end of events");
  const bool refused = read == Wire::Read::done && answer.status() == 503;
  std::string expected;
  for (std::size_t n = 0; n < events; ++n) expected += "data: " + line_of(asked.target) + "\n";
  if (refused) {
    player.count(End::refused);
  } else if (read == Wire::Read::done && answer.body == expected) {
    player.count(End::right);
  } else if (player.scene.draining) {
    player.count(End::ended);
  } else {
    player.fail(End::wrong, "events: " + answer.start_line + ", " +
                                std::to_string(answer.body.size()) + " bytes of " +
                                std::to_string(expected.size()));
  }
}

}  // namespace spillway::soak
