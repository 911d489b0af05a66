// A response that the proxy itself makes and that reports no fault.
#pragma once

#include <string>

namespace spillway::proxy {

struct LocalReply {
  unsigned status = 200;
  std::string lines;  // header fields, each with CRLF; including Cache-Control and Content-Type
  std::string content;
  bool has_date = false;        // `lines` has a Date field
  bool has_request_id = false;  // likewise: an X-Request-Id field
  bool takes_memory = false;    // counts as memory of slow clients until it has been sent
};

}  // namespace spillway::proxy
