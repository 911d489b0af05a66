// Reads the head of an upstream's response, and the interim responses before it, from bytes as they
// arrive (RFC 9110 section 15.2).
//
// Sans I/O: the caller receives into its block and passes all of it to each call. An interim head
// has to be taken out of the block (take_interim()) before the next call.
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
    interim,   // 1xx: it may be passed on
    final,     // status 200 or above
    switched,  // 101 to the protocol that was asked for
    invalid,   // not HTTP that may be passed on: error()
  };

  // `method` of the request; `upgrade`: the protocol that it asked for, empty: none.
  ResponseReader(HeadLimits limits, Verb method, std::string_view upgrade)
      : scanner_(HeadScanner::Kind::response, limits), method_(method), upgrade_(upgrade) {}

  // `received` begins with the first head that was not taken yet. Fills `head`, whose views are of
  // these bytes, for interim, final and switched.
  Event read(std::string_view received, ResponseHead& head);

  // Where the head at hand ends.
  std::size_t head_end() const { return end_; }
  // Its bytes have been taken out of the block.
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
