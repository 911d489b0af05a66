// Finds the requests of one connection, one after the other, in the block that bytes are received
// into (pipelining, RFC 9112 section 9.3.2).
//
// Keeps offsets only: the block belongs to the caller, is passed to each call, and may be replaced
// by a larger one with the same bytes. Between next() and start_next() the head does not move, so
// that views of it stay valid.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "http/message/error.hpp"
#include "http/message/scan.hpp"

namespace spillway::http {

class RequestReader {
 public:
  enum class State : std::uint8_t {
    need_more,
    empty,    // only complete empty lines have arrived, or nothing (RFC 9112 section 2.2)
    full,     // the block has no room for the rest of the head
    request,  // a head has arrived: head()
    invalid,  // the bytes received can never become a head: error()
  };

  explicit RequestReader(HeadLimits limits) : scanner_(HeadScanner::Kind::request, limits) {}

  // A new connection: nothing has been received.
  void start_connection();

  // Where to receive the next bytes.
  std::span<char> room(std::span<char> block) const { return block.subspan(received_); }
  void received(std::size_t bytes) { received_ += bytes; }
  State next(std::span<const char> block);
  // Forgets the empty lines; the block may be given back.
  void drop_empty_lines();

  std::string_view head(std::span<const char> block) const {
    return {block.data() + begin_, end_ - begin_};
  }
  // The head for writing, and by how many bytes it begins later from then on.
  std::span<char> head_bytes(std::span<char> block) const {
    return block.subspan(begin_, end_ - begin_);
  }
  void shorten_head(std::size_t by) { begin_ += by; }
  Error error() const { return error_; }
  std::size_t bytes() const { return received_; }

  // The bytes after the head: its body, and requests after it.
  std::string_view behind_head(std::span<const char> block) const {
    return {block.data() + end_, received_ - end_};
  }
  // This many bytes after the head are the request's body; the next request begins after them. If
  // more than have been received, the rest must still be received and discarded, see missing().
  void set_body_size(std::size_t bytes) { next_ = end_ + bytes; }
  std::size_t missing() const { return next_ > received_ ? next_ - received_ : 0; }
  // `next` was received elsewhere, after the body: bytes of the next request, to be kept after the
  // head. False if they do not fit; they are then lost.
  bool keep_behind_head(std::span<char> block, std::string_view next);
  // The room for those bytes.
  std::size_t room_behind_head(std::span<const char> block) const { return block.size() - end_; }
  // Everything received belongs to the request.
  bool is_read_to_end() const { return received_ == next_; }

  // The missing bytes have been discarded, and all bytes before them.
  void skipped_missing() { received_ = next_ = 0; }
  // Moves the bytes after the request to the front of the block. True if there are any.
  bool start_next(std::span<char> block);

 private:
  HeadScanner scanner_;
  std::size_t received_ = 0;
  std::size_t begin_ = 0;  // of the head, after empty lines
  std::size_t end_ = 0;
  std::size_t next_ = 0;  // where the next request begins
  Error error_ = Error::none;
};

}  // namespace spillway::http
