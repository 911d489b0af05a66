#include "system/faults/tunnelling.hpp"

#include <exception>

#include "support/raw_client.hpp"

namespace spillway::faults {

using namespace support;

namespace {

constexpr const char* kUpgrade =
    "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";

// Close, reset, or no more from this side and then the end of the other.
void leave(RawClient& client, std::size_t number) {
  if (number % 3 == 0) return client.close();
  if (number % 3 == 1) return client.reset();
  client.half_close();
  client.read_to_end();
}

// What comes of it; throws where something does not come in time or the connection cannot be.
template <typename Talk>
Outcome asked(std::uint16_t port, const std::string& request, int wanted, Talk&& talk) {
  Outcome outcome{"refused"};
  try {
    RawClient client(port);
    outcome.requests = 1;
    const Message head = client.send(request).read_head();
    outcome.word = head.status() == wanted ? talk(client) : std::to_string(head.status());
  } catch (const std::exception& error) {
    const std::string what = error.what();
    outcome.word = what.find("in time") != std::string::npos ? "hangs" : "WRONG: " + what;
  }
  return outcome;
}

}  // namespace

Outcome tunnel(std::uint16_t port, const std::string& target, std::size_t number, bool leaves) {
  return asked(port, get(target, kUpgrade), 101, [&](RawClient& client) -> std::string {
    const std::string line = "line " + std::to_string(number) + "\n";
    client.try_send(line);
    if (leaves) {
      leave(client, number);
      return "gone";
    }
    const std::string expected = target + " " + line;
    if (target.starts_with("/tunnel/")) {
      const std::string came = client.read_bytes(expected.size());
      if (came != expected) return "WRONG: " + came;
      leave(client, number);
      return "echoed";
    }
    const std::string came = client.read_to_end();
    if (client.was_reset()) return "broken";
    return came.empty() || came == "half a line" ? "ended" : "WRONG: " + came;
  });
}

Outcome listen_to_events(std::uint16_t port, const std::string& target, std::size_t number,
                         Until until) {
  const std::string lines = until == Until::end ? "Connection: close\r\n" : "";
  return asked(port, get(target, lines), 200, [&](RawClient& client) -> std::string {
    const std::string expected = "data: " + target + "\n\n";
    std::string came;
    // Chunked: a line of its size before it and the end of a line behind it.
    while (came.find(expected) == std::string::npos) {
      if (came.size() > expected.size() + 8) return "WRONG: " + came;
      came += client.read_bytes(1);
    }
    if (until == Until::event) {
      leave(client, number);
      return "event";
    }
    came = client.read_to_end();
    if (came == "\r\n") return "aborted";
    return came == "\r\n0\r\n\r\n" ? "ended" : "WRONG: " + came;
  });
}

}  // namespace spillway::faults
