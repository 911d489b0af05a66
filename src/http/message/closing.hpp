// How a server closes a connection after its last response (RFC 9112 section 9.6).
//
// A connection that is closed with bytes unread is reset, and the client may lose the response. So
// the server stops sending, goes on reading for a moment, and closes then: the lingering close.
#pragma once

#include <cstddef>
#include <limits>

namespace spillway::http {

struct LastResponse {
  bool is_own = false;         // a refusal, an error or a fallback: not the upstream's
  bool is_input_read = false;  // all that was received, and all of the request's body
};

struct Closing {
  bool lingers = false;
  std::size_t most_bytes = 0;  // to be read and thrown away meanwhile
};

// A refusal must stay cheap: of its request no more than `small_body` bytes are read. A response of
// the upstream that came ahead of the request's body is worth more.
constexpr Closing closing_after(const LastResponse& response, std::size_t small_body) {
  if (response.is_own) return {true, small_body};
  if (response.is_input_read) return {};
  return {true, std::numeric_limits<std::size_t>::max()};
}

}  // namespace spillway::http
