// Whether the response to a visitor's request ends the visitor's session in a waiting room.
#pragma once

#include <cstdint>

#include "http/message/head.hpp"

namespace spillway::proxy {

enum class VisitorSessionEnd : std::uint8_t {
  none,     // it goes on, or there is none
  in_line,  // it began with this request, which failed: the visitor has its place in line again
  over,     // the upstream says that the visitor does not need it any more
};

struct VisitorSession {
  bool is_open = false;
  bool is_new = false;  // it began with this request
};

// Call it before the head of a response with this status is sent. `response`: the upstream's, if
// that is sent; its Spillway-Session may be "refused" or "end".
VisitorSessionEnd visitor_session_end(VisitorSession session, unsigned status,
                                      const http::ResponseHead* response);

}  // namespace spillway::proxy
