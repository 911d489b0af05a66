#include "http/message/request_reader.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace spillway::http {
namespace {

using State = RequestReader::State;

const std::string kGet = "GET /a HTTP/1.1\r\nHost: h\r\n\r\n";

// A connection's block, which becomes larger when a head does not fit.
struct Connection {
  explicit Connection(std::size_t block_size = 64, HeadLimits limits = {})
      : reader(limits), block(block_size) {
    reader.start_connection();
  }

  // As recv(2): as many bytes of `wire` as have room, at most `most`.
  std::size_t receive(std::string_view wire, std::size_t most = std::string_view::npos) {
    const std::span<char> room = reader.room(block);
    const std::size_t bytes = std::min({wire.size(), most, room.size()});
    std::copy_n(wire.data(), bytes, room.data());
    reader.received(bytes);
    return bytes;
  }
  State next() { return reader.next(block); }
  std::string_view head() const { return reader.head(block); }
  std::string_view behind_head() const { return reader.behind_head(block); }
  bool start_next() { return reader.start_next(block); }
  // The same bytes in a larger block, at another place; the old one is overwritten.
  void replace(std::size_t size) {
    std::vector<char> larger(size);
    std::copy_n(block.data(), reader.bytes(), larger.data());
    std::fill(block.begin(), block.end(), '\0');
    block = std::move(larger);
  }

  RequestReader reader;
  std::vector<char> block;
};

// The size of the body that a head of these tests announces.
std::size_t announced(std::string_view head) {
  constexpr std::string_view kField = "Content-Length: ";
  const std::size_t at = head.find(kField);
  return at == std::string_view::npos ? 0
                                      : std::stoul(std::string(head.substr(at + kField.size())));
}

// Every head of a connection, received `step` bytes at a time; bodies are thrown away. An invalid
// request ends it with "invalid".
std::vector<std::string> heads_in(std::string_view wire, std::size_t step,
                                  std::size_t block_size = 64) {
  Connection connection(block_size);
  std::vector<std::string> heads;
  for (;;) {
    switch (connection.next()) {
      case State::request: {
        heads.emplace_back(connection.head());
        connection.reader.set_body_size(announced(connection.head()));
        if (const std::size_t missing = connection.reader.missing()) {
          wire.remove_prefix(missing);
          connection.reader.skipped_missing();
        }
        connection.start_next();
        continue;
      }
      case State::invalid: heads.push_back("invalid"); return heads;
      case State::full: connection.replace(2 * connection.block.size()); continue;
      case State::empty: connection.reader.drop_empty_lines(); break;
      case State::need_more: break;
    }
    if (wire.empty()) return heads;
    wire.remove_prefix(connection.receive(wire, step));
  }
}

}  // namespace

TEST_CASE("a connection's requests are the same however their bytes are split") {
  const std::string post = "POST /b HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\n";
  const std::string put = "PUT /c HTTP/1.1\r\nHost: h\r\nContent-Length: 90\r\n\r\n";
  const std::string text(90, 'x');
  struct Case {
    std::string_view name;
    std::string wire;
    std::vector<std::string> heads;
  };
  const std::vector<Case> cases{
      {"nothing", "", {}},
      {"one", kGet, {kGet}},
      {"three", kGet + kGet + kGet, {kGet, kGet, kGet}},
      {"the start of a second", kGet + kGet.substr(0, 7), {kGet}},
      {"empty lines before, between and behind",
       "\r\n\r\n" + kGet + "\r\n" + kGet + "\r\n",
       {kGet, kGet}},
      {"a body between", post + "hello" + kGet, {post, kGet}},
      {"a body that looks like a request",
       put + kGet + text.substr(kGet.size()) + kGet,
       {put, kGet}},
      {"a body larger than the block", put + text + post + "hello" + kGet, {put, post, kGet}},
      {"a bare line feed in the second", kGet + "GET /\n", {kGet, "invalid"}},
      {"no method", kGet + " / HTTP/1.1\r\n", {kGet, "invalid"}},
  };
  for (const Case& c : cases) {
    CAPTURE(c.name);
    for (std::size_t step = 1; step <= c.wire.size() + 1; ++step) {
      CAPTURE(step);
      CHECK(heads_in(c.wire, step) == c.heads);
      CHECK(heads_in(c.wire, step, 8) == c.heads);     // grows on the way
      CHECK(heads_in(c.wire, step, 4096) == c.heads);  // holds everything
    }
  }
}

