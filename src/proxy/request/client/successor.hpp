// An object that takes over a client's connection from its session and outlives the request: a
// tunnel or a visitor's event stream.
#pragma once

#include <string_view>

#include "proxy/request/owner/client_connection.hpp"

namespace spillway::proxy {

class Successor {
 public:
  virtual ~Successor() = default;

  // Bytes that the client has sent after its request. Called before start().
  virtual void keep_early(std::string_view bytes) = 0;
  // From now on the worker owns the object, until the object itself reports its end.
  virtual void start(ClientPtr client) = 0;
};

}  // namespace spillway::proxy
