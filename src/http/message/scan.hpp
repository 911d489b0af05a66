// An incremental scanner for the end of a head. It rejects a head as soon as it cannot become
// valid, so that a bare LF, a NUL or an overlong line gets an immediate 400 and not a timeout. Each
// byte is scanned once, however the bytes are split.
//
// Skips up to four empty lines before a request line (RFC 9112 section 2.2). Refuses bare CR,
// bare LF, NUL and other control characters but HTAB (RFC 9110 section 5.5), line folding
// (RFC 9112 section 5.2), and a method that is not a token.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "http/message/error.hpp"

namespace spillway::http {

// The hard limit of a request line, and so of a request target.
inline constexpr std::size_t kMaxRequestLine = 8192;

struct HeadLimits {
  std::size_t head_bytes = 65536;            // whole head, blank line included
  std::size_t line_bytes = kMaxRequestLine;  // request line only, at most kMaxRequestLine
};

struct Scan {
  enum class State : std::uint8_t { need_more, complete, invalid };
  State state = State::need_more;
  std::size_t begin = 0;  // complete: the head is received[begin, end), blank line included
  std::size_t end = 0;
  Error error = Error::none;  // invalid
};

class HeadScanner {
 public:
  enum class Kind : std::uint8_t { request, response };

  explicit HeadScanner(Kind kind, HeadLimits limits = {});

  // `received` is everything received since the end of the previous message: it starts with the
  // same bytes as in the previous call and may have grown (the block may have moved).
  Scan scan(std::string_view received);

  // Prepares for the next message.
  void reset();

  // Whether any byte of a head has arrived, besides empty lines.
  bool started() const { return position_ > begin_; }

 private:
  Scan fail(Error error);
  Error check_method(std::string_view received);

  Kind kind_;
  HeadLimits limits_;
  std::size_t begin_ = 0;        // where the head starts, after empty lines
  std::size_t position_ = 0;     // everything before it has been scanned
  std::size_t line_ = 0;         // start of the current line
  std::size_t empty_lines_ = 0;  // skipped before the head
  std::size_t lines_ = 0;        // complete lines of the head so far
  std::size_t method_ = 0;       // where the method check continues
  bool method_done_ = false;
  Error error_ = Error::none;  // stays once found
};

}  // namespace spillway::http
