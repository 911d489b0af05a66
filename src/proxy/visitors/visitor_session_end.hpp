// What the response to a visitor's request makes of the visitor's session in a waiting room.
#pragma once

#include <cstdint>

#include "http/message/head.hpp"

namespace spillway::proxy {

enum class VisitorSessionEnd : std::uint8_t {
  none,     // it goes on, or there is none
  in_line,  // it began with this request, which failed: the visitor has its place in line again
  over,     // the upstream says that the visitor needs it no more
};

struct VisitorSession {
  bool is_open = false;
  bool is_new = false;  // it began with this request
};

// Before the head of a response is sent that has this status. `response`: of the upstream, if it is
// what is sent; its Spillway-Session says "refused" or "end".
VisitorSessionEnd visitor_session_end(VisitorSession session, unsigned status,
                                      const http::ResponseHead* response);

}  // namespace spillway::proxy
