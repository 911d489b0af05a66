// An event stream after its head: the bytes go on until either side ends it.
//
// The request it began with is over. It belongs to its session and to no configuration: what it
// needs of the one it began with it has copied.
#pragma once

#include "base/time.hpp"
#include "http/body.hpp"
#include "observe/tunnel_use.hpp"
#include "proxy/exchange/client_session.hpp"
#include "proxy/exchange/relay_state.hpp"
#include "proxy/exchange/services.hpp"
#include "proxy/exchange/tunnel_permit.hpp"
#include "proxy/net/block_pool.hpp"
#include "proxy/net/task.hpp"
#include "proxy/upstream/upstream_pool.hpp"

namespace spillway::proxy {

class EventStream {
 public:
  // What it takes over from the request. The head has been sent, and what came with it.
  struct Parts {
    UpstreamPtr connection;  // has left its pool
    Block block;
    http::BodyReader reader;
    TunnelPermit permit;  // open
    Milliseconds idle_timeout;
    bool dechunks;
  };

  EventStream(Services& services, ClientSession& session, Parking& parking, Parts parts)
      : services_(services), session_(session), parking_(parking), parts_(std::move(parts)) {}
  EventStream(const EventStream&) = delete;
  EventStream& operator=(const EventStream&) = delete;
  ~EventStream() { parts_.connection->retire(); }

  // Until it ends. Whether the client's connection goes on after it is the session's to know.
  Task<> run();

 private:
  Task<observe::TunnelEnd> relay();
  observe::TunnelEnd cut(observe::TunnelEnd how);

  Services& services_;
  ClientSession& session_;
  Parking& parking_;
  Parts parts_;
};

}  // namespace spillway::proxy
