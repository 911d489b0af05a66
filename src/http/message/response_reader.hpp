// Reads the head of an upstream's response, and the interim responses before it, from bytes as they
// arrive (RFC 9110 section 15.2).
//
// Sans I/O: the caller receives into its block and passes the whole block to each call. An interim
// head must be removed from the block (take_interim()) before the next call.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "http/message/error.hpp"
#include "http/message/head.hpp"
#include "http/message/scan.hpp"

namespace spillway::http {

class ResponseReader {
 public:
  // More interim responses than this are a flood, not progress.
  static constexpr int kMostInterim = 64;

  enum class Event : std::uint8_t {
    need_more,
    interim,   // 1xx: may be forwarded
    final,     // status 200 or above
    switched,  // 101 to the protocol that the request asked for
    invalid,   // not an acceptable HTTP response: error()
  };

  // `method` of the request; `upgrade`: the protocol that it asked for; empty: none.
  ResponseReader(HeadLimits limits, Verb method, std::string_view upgrade)
      : scanner_(HeadScanner::Kind::response, limits), method_(method), upgrade_(upgrade) {}

  // `received` begins with the first head not yet removed. Fills `head`, whose views point into
  // these bytes, for interim, final and switched.
  Event read(std::string_view received, ResponseHead& head);

  // The end of the current head.
  std::size_t head_end() const { return end_; }
  // The head's bytes have been removed from the block.
  void take_interim() { scanner_.reset(); }
  Error error() const { return error_; }

 private:
  Event fail(Error error);

  HeadScanner scanner_;
  Verb method_;
  std::string_view upgrade_;
  std::size_t end_ = 0;
  int interim_ = 0;
  Error error_ = Error::none;
};

}  // namespace spillway::http
