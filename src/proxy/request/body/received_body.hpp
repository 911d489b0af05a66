// Checks the body of a response as it arrives in a relay's block (http/message/body.hpp).
#pragma once

#include <cstring>
#include <span>
#include <string_view>

#include "http/message/body.hpp"
#include "proxy/request/body/relay_state.hpp"

namespace spillway::proxy {

struct CheckedBody {
  http::Error error = http::Error::none;
  bool has_surplus = false;  // bytes after the end of the response, to be discarded
};

// Checks the bytes received since the last call and rewrites their chunk framing; with `dechunks`
// it removes the framing instead. Calls `on_content` with each piece of content.
template <class OnContent>
CheckedBody check_received(http::BodyReader& reader, RelayState& state, std::span<char> block,
                           bool dechunks, const OnContent& on_content) {
  std::size_t valid = state.checked_to();
  std::size_t at = valid + reader.held();
  while (at < state.end() && !reader.done()) {
    const std::string_view rest(block.data() + at, state.end() - at);
    char* const out = block.data() + valid;
    const http::BodyReader::Step step = dechunks ? reader.read(rest) : reader.rewrite(rest, out);
    if (step.error != http::Error::none) return {.error = step.error};
    on_content(step.payload);
    if (dechunks && !step.payload.empty())
      std::memmove(out, step.payload.data(), step.payload.size());
    valid += dechunks ? step.payload.size() : step.written;
    at += step.consumed;
  }
  const bool has_surplus = reader.done() && at < state.end();
  state.set_checked(valid, reader.held());
  if (reader.done()) state.upstream_done();
  return {.has_surplus = has_surplus};
}

}  // namespace spillway::proxy
