#include "http/message/body.hpp"

#include <doctest/doctest.h>

#include <random>
#include <string>
#include <vector>

using namespace spillway::http;
using namespace std::literals;

namespace {

using Kind = Framing::Kind;

struct Outcome {
  std::string payload;
  std::size_t consumed = 0;
  bool done = false;
  Error error = Error::none;

  friend bool operator==(const Outcome&, const Outcome&) = default;
};

// Feeds the reader the text in pieces that end at the given offsets.
Outcome feed(BodyReader reader, std::string_view text, const std::vector<std::size_t>& ends) {
  Outcome outcome;
  std::size_t begin = 0;
  for (const std::size_t end : ends) {
    std::string_view piece = text.substr(begin, end - begin);
    begin = end;
    while (!piece.empty()) {
      const BodyReader::Step step = reader.read(piece);
      outcome.payload += step.payload;
      outcome.consumed += step.consumed;
      outcome.done = step.done;
      outcome.error = step.error;
      if (step.done || step.error != Error::none) return outcome;
      REQUIRE(step.consumed > 0);
      piece.remove_prefix(step.consumed);
    }
  }
  return outcome;
}

BodyReader chunked(std::uint64_t limit = BodyReader::kNoLimit,
                   BodyReader::MessageKind of = BodyReader::MessageKind::request) {
  return BodyReader({Kind::chunked, 0}, limit, of);
}

Outcome read_all(BodyReader reader, std::string_view text) {
  return feed(reader, text, {text.size()});
}

Error chunk_error(std::string_view text) { return read_all(chunked(), text).error; }

}  // namespace

TEST_CASE("a chunked body reads the same at every split") {
  const std::string text =
      "4\r\nWiki\r\n6;a=b;c=\"q\\\" ;\"\r\npedia \r\n00E\r\nin \r\n\r\nchunks.\r\n0;x\r\n"
      "X-Sum: 12\r\nEmpty:\r\n\r\nGET /next";
  const std::size_t end = text.size() - 9;
  const Outcome whole = read_all(chunked(), text);
  CHECK(whole.payload == "Wikipedia in \r\n\r\nchunks.");
  CHECK(whole.consumed == end);
  CHECK(whole.done);
  for (std::size_t split = 1; split < end; ++split) {
    CAPTURE(split);
    Outcome outcome = feed(chunked(), text, {split, text.size()});
    CHECK(outcome == whole);
  }
  std::vector<std::size_t> every;
  for (std::size_t i = 1; i <= text.size(); ++i) every.push_back(i);
  CHECK(feed(chunked(), text, every) == whole);
}

