#include "proxy/request/body/relay_state.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.hpp"
#include "proxy/request/body/received_body.hpp"

namespace spillway::proxy {
namespace {

using Next = RelayState::Next;
using Kind = http::Framing::Kind;

constexpr std::size_t kCapacity = 100;

http::BodyReader reader_of(http::Framing framing) {
  return {framing, http::BodyReader::kNoLimit, http::BodyReader::MessageKind::response};
}

// A relay with its block, without the two connections.
struct Relay {
  Relay(http::Framing framing, bool its_dechunks, std::size_t capacity = kCapacity)
      : reader(reader_of(framing)), block(capacity), state(capacity), dechunks(its_dechunks) {
    state.start(0, 0);
    if (reader.done()) state.upstream_done();
  }

  // As many bytes of `wire` as have room, at most `most`; takes them off it.
  CheckedBody receive(std::string_view& wire, std::size_t most = std::string_view::npos) {
    const std::size_t bytes = std::min({most, wire.size(), block.size() - state.end()});
    std::copy_n(wire.data(), bytes, block.data() + state.end());
    wire.remove_prefix(bytes);
    state.received(bytes);
    return check();
  }
  CheckedBody check() {
    return check_received(reader, state, block, dechunks,
                          [this](std::string_view piece) { content += piece; });
  }
  // The client takes so many bytes.
  void send(std::size_t most = std::string_view::npos) {
    const std::size_t bytes = std::min(most, state.to_send());
    sent.append(block.data() + state.to_send_from(), bytes);
    state.sent(bytes);
  }