TEST_CASE("what has been received says whether a connection is idle or in a head") {
  struct Case {
    std::string_view received;
    State state;
  };
  const std::vector<Case> cases{
      {"", State::empty},
      {"\r", State::need_more},  // half a line: what follows decides
      {"\r\n", State::empty},
      {"\r\n\r", State::need_more},
      {"\r\n\r\n", State::empty},
      {"\r\nG", State::need_more},
      {"G", State::need_more},
      {"GET / HTTP/1.1\r\n", State::need_more},
      {"GET / HTTP/1.1\r\n\r\n", State::request},
      {"\r\nGET / HTTP/1.1\r\n\r\n", State::request},
  };
  for (const Case& c : cases) {
    CAPTURE(c.received);
    Connection connection;
    connection.receive(c.received);
    CHECK(connection.next() == c.state);
  }
}

TEST_CASE("empty lines in pieces are forgotten and do not add up") {
  Connection connection(16);
  for (int line = 0; line < 100; ++line) {  // more than the scanner lets pass at once
    connection.receive("\r\n");
    REQUIRE(connection.next() == State::empty);
    connection.reader.drop_empty_lines();
    REQUIRE(connection.reader.bytes() == 0);
  }
  // Those that are kept do.
  Connection kept;
  kept.receive("\r\n\r\n\r\n\r\n\r\n");
  CHECK(kept.next() == State::invalid);
}

TEST_CASE("a head is full only when a block has no room left and no end of the head") {
  for (const int spare : {-1, 0, 1}) {
    CAPTURE(spare);
    Connection connection(static_cast<std::size_t>(static_cast<int>(kGet.size()) + spare));
    connection.receive(kGet);
    CHECK(connection.next() == (spare < 0 ? State::full : State::request));
  }
}

TEST_CASE("a head goes on in a larger block at another place") {
  const std::string head =
      "GET /" + std::string(100, 'a') + " HTTP/1.1\r\nHost: " + std::string(100, 'h') + "\r\n\r\n";
  Connection connection(16);
  std::string_view wire = head;
  int replaced = 0;
  State state = State::empty;
  for (; state != State::request; state = connection.next()) {
    if (state == State::full) {
      connection.replace(connection.block.size() + 16);
      ++replaced;
    }
    wire.remove_prefix(connection.receive(wire));
  }
  CHECK(replaced == static_cast<int>((head.size() - 1) / 16));
  CHECK(connection.head() == head);
  CHECK(connection.behind_head().empty());
}

TEST_CASE("bytes that never become a request are refused before the head is whole") {
  struct Case {
    std::string_view name;
    std::string received;
    Error error;
    HeadLimits limits{};
  };
  const std::vector<Case> cases{
      {"a bare line feed", "GET / HTTP/1.1\n", Error::bad_character},
      {"a NUL", std::string("GET /\0", 6), Error::bad_character},
      {"a method that is not a token", "G@T", Error::bad_request_line},
      {"TLS", "\x16\x03\x01", Error::bad_character},
      {"a folded line", "GET / HTTP/1.1\r\nA: b\r\n c", Error::obs_fold},
      {"a long line", "GET /aaaaaaaaaaaaaaaaaaaa", Error::uri_too_long, {.line_bytes = 20}},
      {"a long head",
       "GET / HTTP/1.1\r\nA: bbbbbbbbbbbbbbbb",
       Error::head_too_large,
       {.head_bytes = 30}},
  };
  for (const Case& c : cases) {
    CAPTURE(c.name);
    Connection connection(64, c.limits);
    connection.receive(c.received);
    CHECK(connection.next() == State::invalid);
    CHECK(connection.reader.error() == c.error);
    CHECK(connection.next() == State::invalid);  // and stays so
    // A new connection knows nothing of it.
    connection.reader.start_connection();
    connection.receive("GET / HTTP/1.1\r\n\r\n", 18);
    CHECK(connection.next() == State::request);
  }
}