TEST_CASE("a malformed chunked body is refused at every split and never consumed past its fault") {
  struct Case {
    std::string_view why;
    std::string_view text;
    Error error;
  };
  const Case cases[] = {
      {"no digits", "\r\n", Error::bad_chunk},
      {"no digits before an extension", ";a\r\n", Error::bad_chunk},
      {"0x", "0x4\r\nWiki\r\n", Error::bad_chunk},
      {"plus", "+4\r\nWiki\r\n", Error::bad_chunk},
      {"minus", "-4\r\n", Error::bad_chunk},
      {"leading space", " 4\r\n", Error::bad_chunk},
      {"trailing space", "4 \r\n", Error::bad_chunk},
      {"space and no extension", "4 \t\r\nWiki\r\n0\r\n\r\n", Error::bad_chunk},
      {"space within", "4 0\r\n", Error::bad_chunk},
      {"no hexadecimal", "g\r\n", Error::bad_chunk},
      {"overflow", "10000000000000000\r\n", Error::bad_chunk},
      {"overflow that wraps to 4", "100000000000000004\r\n", Error::bad_chunk},
      {"bare LF after the size", "4\nWiki\r\n", Error::bad_chunk},
      {"bare CR after the size", "4\rWiki\r\n", Error::bad_chunk},
      {"LF in an extension", "4;a\nWiki\r\n", Error::bad_chunk},
      {"LF in a quoted string", "4;a=\"\n\"\r\nWiki\r\n", Error::bad_chunk},
      {"CRLF in a quoted string", "4;a=\"\r\n\"\r\nWiki\r\n", Error::bad_chunk},
      {"LF after a backslash", "4;a=\"\\\n\"\r\nWiki\r\n", Error::bad_chunk},
      {"NUL in an extension", "4;a\0\r\nWiki\r\n"sv, Error::bad_chunk},
      {"data too long", "4\r\nWikis\r\n", Error::bad_chunk},
      {"data too short", "4\r\nWik\r\n0\r\n", Error::bad_chunk},
      {"bare LF after data", "4\r\nWiki\n0\r\n", Error::bad_chunk},
      {"trailer without colon", "0\r\nA\r\n\r\n", Error::bad_trailer},
      {"trailer without name", "0\r\n: b\r\n\r\n", Error::bad_trailer},
      {"space before the colon", "0\r\nA : b\r\n\r\n", Error::bad_trailer},
      {"folded trailer", "0\r\nA: b\r\n c\r\n\r\n", Error::bad_trailer},
      {"bare LF in a trailer", "0\r\nA: b\n\r\n", Error::bad_trailer},
      {"bare LF at the end", "0\r\n\n", Error::bad_trailer},
      {"bare CR at the end", "0\r\n\rX", Error::bad_trailer},
      {"NUL in a trailer", "0\r\nA: \0\r\n\r\n"sv, Error::bad_trailer},
      {"framing", "0\r\nContent-Length: 3\r\n\r\n", Error::bad_trailer},
      {"framing", "0\r\ntransfer-encoding: chunked\r\n\r\n", Error::bad_trailer},
      {"routing", "0\r\nHost: b\r\n\r\n", Error::bad_trailer},
      {"authentication", "0\r\nAuthorization: b\r\n\r\n", Error::bad_trailer},
      {"identity", "0\r\nX-Forwarded-For: b\r\n\r\n", Error::bad_trailer},
      {"identity", "0\r\nSpillway-Late: 1\r\n\r\n", Error::bad_trailer},
  };
  for (const Case& one : cases) {
    CAPTURE(one.why);
    CHECK(chunk_error(one.text) == one.error);
    for (std::size_t split = 1; split < one.text.size(); ++split) {
      CAPTURE(split);
      CHECK(feed(chunked(), one.text, {split, one.text.size()}).error == one.error);
    }
  }
}

// RFC 9110 section 5.6.3.
TEST_CASE("white space before a chunk extension is bad and read all the same") {
  const std::string text = "4 \t;a\r\nWiki\r\n0 ; b = c\r\n\r\n";
  const Outcome whole = read_all(chunked(), text);
  CHECK(whole.payload == "Wiki");
  CHECK(whole.done);
  for (std::size_t split = 1; split < text.size(); ++split) {
    CHECK(feed(chunked(), text, {split, text.size()}) == whole);
  }
  CHECK(chunk_error("4" + std::string(300, ' ') + ";a\r\n") == Error::bad_chunk);
}

TEST_CASE("chunk extensions and trailers are bounded") {
  const std::string fits = "1;" + std::string(250, 'a') + "\r\nx\r\n";
  CHECK(chunk_error(fits) == Error::none);
  CHECK(chunk_error("1;" + std::string(300, 'a') + "\r\nx\r\n") == Error::bad_chunk);
  CHECK(chunk_error(std::string(300, '0') + "1\r\nx\r\n") == Error::bad_chunk);
  std::string many;
  for (int i = 0; i < 300; ++i) many += fits;
  CHECK(chunk_error(many) == Error::bad_chunk);

  CHECK(chunk_error("0\r\nA: " + std::string(8000, 'a') + "\r\n\r\n") == Error::none);
  CHECK(chunk_error("0\r\nA: " + std::string(8192, 'a') + "\r\n\r\n") == Error::bad_trailer);
  CHECK(chunk_error("0\r\n" + std::string(100, 'n') + ": a\r\n\r\n") == Error::none);
  CHECK(chunk_error("0\r\nSpillway-" + std::string(100, 'n') + ": a\r\n\r\n") ==
        Error::bad_trailer);
}

TEST_CASE("response trailers may say what request trailers may not but nothing about framing") {
  const auto response = [](std::string_view text) {
    return read_all(chunked(BodyReader::kNoLimit, BodyReader::MessageKind::response), text).error;
  };
  CHECK(response("0\r\nX-Request-Id: b\r\nSet-Cookie: a=b\r\n\r\n") == Error::none);
  CHECK(response("0\r\nContent-Length: 3\r\n\r\n") == Error::none);  // it is left out
  // RFC 9112 section 5.1: white space before the colon is removed.
  CHECK(response("0\r\nA \t: b\r\n\r\n") == Error::none);
  CHECK(response("0\r\nA b: c\r\n\r\n") == Error::bad_trailer);
  CHECK(response("0\r\n : b\r\n\r\n") == Error::bad_trailer);
  CHECK(response("0\r\nA \r\n\r\n") == Error::bad_trailer);
}

