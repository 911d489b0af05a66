// Reads a message body as it arrives, in pieces of any size, checking its framing strictly.
//
// What has been consumed without error is safe to relay byte for byte: the next party finds the
// same end. `payload` is the content without chunk framing, for HTTP/1.0 clients. Nothing is
// copied or kept but a few counters.
//
// Chunked coding (RFC 9112 section 7.1): sizes are hexadecimal digits only (no sign, no 0x, no
// overflow; white space only before an extension's semicolon, RFC 9110 section 5.6.3), line ends
// are CRLF exactly, a chunk's size and its extensions are at most 272 bytes, the extensions of all
// chunks 64 KiB, free of control characters, the trailer section is at most 8 KiB of valid fields,
// none of which may be about framing, routing or authentication (RFC 9110 section 6.5.1).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "http/error.hpp"
#include "http/head.hpp"

namespace spillway::http {

class BodyReader {
 public:
  struct Step {
    std::size_t consumed = 0;   // bytes of the input that belong to the body
    std::string_view payload;   // content found in them: at most one contiguous piece
    bool done = false;          // the body is complete; the rest is the next message
    Error error = Error::none;  // relay nothing of this step
  };

  enum class Of : std::uint8_t { request, response };

  static constexpr std::uint64_t kNoLimit = UINT64_MAX;

  // `limit` bounds the content in bytes: beyond it, body_too_large (for Kind::length at the first
  // read). A body of Kind::none is done at once.
  BodyReader(Framing framing, std::uint64_t limit, Of of);

  // Consumes a prefix of `in`, at least one byte unless done, `in` is empty or an error. Call again
  // with the rest until everything is consumed or done.
  Step read(std::string_view in);

  bool done() const { return state_ == State::done; }
  // Of a counted body (Kind::length) so many bytes, at most those that are left, went by unseen.
  void pass(std::uint64_t bytes);
  // What is left of a counted body, or of the chunk at hand.
  std::uint64_t remaining() const { return remaining_; }

  // The connection ended: none if that is a proper end (done, or until_close), else truncated.
  Error end_of_input();

  std::uint64_t content_bytes() const { return content_; }

 private:
  enum class State : std::uint8_t {
    counted,  // remaining_ content bytes, then done
    to_close,
    chunk_size,
    size_space,
    extension,
    quoted,
    quoted_pair,
    size_lf,
    chunk_data,
    data_cr,
    data_lf,
    trailer_start,
    trailer_name,
    trailer_value,
    trailer_lf,
    end_lf,
    done,
    failed,
  };

  Step fail(Error error);
  Step read_chunked(std::string_view in);
  Error step(char c);
  Error step_chunk_size(char c);
  Error step_size_space(char c);
  Error step_extension(char c);
  Error step_trailer(char c);
  Error begin_chunk();
  bool forbidden_trailer() const;

  static constexpr std::size_t kNameKept = 40;  // longer than any forbidden name or prefix

  std::uint64_t limit_;
  std::uint64_t content_ = 0;
  std::uint64_t remaining_ = 0;   // of the counted body or the current chunk
  std::uint32_t section_ = 0;     // bytes of the current size line, or of the trailer section
  std::uint32_t extensions_ = 0;  // bytes of all chunks' extensions
  std::uint32_t name_ = 0;        // length of the current trailer's name
  bool has_digits_ = false;
  Error error_ = Error::none;  // stays once found
  State state_;
  Of of_;
  std::array<char, kNameKept> kept_;  // start of the current trailer's name
};

}  // namespace spillway::http
