// How a server closes a connection after its last response (RFC 9112 section 9.6).
//
// Closing a connection while bytes are unread resets it, and the client may lose the response. So
// the server stops sending, goes on reading for a moment, and then closes: the lingering close.
#pragma once

#include <cstddef>
#include <limits>

namespace spillway::http {

struct LastResponse {
  bool is_own = false;         // a refusal, an error or a fallback: not from the upstream
  bool is_input_read = false;  // everything received was read, and so was the whole request body
};

struct Closing {
  bool lingers = false;
  std::size_t most_bytes = 0;  // how many bytes to read and discard meanwhile
};

// A refusal must stay cheap: at most `small_body` bytes of its request are read. A response from
// the upstream that arrived before the end of the request's body is worth more.
constexpr Closing closing_after(const LastResponse& response, std::size_t small_body) {
  if (response.is_own) return {true, small_body};
  if (response.is_input_read) return {};
  return {true, std::numeric_limits<std::size_t>::max()};
}

}  // namespace spillway::http
