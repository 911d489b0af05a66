// The result of a call whose response is an event stream, from its head on: the server has failed
// if the stream breaks within a second, as it does at a server that cannot keep one open; after
// that it has succeeded, however the stream ends. Pins the request's configuration until then.
#pragma once

#include <cstddef>
#include <utility>

#include "base/time.hpp"
#include "proxy/generation/local_generation.hpp"
#include "proxy/request/answer/fault.hpp"
#include "proxy/upstream/circuits.hpp"
#include "proxy/upstream/servers.hpp"

namespace spillway::proxy {

class StreamResult {
 public:
  // `call`: not ended yet; of server number `server`. A success once `due` has come.
  StreamResult(LocalGenerationPtr generation, Circuits::Call call, Servers& servers,
               std::size_t server, TimePoint due)
      : generation_(std::move(generation)),
        call_(std::move(call)),
        servers_(servers),
        server_(server),
        due_(due) {}

  TimePoint due() const { return due_; }
  void succeed() {
    call_.succeed();
    servers_.count_success(server_);
  }
  void fail(const Fault& fault) { call_.fail(*fault.failure, fault.cause); }

 private:
  LocalGenerationPtr generation_;  // keeps the members below alive
  Circuits::Call call_;            // ignored if no result is set
  Servers& servers_;
  std::size_t server_;
  TimePoint due_;
};

}  // namespace spillway::proxy
