#include "http/message/response_reader.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace spillway::http {
namespace {

using Event = ResponseReader::Event;
using Kind = Framing::Kind;

const std::string kContinue = "HTTP/1.1 100 Continue\r\n\r\n";
const std::string kHints = "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n";
const std::string kOk = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n";
const std::string kSwitching =
    "HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n";

struct Request {
  Verb method = Verb::get;
  std::string_view upgrade{};
  HeadLimits limits{};
};

// What a client would see of an upstream's bytes.
struct Read {
  std::vector<unsigned> interim{};
  Event last = Event::need_more;  // the first that is not interim, or need_more at the end
  unsigned status = 0;
  Kind framing = Kind::none;
  std::uint64_t length = 0;
  Error error = Error::none;
  std::string behind{};  // the last head

  bool operator==(const Read&) const = default;
};

// Receives `step` bytes at a time, as the relay does: interim heads are taken out of the block.
Read read(std::string_view wire, std::size_t step, const Request& request = {}) {
  ResponseReader reader(request.limits, request.method, request.upgrade);
  ResponseHead head;
  std::string block;
  Read result;
  while (!wire.empty()) {
    block.append(wire.substr(0, step));
    wire.remove_prefix(std::min(step, wire.size()));
    Event event = reader.read(block, head);
    for (; event == Event::interim; event = reader.read(block, head)) {
      result.interim.push_back(head.status);
      block.erase(0, reader.head_end());
      reader.take_interim();
    }
    result.last = event;
    if (event == Event::need_more) continue;
    result.error = reader.error();
    if (event == Event::invalid) return result;
    result.status = head.status;
    result.framing = head.framing.kind;
    result.length = head.framing.length;
    result.behind = block.substr(reader.head_end()) + std::string(wire);
    return result;
  }
  return result;
}

std::string repeated(std::string_view text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

Read invalid(Error error, std::vector<unsigned> interim = {}) {
  return {.interim = std::move(interim), .last = Event::invalid, .error = error};
}

Read final(unsigned status, Kind framing, std::uint64_t length, std::string behind,
           std::vector<unsigned> interim = {}) {
  return {.interim = std::move(interim),
          .last = Event::final,
          .status = status,
          .framing = framing,
          .length = length,
          .behind = std::move(behind)};
}

}  // namespace

TEST_CASE("a response and its interim ones are the same however their bytes are split") {
  struct Case {
    std::string_view name;
    std::string wire;
    Read read;
    Request request{};
  };
  const std::vector<Case> cases{
      {"nothing yet", kOk.substr(0, 10), {}},
      {"a final head", kOk, final(200, Kind::length, 2, "")},
      {"with its body", kOk + "ab", final(200, Kind::length, 2, "ab")},
      {"with more than its body", kOk + "abHTTP/1.1 200",
       final(200, Kind::length, 2, "abHTTP/1.1 200")},
      {"chunked", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
       final(200, Kind::chunked, 0, "0\r\n\r\n")},
      {"until the end of the connection", "HTTP/1.0 200 OK\r\n\r\nab",
       final(200, Kind::until_close, 0, "ab")},
      {"to HEAD", kOk, final(200, Kind::none, 0, ""), {.method = Verb::head}},
      {"204", "HTTP/1.1 204 No Content\r\n\r\n", final(204, Kind::none, 0, "")},
      {"304", "HTTP/1.1 304 Not Modified\r\nContent-Length: 2\r\n\r\n",
       final(304, Kind::none, 0, "")},
      {"an interim one only", kContinue, {.interim = {100}}},
      {"an interim one before it", kContinue + kOk, final(200, Kind::length, 2, "", {100})},
      {"several", kContinue + kHints + kHints + kOk + "ab",
       final(200, Kind::length, 2, "ab", {100, 103, 103})},
      {"an interim one and the start of it", kHints + kOk.substr(0, 5), {.interim = {103}}},
      {"no HTTP", "SSH-2.0-x\r\n\r\n", invalid(Error::bad_status_line)},
      {"no HTTP after an interim one", kContinue + "\x01", invalid(Error::bad_character, {100})},
      {"two lengths", "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
       invalid(Error::bad_framing)},
      {"a length and chunks",
       "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
       invalid(Error::bad_framing)},
      {"an unknown coding", "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n",
       invalid(Error::unknown_coding)},
      {"a large head", kOk, invalid(Error::head_too_large), {.limits = {.head_bytes = 20}}},
  };
  for (const Case& c : cases) {
    CAPTURE(c.name);
    for (std::size_t step = 1; step <= c.wire.size(); ++step) {
      CAPTURE(step);
      const Read got = read(c.wire, step, c.request);
      CHECK(got.interim == c.read.interim);
      CHECK(got.last == c.read.last);
      CHECK(got.error == c.read.error);
      CHECK(got.behind == c.read.behind);
      CHECK(got == c.read);
    }
  }
}

TEST_CASE("protocols are switched to only when they were asked for") {
  const std::string two =
      "HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: websocket, h2c\r\n\r\n";
  const std::string none = "HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\n\r\n";
  struct Case {
    std::string_view name;
    std::string wire;
    std::string_view upgrade;
    Event event;
  };
  const std::vector<Case> cases{
      {"asked for", kSwitching, "websocket", Event::switched},
      {"in other letters", kSwitching, "WebSocket", Event::switched},
      {"not asked for", kSwitching, "", Event::invalid},
      {"another protocol", kSwitching, "chat", Event::invalid},
      {"another one besides", two, "websocket", Event::invalid},
      {"without a name", none, "websocket", Event::invalid},
      {"not asked for and without a name", none, "", Event::invalid},
      {"declined", kOk, "websocket", Event::final},
      {"after an interim response", kHints + kSwitching, "websocket", Event::switched},
  };
  for (const Case& c : cases) {
    CAPTURE(c.name);
    const Read got = read(c.wire + "frames", c.wire.size(), {.upgrade = c.upgrade});
    CHECK(got.last == c.event);
    if (c.event == Event::invalid) CHECK(got.error == Error::bad_status_line);
    if (c.event == Event::switched) CHECK(got.behind == "frames");
  }
}

TEST_CASE("a flood of interim responses is refused and as many as are allowed are not") {
  constexpr int kMost = ResponseReader::kMostInterim;
  for (const std::size_t step : {std::size_t{1}, std::size_t{1000}, std::size_t{100'000}}) {
    CAPTURE(step);
    const Read most = read(repeated(kHints, kMost) + kOk, step);
    CHECK(most.last == Event::final);
    CHECK(most.interim.size() == kMost);
    const Read flood = read(repeated(kHints, kMost + 1) + kOk, step);
    CHECK(flood.last == Event::invalid);
    CHECK(flood.error == Error::head_too_large);
    CHECK(flood.interim.size() == kMost);
  }
}

TEST_CASE("the limit of a head counts anew after each interim response") {
  const HeadLimits limits{.head_bytes = 60};
  CHECK(read(repeated(kHints, 10) + kOk, 7, {.limits = limits}).last == Event::final);
  CHECK(read(repeated(kHints, 10) + kOk, 7, {.limits = {.head_bytes = 30}}).last == Event::invalid);
}

}  // namespace spillway::http