// Relays a body through one block, in pieces that end at the given offsets, as RelayState does.
std::string relayed(BodyReader reader, std::string_view text,
                    const std::vector<std::size_t>& ends) {
  std::string block = std::string(text.size(), '#');
  std::size_t valid = 0;
  std::size_t begin = 0;
  for (const std::size_t end : ends) {
    std::size_t at = valid + reader.held();
    REQUIRE(at + (end - begin) <= block.size());
    const std::size_t filled = at + text.copy(block.data() + at, end - begin, begin);
    begin = end;
    while (at < filled && !reader.done()) {
      const BodyReader::Step step =
          reader.rewrite({block.data() + at, filled - at}, block.data() + valid);
      if (step.error != Error::none) return "refused";
      at += step.consumed;
      valid += step.written;
    }
    REQUIRE(valid + reader.held() <= at);
  }
  return reader.done() ? block.substr(0, valid) : "incomplete";
}

TEST_CASE("a chunked body is written anew at every split") {
  struct Case {
    std::string name, text, anew;
  };
  const std::string long_name(60, 'n');
  const std::string with_long_name = "0\r\n" + long_name + ": a\r\n\r\n";
  const std::string forbidden = "0\r\nA: b\r\ncontent-length: 3\r\nHOST:\r\nC: d\r\n\r\n";
  const Case cases[] = {
      {"as it is", "4\r\nWiki\r\nb\r\npedia in it\r\n0\r\nA: b\r\n\r\n",
       "4\r\nWiki\r\nb\r\npedia in it\r\n0\r\nA: b\r\n\r\n"},
      {"leading zeros", "00000000000000000000004\r\nWiki\r\n000\r\n\r\n", "4\r\nWiki\r\n0\r\n\r\n"},
      {"capital digits", "A\r\n0123456789\r\n0\r\n\r\n", "a\r\n0123456789\r\n0\r\n\r\n"},
      {"extensions", "4;a=b;c=\"q\\\" ;\"\r\nWiki\r\n0;x\r\n\r\n", "4\r\nWiki\r\n0\r\n\r\n"},
      {"white space around one", "4 \t; a = b\r\nWiki\r\n0 ;b\r\n\r\n", "4\r\nWiki\r\n0\r\n\r\n"},
      {"trailers that are none", forbidden, "0\r\nA: b\r\nC: d\r\n\r\n"},
      {"only such trailers", "0\r\nTE: trailers\r\n\r\n", "0\r\n\r\n"},
      {"a long name", with_long_name, with_long_name},
      {"the longest name that is held", "0\r\n1234567890123456789012345678901234567890: a\r\n\r\n",
       "0\r\n1234567890123456789012345678901234567890: a\r\n\r\n"},
      {"white space before the colon", "0\r\nA : b\r\nTE\t: c\r\n\r\n", "0\r\nA: b\r\n\r\n"},
      {"such white space behind a long name", "0\r\n" + long_name + " \t: a\r\n\r\n",
       with_long_name},
      {"a malformed trailer", "0\r\nA b: c\r\n\r\n", "refused"},
      {"a malformed trailer that would be left out", "0\r\nHost: a\nb\r\n\r\n", "refused"},
  };
  for (const Case& one : cases) {
    CAPTURE(one.name);
    const BodyReader reader = chunked(BodyReader::kNoLimit, BodyReader::MessageKind::response);
    CHECK(relayed(reader, one.text, {one.text.size()}) == one.anew);
    std::vector<std::size_t> every;
    for (std::size_t split = 1; split <= one.text.size(); ++split) {
      CAPTURE(split);
      every.push_back(split);
      CHECK(relayed(reader, one.text, {split, one.text.size()}) == one.anew);
    }
    CHECK(relayed(reader, one.text, every) == one.anew);
  }
}