TEST_CASE("what lies behind a head is the body first and the next request after it") {
  struct Case {
    std::string_view name;
    std::string behind;
    std::size_t body;
    std::size_t missing;
    bool is_read_to_end;
    std::string next;  // the bytes of the next request
  };
  const std::vector<Case> cases{
      {"nothing", "", 0, 0, true, ""},
      {"the whole body", "body", 4, 0, true, ""},
      {"a part of the body", "bo", 4, 2, false, ""},
      {"nothing of the body", "", 4, 4, false, ""},
      {"a request", "GET", 0, 0, false, "GET"},
      {"the body and a request", "bodyGET", 4, 0, false, "GET"},
  };
  for (const Case& c : cases) {
    CAPTURE(c.name);
    Connection connection;
    connection.receive(kGet + c.behind);
    REQUIRE(connection.next() == State::request);
    CHECK(connection.head() == kGet);
    CHECK(connection.behind_head() == c.behind);
    connection.reader.set_body_size(c.body);
    CHECK(connection.reader.missing() == c.missing);
    CHECK(connection.reader.is_read_to_end() == c.is_read_to_end);
    CHECK(connection.head() == kGet);  // stays where it is
    if (c.missing > 0) connection.reader.skipped_missing();
    CHECK(connection.start_next() == !c.next.empty());
    CHECK(std::string_view(connection.block.data(), connection.reader.bytes()) == c.next);
    CHECK(connection.next() == (c.next.empty() ? State::empty : State::need_more));
  }
}

TEST_CASE("bytes of the next request that came with the end of a body are kept behind the head") {
  struct Case {
    std::string_view name;
    std::string behind;  // received with the head: of the body
    std::string surplus;
    bool is_kept;
  };
  const std::size_t room = 64 - kGet.size();
  const std::vector<Case> cases{
      {"none", "body", "", true},
      {"a request", "body", kGet, true},
      {"in place of the body at hand", std::string(room, 'b'), kGet, true},
      {"just as much as there is room for", "", std::string(room, 'G'), true},
      {"a byte more", "", std::string(room + 1, 'G'), false},
  };
  for (const Case& c : cases) {
    CAPTURE(c.name);
    Connection connection(64);
    connection.receive(kGet + c.behind);
    REQUIRE(connection.next() == State::request);
    connection.reader.set_body_size(c.behind.size());
    CHECK(connection.reader.room_behind_head(connection.block) == room);
    CHECK(connection.reader.keep_behind_head(connection.block, c.surplus) == c.is_kept);
    CHECK(connection.head() == kGet);
    if (!c.is_kept) continue;
    CHECK(connection.reader.missing() == 0);
    CHECK(connection.behind_head() == c.surplus);
    CHECK(connection.start_next() == !c.surplus.empty());
    CHECK(std::string_view(connection.block.data(), connection.reader.bytes()) == c.surplus);
    if (c.surplus == kGet) CHECK(connection.next() == State::request);
  }
}

TEST_CASE("a head is shortened, and what follows it stays") {
  const std::string wire = "\r\nGET /a HTTP/1.1\r\nA: 1\r\nHost: h\r\n\r\nbody" + kGet;
  Connection connection(128);
  connection.receive(wire);
  REQUIRE(connection.next() == State::request);
  const std::span<char> head = connection.reader.head_bytes(connection.block);
  const std::string_view line = "A: 1\r\n";
  const std::size_t before = connection.head().find(line);
  std::copy_backward(head.begin(), head.begin() + static_cast<std::ptrdiff_t>(before),
                     head.begin() + static_cast<std::ptrdiff_t>(before + line.size()));
  connection.reader.shorten_head(line.size());
  CHECK(connection.head() == kGet);
  CHECK(connection.behind_head() == "body" + kGet);
  connection.reader.set_body_size(4);
  REQUIRE(connection.start_next());
  REQUIRE(connection.next() == State::request);
  CHECK(connection.head() == kGet);
}

}  // namespace spillway::http
