// The rest of a response that goes to no client: finds its end, so that the slot of an abandoned
// request is free as soon as its upstream has done its work, whether or not the upstream closes the
// connection then.
//
// Sans I/O, like http::ResponseReader and http::BodyReader, which do the reading.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "http/message/body.hpp"
#include "http/message/head.hpp"
#include "http/message/response_reader.hpp"

namespace spillway::proxy {

class RestOfResponse {
 public:
  enum class Next : std::uint8_t {
    more,          // of the body follows: pass the bytes after these
    more_of_head,  // pass these bytes again, with those after them
    ended,         // the response is complete
    streams,       // it is an event stream, whose events follow
    unknown,       // unreadable from here on: only the end of the connection ends it
  };

  // No byte of it has come.
  RestOfResponse(http::HeadLimits limits, http::Verb method) : method_(method) {
    head_.emplace(limits, method, std::string_view{});
  }
  // Its head has come, and the part of its body that `body` has read.
  explicit RestOfResponse(const http::BodyReader& body) : body_(body) {}

  Next read(std::string_view received);
  bool awaits_head() const { return head_.has_value(); }
  bool has_ended() const { return !head_ && body_.done(); }

 private:
  Next read_head(std::string_view received);
  Next read_body(std::string_view received);

  std::optional<http::ResponseReader> head_;  // until the head has come
  http::Verb method_ = http::Verb::unknown;
  std::size_t interim_ = 0;  // bytes of interim responses before the head
  bool is_unknown_ = false;
  http::BodyReader body_{{}, 0, http::BodyReader::MessageKind::response};
};

}  // namespace spillway::proxy
