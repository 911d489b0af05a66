// The chunked coding once more, in another way than the proxy reads it: whole, from left to right,
// by the grammar of RFC 9112 section 7.1 with the limits that http/message/body.hpp states.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace spillway::fuzz {

struct Decoded {
  enum class Verdict : std::uint8_t { complete, incomplete, refused };
  Verdict verdict = Verdict::incomplete;
  std::size_t consumed = 0;  // complete: bytes up to the end of the body
  std::string content;       // what came of it, also when it is incomplete or refused
  std::string anew;          // complete: the body as it is relayed
  bool too_large = false;    // refused for its size
};

// `drops_trailers`: none of them is relayed (http::Framing).
Decoded decode_chunked(std::string_view text, std::uint64_t limit, bool of_request,
                       bool drops_trailers = false);

}  // namespace spillway::fuzz
