// Reads one side of a connection as the proxy does: heads, framing and bodies, one message after
// the other, from bytes that arrive in pieces.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "http/message/body.hpp"
#include "http/message/scan.hpp"

namespace spillway::fuzz {

struct Message {
  std::size_t head_begin = 0;  // offsets in the stream
  std::size_t head_end = 0;
  std::string fields;  // what was read of the head, as a text
  std::string content;
  std::size_t end = 0;  // where the next message begins
  http::Error error = http::Error::none;

  friend bool operator==(const Message&, const Message&) = default;
};

struct StreamOptions {
  http::BodyReader::MessageKind of = http::BodyReader::MessageKind::request;
  http::HeadLimits limits;
  std::uint64_t body_limit = http::BodyReader::kNoLimit;
  http::Verb method = http::Verb::get;  // that the responses answer
};

// The messages up to the end of the stream or the first fault. `cuts` are where a piece ends, in
// rising order; the end of the text is one more.
std::vector<Message> read_stream(std::string_view text, std::span<const std::size_t> cuts,
                                 const StreamOptions& options);

// For people: which message differs and how.
std::string difference(const std::vector<Message>& a, const std::vector<Message>& b);

}  // namespace spillway::fuzz
