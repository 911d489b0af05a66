// A sans-I/O reader of message bodies, in pieces of any size, that checks the framing strictly.
//
// A chunked body is relayed in the form that rewrite() writes, so that the next recipient finds the
// same end: sizes in lower case without leading zeros, no extensions (RFC 9112 section 7.1.1 lets a
// recipient remove them), no forbidden trailer fields. `payload` is the content without chunk
// framing, for HTTP/1.0 clients. Only counters and the start of a line are kept.
//
// Chunked coding (RFC 9112 section 7.1): sizes are hexadecimal digits only (no sign, no 0x, no
// overflow; white space only before an extension's semicolon, RFC 9110 section 5.6.3); line ends
// are exactly CRLF; a chunk's size and extensions take at most 272 bytes, the extensions of all
// chunks 64 KiB, without control characters; the trailer section has at most 8 KiB of valid fields.
// A field that may not be a trailer (trailer.hpp) is an error in a request's trailer section, where
// it can only be an attack, and left out of a response's. With Framing::drops_trailers all trailers
// are left out.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "http/field/identity.hpp"
#include "http/message/error.hpp"
#include "http/message/head.hpp"

namespace spillway::http {

class BodyReader {
 public:
  struct Step {
    std::size_t consumed = 0;   // bytes of the input that belong to the body
    std::size_t written = 0;    // bytes written to the output
    std::string_view payload;   // the content in them: at most one contiguous piece
    bool done = false;          // the body is complete; the rest is the next message
    Error error = Error::none;  // if set, relay nothing of this step
  };

  enum class MessageKind : std::uint8_t { request, response };

  static constexpr std::uint64_t kNoLimit = UINT64_MAX;

  // `limit` bounds the content in bytes: beyond it, body_too_large (for Kind::length at the first
  // read). A body of Kind::none is done at once. `protected_fields` must outlive the reader.
  BodyReader(Framing framing, std::uint64_t limit, MessageKind kind,
             const ProtectedFields& protected_fields = kNoFieldsConfigured);

  // Consumes a prefix of `in`, at least one byte unless done, `in` is empty or an error. Call again
  // with the rest until everything is consumed or done. Writes the bytes to relay at `out`, which
  // may be in the same block, at least held() bytes before `in`. A chunk's size and a trailer's
  // name are written when they are complete.
  Step rewrite(std::string_view in, char* out);
  // Writes nothing; `payload` is part of `in`.
  Step read(std::string_view in) { return rewrite(in, nullptr); }
  // The number of consumed bytes that may have to be written later.
  static constexpr std::size_t kMostHeld = 72;
  std::size_t held() const;

  bool done() const { return state_ == State::done; }
  bool failed() const { return state_ == State::failed; }
  // The rest of the body is discarded: `protected_fields` need not live any longer.
  void relay_no_more() { protected_ = &kNoFieldsConfigured; }
  // That many bytes of a body of Kind::length, at most remaining(), were relayed without read() (by
  // splice).
  void pass(std::uint64_t bytes);
  // Bytes left of a body of Kind::length or of the current chunk.
  std::uint64_t remaining() const { return remaining_; }

  // The connection ended: none if that is a proper end (done, or until_close), otherwise truncated.
  Error end_of_input();

  std::uint64_t content_bytes() const { return content_; }

 private:
  enum class State : std::uint8_t {
    counted,  // Kind::length: remaining_ content bytes, then done
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
    trailer_space,
    trailer_value,
    trailer_lf,
    end_lf,
    done,
    failed,
  };

  struct Output;

  Step fail(Error error);
  Step read_chunked(std::string_view in, char* out);
  Error step(char c, Output& out);
  Error step_chunk_size(char c);
  Error step_size_space(char c);
  Error step_extension(char c);
  Error step_trailer(char c, Output& out);
  Error step_trailer_name(char c, Output& out);
  Error begin_chunk(Output& out);
  Error begin_trailer(Output& out);

  static constexpr std::size_t kNameKept = kMostHeld;  // longer than any forbidden name or prefix

  std::uint64_t limit_;
  std::uint64_t content_ = 0;
  std::uint64_t remaining_ = 0;   // of a Kind::length body or the current chunk
  std::uint32_t section_ = 0;     // bytes of the current size line, or of the trailer section
  std::uint32_t extensions_ = 0;  // bytes of the extensions of all chunks
  std::uint32_t name_ = 0;        // length of the current trailer's name
  bool has_digits_ = false;
  bool drops_trailers_;
  bool leaves_out_ = false;    // whether the current trailer is left out
  Error error_ = Error::none;  // stays once found
  State state_;
  MessageKind kind_;
  const ProtectedFields* protected_;
  std::array<char, kNameKept> kept_;  // start of the current trailer's name
};

}  // namespace spillway::http
