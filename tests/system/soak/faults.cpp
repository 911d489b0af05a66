#include "system/soak/faults.hpp"

#include <string>

#include "system/soak/expected.hpp"

namespace spillway::soak {

namespace {

constexpr Milliseconds kPatience{5000};

// Until the proxy has had enough of it.
void stall(Wire& wire) { wire.read_to_end(kPatience); }

std::string head(std::string_view fields) {
  return std::string("HTTP/1.1 200 OK\r\n")
      .append(kBackendField)
      .append(": faulty\r\n")
      .append(fields)
      .append("\r\n");
}

}  // namespace

void play_fault(Wire& wire, std::string_view fault, std::string_view target) {
  const auto say = [&](std::string_view bytes) { wire.send(bytes, kPatience); };
  const std::string body = body_of(line_of(target), number(target, "size", 64));
  const std::string length = "Content-Length: " + std::to_string(body.size()) + "\r\n";
  const std::string half = body.substr(0, body.size() / 2);
  if (fault == "reset_before") {
    wire.reset();
  } else if (fault == "half_head") {
    say(head(length).substr(0, 30));
  } else if (fault == "garbage") {
    say("\x16\x03\x01\x02 this is no HTTP at all\r\n\r\n");
  } else if (fault == "bad_status") {
    say("HTTP/1.1 2x0 Fine\r\n" + length + "\r\n" + body);
  } else if (fault == "bad_length") {
    say(head("Content-Length: 18446744073709551617\r\n") + body);
  } else if (fault == "two_lengths") {
    say(head(length + "Content-Length: 3\r\n") + body);
  } else if (fault == "short_body") {
    say(head(length) + half);
  } else if (fault == "reset_in_body") {
    say(head(length) + half);
    wire.reset();
  } else if (fault == "broken_chunk") {
    say(head("Transfer-Encoding: chunked\r\n") + support::chunked({body}).substr(0, 20) +
        "\r\nxyz");
    say("\r\n0\r\n\r\n");
  } else if (fault == "no_end") {
    const std::string chunks = support::chunked({body});
    say(head("Transfer-Encoding: chunked\r\n") + chunks.substr(0, chunks.size() - 5));
  } else if (fault == "stall_before") {
    stall(wire);
  } else if (fault == "stall_head") {
    say(head(length).substr(0, 20));
    stall(wire);
  } else if (fault == "stall_body") {
    say(head(length) + half);
    stall(wire);
  } else if (fault == "flood_of_heads") {
    say("HTTP/1.1 200 OK\r\n");
    for (int n = 0; n < 4000; ++n) say("X-Flood-" + std::to_string(n) + ": 0123456789012345\r\n");
  } else if (fault == "many_interim") {
    for (int n = 0; n < 200; ++n) say("HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\n\r\n");
    say(head(length) + body);
  } else if (fault == "extra_bytes") {
    say(head(length) + body + "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nforged");
  } else if (fault == "closes_after") {
    say(head(length) + body);
  }
}

}  // namespace spillway::soak