  http::BodyReader reader;
  std::vector<char> block;
  RelayState state;
  bool dechunks;
  std::string content{};  // as it is checked
  std::string sent{};     // to the client
};

http::Framing length(std::uint64_t bytes) { return {Kind::length, bytes}; }

std::string text(std::size_t size, Random& random) {
  std::string made(size, '\0');
  for (char& c : made) c = static_cast<char>(random.next());
  return made;
}

std::size_t up_to(std::size_t most, Random& random) { return 1 + random.next() % most; }

struct Chunks {
  std::string wire, anew;
};

// In chunks of random sizes, some with leading zeros or extensions, and perhaps trailers; and how
// these are written anew.
Chunks in_chunks(std::string_view content, Random& random) {
  std::string wire, anew;
  char size[20];
  while (!content.empty()) {
    const std::size_t bytes = std::min(up_to(40, random), content.size());
    std::snprintf(size, sizeof size, "%zx", bytes);
    if (random.next() % 4 == 0) wire += std::string(random.next() % 30, '0');
    wire += size;
    if (random.next() % 4 == 0) wire += ";name=\"a value\"";
    const std::string rest = "\r\n" + std::string(content.substr(0, bytes)) + "\r\n";
    wire += rest;
    anew += size + rest;
    content.remove_prefix(bytes);
  }
  wire += "00\r\n";
  anew += "0\r\n";
  if (random.next() % 2 == 0) wire += "Content-Length: 1\r\n";
  const std::string end = random.next() % 2 == 0 ? "X-Checksum: 1\r\n\r\n" : "\r\n";
  return {wire + end, anew + end};
}

}  // namespace

TEST_CASE("what a relay does next follows from what is left and what there is room for") {
  struct Case {
    std::string_view name;
    std::size_t received, sent;  // all of it is checked
    bool is_upstream_done, has_pending;
    Next next;
  };
  const std::vector<Case> cases{
      {"an empty block", 0, 0, false, false, Next::read},
      {"an empty block and a head to send", 0, 0, false, true, Next::both},
      {"bytes to send, and room", 50, 0, false, false, Next::both},
      {"a full block", kCapacity, 0, false, false, Next::write},
      {"a full block, partly sent", kCapacity, 50, false, false, Next::write},
      {"a full block, all sent", kCapacity, kCapacity, false, false, Next::read},
      {"all is here", 50, 0, true, false, Next::write},
      {"all is sent", 50, 50, true, false, Next::done},
      {"all is sent but the head", 50, 50, true, true, Next::write},
      {"no body", 0, 0, true, false, Next::done},
  };
  for (const Case& c : cases) {
    CAPTURE(c.name);
    RelayState state(kCapacity);
    state.start(0, 0);
    state.received(c.received);
    state.set_checked(c.received);
    if (c.sent > 0) state.sent(c.sent);
    if (c.is_upstream_done) state.upstream_done();
    CHECK(state.next(c.has_pending) == c.next);
    CHECK(reads(c.next) == (c.next == Next::read || c.next == Next::both));
    CHECK(writes(c.next) == (c.next == Next::write || c.next == Next::both));
  }
}

TEST_CASE("a pipe behind the block says itself whether it has room") {
  RelayState state(kCapacity);
  state.start(0, 0);
  CHECK(state.next(false, true) == Next::read);
  CHECK(state.next(true, true) == Next::both);
  CHECK(state.next(true, false) == Next::write);
  state.received(kCapacity);
  state.set_checked(kCapacity);
  CHECK(state.next(false, true) == Next::both);  // the block is full, the pipe is not
  CHECK(state.next(false, false) == Next::write);
  state.sent(kCapacity);
  state.upstream_done();
  CHECK(state.next(true, true) == Next::write);
  CHECK(state.next(false, true) == Next::done);
}

TEST_CASE("bytes go to the client only once they are checked") {
  RelayState state(kCapacity);
  state.start(60, 40);  // a head of 40 bytes, and 20 of the body
  CHECK(state.to_send() == 0);
  CHECK(state.to_send_from() == 40);
  CHECK(state.checked_to() == 40);
  state.set_checked(60);
  CHECK(state.to_send() == 20);
  state.sent(5);
  CHECK(state.to_send_from() == 45);
  CHECK(state.to_send() == 15);
  CHECK(state.end() == 60);
  state.sent(15);  // nothing is left: the next bytes come to the front, in place of the head too
  CHECK(state.end() == 0);
  CHECK(state.to_send_from() == 0);
}

TEST_CASE("a response that fits is read to its end while the client takes nothing") {
  const std::string body(kCapacity, 'b');
  Relay relay(length(body.size()), false);
  std::string_view wire = body;
  while (reads(relay.state.next(false))) relay.receive(wire, 7);
  CHECK(wire.empty());
  CHECK(relay.state.is_upstream_done());  // its slot is free
  CHECK(relay.state.next(false) == Next::write);
  relay.send();
  CHECK(relay.sent == body);
  CHECK(relay.state.next(false) == Next::done);
}

TEST_CASE("a larger response is held back by the client's pace") {
  const std::string body(3 * kCapacity, 'b');
  Relay relay(length(body.size()), false);
  std::string_view wire = body;
  while (reads(relay.state.next(false))) relay.receive(wire, 7);
  CHECK(wire.size() == 2 * kCapacity);  // one block of it, no more
  CHECK_FALSE(relay.state.is_upstream_done());
  relay.send(kCapacity - 1);
  CHECK(relay.state.next(false) == Next::write);  // not before the block is empty
  relay.send(1);
  CHECK(relay.state.next(false) == Next::read);
}

TEST_CASE("a chunked body goes on in chunks written anew or without its framing") {
  struct Case {
    std::string_view name;
    std::string wire, content, sent;
  };
  const std::string one = "3\r\nabc\r\n0\r\n\r\n", several = "1\r\na\r\n2\r\nbc\r\n0\r\n\r\n";
  const std::string with_trailers = "3\r\nabc\r\n0\r\nA: b\r\nC: d\r\n\r\n";
  const std::vector<Case> cases{
      {"empty", "0\r\n\r\n", "", "0\r\n\r\n"},
      {"one chunk", one, "abc", one},
      {"several", several, "abc", several},
      {"extensions", "3;a=b\r\nabc\r\n0;c\r\n\r\n", "abc", one},
      {"long extensions", "1;a=b\r\na\r\n02 ; c=\"d\"\r\nbc\r\n000;e\r\n\r\n", "abc", several},
      {"trailers", with_trailers, "abc", with_trailers},
      {"a trailer that is none", "003\r\nabc\r\n0\r\nA: b\r\nUpgrade: x\r\nC: d\r\n\r\n", "abc",
       with_trailers},
  };
  for (const Case& c : cases) {
    CAPTURE(c.name);
    for (const bool dechunks : {false, true}) {
      CAPTURE(dechunks);
      for (std::size_t step = 1; step <= c.wire.size(); ++step) {
        CAPTURE(step);
        Relay relay({Kind::chunked}, dechunks);
        std::string_view wire = c.wire;
        while (reads(relay.state.next(false))) {
          const CheckedBody checked = relay.receive(wire, step);
          REQUIRE(checked.error == http::Error::none);
          REQUIRE_FALSE(checked.has_surplus);
        }
        relay.send();
        CHECK(relay.sent == (dechunks ? c.content : c.sent));
        CHECK(relay.content == c.content);
        CHECK(relay.state.next(false) == Next::done);
      }
    }
  }
}

TEST_CASE("bytes behind the end of a response are told of and go nowhere") {
  struct Case {
    std::string_view name;
    http::Framing framing;
    std::string wire, sent;
    bool has_surplus;
  };
  const std::vector<Case> cases{
      {"none", length(3), "abc", "abc", false},
      {"behind a length", length(3), "abcd", "abc", true},
      {"behind the last chunk", {Kind::chunked}, "0\r\n\r\nHTTP", "0\r\n\r\n", true},
      {"where there is no body", {Kind::none}, "a", "", true},
      {"never before the connection ends", {Kind::until_close}, "abcd", "abcd", false},
  };
  for (const Case& c : cases) {
    CAPTURE(c.name);
    Relay relay(c.framing, false);
    std::string_view wire = c.wire;
    const CheckedBody checked = relay.receive(wire);
    CHECK(checked.error == http::Error::none);
    CHECK(checked.has_surplus == c.has_surplus);
    CHECK(relay.state.is_upstream_done() == (c.framing.kind != Kind::until_close));
    relay.send();
    CHECK(relay.sent == c.sent);
    CHECK(relay.state.end() == 0);
  }
}

TEST_CASE("of a body whose framing breaks nothing more is passed on") {
  for (const bool dechunks : {false, true}) {
    Relay relay({Kind::chunked}, dechunks);
    std::string_view good = "3\r\nabc\r\n";
    CHECK(relay.receive(good).error == http::Error::none);
    const std::size_t before = relay.state.to_send();
    std::string_view bad = "x\r\nabc\r\n";
    CHECK(relay.receive(bad).error == http::Error::bad_chunk);
    CHECK(relay.state.to_send() == before);
    CHECK_FALSE(relay.state.is_upstream_done());
    CHECK(relay.content == "abc");
  }
}

TEST_CASE("whatever the pace of both sides the client gets the same bytes") {
  Random random(5);
  int relays = 0, held_back = 0;
  for (const Kind kind : {Kind::length, Kind::chunked, Kind::until_close}) {
    for (const bool dechunks : {false, true}) {
      if (dechunks && kind != Kind::chunked) continue;
      for (int run = 0; run < 500; ++run) {
        CAPTURE(run);
        CAPTURE(dechunks);
        const std::string content = text(up_to(500, random), random);
        const auto [whole, anew] =
            kind == Kind::chunked ? in_chunks(content, random) : Chunks{content, content};
        http::Framing framing{kind};
        if (kind == Kind::length) framing.length = content.size();
        Relay relay(framing, dechunks, http::BodyReader::kMostHeld + up_to(kCapacity, random));
        // The head lies before the body, and part of the body came with it.
        const std::size_t head = up_to(relay.block.size() - 1, random);
        const std::size_t with_it =
            std::min<std::size_t>(random.next() % (relay.block.size() - head + 1), whole.size());
        std::copy_n(whole.data(), with_it, relay.block.data() + head);
        relay.state.start(head + with_it, head);
        REQUIRE(relay.check().error == http::Error::none);
        std::string_view wire = std::string_view(whole).substr(with_it);
        bool has_pending = true;  // the head that goes to the client
        for (;;) {
          const Next next = relay.state.next(has_pending);
          if (next == Next::done) break;
          const bool is_clients_turn = random.next() % 2 == 0;
          if (writes(next) && (is_clients_turn || !reads(next))) {
            if (!has_pending) {
              relay.send(up_to(50, random));
            } else {
              has_pending = random.next() % 2 == 0;
              if (!has_pending) relay.send(random.next() % 50);
            }
          } else if (reads(next) && wire.empty() && kind == Kind::until_close) {
            relay.state.upstream_done();
          } else if (reads(next)) {
            REQUIRE_FALSE(wire.empty());
            REQUIRE(relay.receive(wire, up_to(50, random)).error == http::Error::none);
          }
          held_back += next == Next::write && !relay.state.is_upstream_done();
        }
        ++relays;
        REQUIRE(relay.sent == (dechunks ? content : anew));
        REQUIRE(relay.content == content);
      }
    }
  }
  CHECK(relays == 4 * 500);
  CHECK(held_back > 1000);  // the block was too small often enough to count
}

}  // namespace spillway::proxy
