// What takes a client's connection over from its session, and outlives the request: a tunnel or a
// visitor's event stream.
#pragma once

#include <string_view>

#include "proxy/request/owner/client_connection.hpp"

namespace spillway::proxy {

class Successor {
 public:
  virtual ~Successor() = default;

  // What the client has sent behind its request. Called before start().
  virtual void keep_early(std::string_view bytes) = 0;
  // The worker owns the object from now on; it gives itself back at the end.
  virtual void start(ClientPtr client) = 0;
};

}  // namespace spillway::proxy
