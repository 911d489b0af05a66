// Any bytes as a body: the reader takes and refuses exactly what the reference decoder does, finds
// the same content and the same end, and writes the same chunks.
#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "fuzz/chunk_reference.hpp"
#include "fuzz/claim.hpp"
#include "fuzz/options.hpp"
#include "fuzz/targets.hpp"
#include "http/message/body.hpp"

namespace spillway::fuzz {
namespace {

using http::BodyReader;
using http::Error;
using http::Framing;
using Kind = Framing::Kind;
using Verdict = Decoded::Verdict;

struct Outcome {
  std::string content;
  std::size_t consumed = 0;
  bool done = false;
  Error error = Error::none;
};

// Hands the reader pieces of this size.
Outcome read(BodyReader reader, std::string_view text, std::size_t piece) {
  Outcome out;
  while (out.consumed < text.size() && !reader.done()) {
    const std::string_view in = text.substr(out.consumed, piece);
    const BodyReader::Step step = reader.read(in);
    out.error = step.error;
    if (out.error != Error::none) break;
    require(step.consumed > 0 && step.consumed <= in.size(), "each step takes some of its input");
    require(step.payload.empty() ||
                (step.payload.data() >= in.data() &&
                 step.payload.data() + step.payload.size() <= in.data() + step.consumed),
            "content lies within what was taken");
    out.content += step.payload;
    out.consumed += step.consumed;
    require(step.done == reader.done(), "a step says whether the body is done");
  }
  out.done = reader.done();
  require(out.error != Error::none || reader.content_bytes() == out.content.size(),
          "the bytes of content are counted");
  const Error again = reader.read("x").error;
  require(out.error == Error::none || again == out.error, "an error stays");
  return out;
}

// What a relay makes of it in one block, filled in pieces of this size.
std::string relayed(BodyReader reader, std::string_view text, std::size_t piece) {
  std::string block = std::string(text);
  std::size_t valid = 0;
  while (!text.empty() && !reader.done()) {
    std::size_t at = valid + reader.held();
    const std::size_t bytes = std::min(piece, text.size());
    require(at + bytes <= block.size(), "what is held back takes no more room than it had");
    const std::size_t end = at + text.copy(block.data() + at, bytes);
    text.remove_prefix(bytes);
    while (at < end && !reader.done()) {
      const BodyReader::Step step =
          reader.rewrite({block.data() + at, end - at}, block.data() + valid);
      if (step.error != Error::none) return {};
      at += step.consumed;
      valid += step.written;
      require(valid + reader.held() <= at, "nothing is written over what is still to be read");
    }
  }
  return block.substr(0, valid);
}

void check_chunked(std::string_view text, std::uint64_t limit, BodyReader::MessageKind of,
                   bool drops_trailers) {
  const Framing framing{Kind::chunked, 0, drops_trailers};
  const Decoded expected =
      decode_chunked(text, limit, of == BodyReader::MessageKind::request, drops_trailers);
  for (const std::size_t piece :
       {std::max<std::size_t>(text.size(), 1), std::size_t{7}, std::size_t{1}}) {
    const Outcome out = read(BodyReader(framing, limit, of), text, piece);
    const bool refused = expected.verdict == Verdict::refused;
    require((out.error != Error::none) == refused, "both refuse or neither does", text);
    require(out.done == (expected.verdict == Verdict::complete), "both see the same end", text);
    require((out.error == Error::body_too_large) == expected.too_large, "too large is too large",
            text);
    if (refused) {
      require(std::string_view(expected.content).starts_with(out.content),
              "nothing is relayed but what came before the fault", text);
      continue;
    }
    require(out.content == expected.content, "both find the same content", text);
    require(out.consumed == expected.consumed, "both find the same next message", text);
    if (!out.done) continue;
    require(relayed(BodyReader(framing, limit, of), text, piece) == expected.anew,
            "chunks are written anew", text);
  }
}

void check_counted(std::string_view text, std::uint64_t length, std::uint64_t limit) {
  const Outcome out =
      read(BodyReader({Kind::length, length}, limit, BodyReader::MessageKind::request), text,
           std::max<std::size_t>(text.size() / 3, 1));
  if (length > limit && !text.empty()) {
    require(out.error == Error::body_too_large && out.content.empty(), "too large is too large");
    return;
  }
  const std::string_view expected = text.substr(0, length);
  require(out.error == Error::none && out.content == expected && out.consumed == expected.size(),
          "a body of known length has that length");
  require(out.done == (expected.size() == length), "and ends there");
}

void check_to_close(std::string_view text, std::uint64_t limit) {
  BodyReader reader({Kind::until_close, 0}, limit, BodyReader::MessageKind::response);
  const Outcome out = read(reader, text, 5);
  require((out.error == Error::body_too_large) == (text.size() > limit), "a limit is one");
  require(out.error != Error::none || (out.content == text && !out.done), "all of it is content");
}

}  // namespace

void chunked_body(std::string_view input) {
  Options options(input);
  const unsigned how = options.byte();
  const unsigned size = options.byte();
  const std::string_view text = options.rest();
  const std::uint64_t limit = bit(how, 0) ? size : BodyReader::kNoLimit;
  check_chunked(text, limit,
                bit(how, 1) ? BodyReader::MessageKind::response : BodyReader::MessageKind::request,
                bit(how, 2));
  check_counted(text, size, bit(how, 0) ? how : BodyReader::kNoLimit);
  check_to_close(text, limit);
}

}  // namespace spillway::fuzz