TEST_CASE("trailers are left out and checked all the same") {
  using enum BodyReader::MessageKind;
  const Framing framing{.kind = Framing::Kind::chunked, .drops_trailers = true};
  for (const auto kind : {request, response}) {
    const BodyReader reader(framing, BodyReader::kNoLimit, kind);
    const std::string_view text = "3\r\nabc\r\n0\r\nA: b\r\nC: d\r\n\r\n";
    CHECK(relayed(reader, text, {text.size()}) == "3\r\nabc\r\n0\r\n\r\n");
    const std::string_view bad = "0\r\nA b: c\r\n\r\n";
    CHECK(relayed(reader, bad, {bad.size()}) == "refused");
  }
  const BodyReader reader(framing, BodyReader::kNoLimit, request);
  const std::string_view forbidden = "0\r\nHost: a\r\n\r\n";
  CHECK(relayed(reader, forbidden, {forbidden.size()}) == "refused");
}

TEST_CASE("the limit counts content and not its chunk framing") {
  CHECK(read_all(chunked(8), "4\r\nWiki\r\n4\r\npedi\r\n0\r\n\r\n").done);
  CHECK(read_all(chunked(7), "4\r\nWiki\r\n4\r\npedi\r\n0\r\n\r\n").error == Error::body_too_large);
  CHECK(read_all(chunked(7), "ffffffffffffffff\r\n").error == Error::body_too_large);
  const auto counted = [](std::uint64_t length, std::uint64_t limit) {
    return BodyReader({Kind::length, length}, limit, BodyReader::MessageKind::request);
  };
  CHECK(read_all(counted(4, 4), "Wiki").done);
  CHECK(read_all(counted(5, 4), "W").error == Error::body_too_large);
}

TEST_CASE("a counted body ends where it should and an end of input tells truncation") {
  BodyReader reader({Kind::length, 6}, BodyReader::kNoLimit, BodyReader::MessageKind::response);
  CHECK(reader.read("abc").consumed == 3);
  BodyReader cut = reader;
  CHECK(cut.end_of_input() == Error::truncated);
  const BodyReader::Step step = reader.read("defGET");
  CHECK(step.consumed == 3);
  CHECK(step.payload == "def");
  CHECK(step.done);
  CHECK(reader.end_of_input() == Error::none);
  CHECK(reader.read("x").consumed == 0);
  CHECK(reader.content_bytes() == 6);

  BodyReader unseen({Kind::length, 6}, BodyReader::kNoLimit, BodyReader::MessageKind::response);
  CHECK(unseen.read("ab").consumed == 2);
  CHECK(unseen.remaining() == 4);
  unseen.pass(3);
  CHECK(unseen.end_of_input() == Error::truncated);
  unseen.pass(1);
  CHECK(unseen.done());
  CHECK(unseen.content_bytes() == 6);

  BodyReader open({Kind::until_close, 0}, BodyReader::kNoLimit, BodyReader::MessageKind::response);
  CHECK(open.read("anything").consumed == 8);
  CHECK_FALSE(open.done());
  CHECK(open.end_of_input() == Error::none);
  CHECK(open.done());

  BodyReader unfinished = chunked();
  CHECK(unfinished.read("4\r\nWiki\r\n0\r\n").consumed == 12);
  CHECK(unfinished.end_of_input() == Error::truncated);
  CHECK(BodyReader({}, 0, BodyReader::MessageKind::request).done());
}

TEST_CASE("an error stays an error") {
  BodyReader reader = chunked();
  CHECK(reader.read("x").error == Error::bad_chunk);
  CHECK(reader.read("4\r\n").error == Error::bad_chunk);
  CHECK(reader.end_of_input() == Error::truncated);
}

TEST_CASE("random chunked bodies give back their content in random pieces") {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    std::string text;
    std::string content;
    for (unsigned chunks = random() % 6; chunks > 0; --chunks) {
      const std::string data(1 + random() % 40, static_cast<char>('\n' + random() % 5));
      char size[8];
      std::snprintf(size, sizeof size, random() % 2 ? "%zx" : "%zX", data.size());
      text += std::string(size) + "\r\n" + data + "\r\n";
      content += data;
    }
    text += "0\r\n\r\n";
    std::vector<std::size_t> ends;
    for (std::size_t at = 0; at < text.size();) {
      at = std::min(text.size(), at + 1 + random() % 9);
      ends.push_back(at);
    }
    const Outcome outcome = feed(chunked(), text, ends);
    CHECK(outcome.done);
    CHECK(outcome.payload == content);
    CHECK(outcome.consumed == text.size());
  }
}
