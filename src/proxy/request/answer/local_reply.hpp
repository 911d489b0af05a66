// A response that the proxy makes itself and that is not about a fault.
#pragma once

#include <string>

namespace spillway::proxy {

struct LocalReply {
  unsigned status = 200;
  std::string lines;  // fields, each with CRLF; Cache-Control and Content-Type among them
  std::string content;
  bool has_date = false;        // among the fields
  bool has_request_id = false;  // likewise: X-Request-Id
  bool takes_memory = false;    // of what slow clients have, until it is sent
};

}  // namespace spillway::proxy
