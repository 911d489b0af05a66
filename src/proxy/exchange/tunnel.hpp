// A connection that has switched to another protocol: bytes go through both ways, whatever they
// mean, until both sides have ended. Half-closes are passed on, and so are resets.
//
// Belongs to its worker and to no configuration: what it needs of the one it began with it has
// copied. While neither side sends it holds no buffer; a side that does not take what the other
// sends holds it back, with at most one block of bytes between them.
#pragma once

#include <boost/intrusive/list.hpp>
#include <coroutine>
#include <cstddef>
#include <cstdint>

#include "base/time.hpp"
#include "observe/tunnel_use.hpp"
#include "proxy/exchange/client_connection.hpp"
#include "proxy/exchange/services.hpp"
#include "proxy/exchange/tunnel_permit.hpp"
#include "proxy/net/block_pool.hpp"
#include "proxy/net/parking.hpp"
#include "proxy/net/task.hpp"
#include "proxy/upstream/upstream_pool.hpp"

namespace spillway::proxy {

class Tunnel : public boost::intrusive::list_base_hook<> {
 public:
  // Bytes of a block that one side has sent and the other is to get first.
  struct Early {
    Block block;
    std::size_t begin = 0;
    std::size_t end = 0;
  };

  // `upstream` has left its pool. The place is open.
  Tunnel(Services& services, TunnelPermit place, UpstreamPtr upstream, Milliseconds idle_timeout);
  ~Tunnel();

  void keep_for_upstream(Early early) { up_.bytes = std::move(early); }
  void keep_for_client(Early early) { down_.bytes = std::move(early); }

  // Carries bytes from now on. Gives the object back to the worker at the end.
  void start(ClientPtr client);

  // When the worker's loop has ended: only the destructor may follow.
  void abandon();

  // For the sweep, which runs only while every tunnel is parked:
  void wake_if_late(TimePoint now) {
    if (parking_.deadline() <= now) parking_.wake(Wake::timeout);
  }
  // A side may break without our waiting to read from it.
  bool may_break_unseen() const {
    return up_.ended || down_.ended || !up_.empty() || !down_.empty();
  }
  int client_descriptor() { return client_->descriptor(); }
  int upstream_descriptor() { return upstream_->descriptor(); }
  void broken() { parking_.wake(Wake::client_gone); }

 private:
  // One direction.
  struct Flow {
    Early bytes;
    bool ended = false;  // its sender has ended, and its receiver was told
    bool empty() const { return bytes.begin == bytes.end; }
  };
  enum class Step : std::uint8_t { moved, waits, failed };

  Detached run();
  Step move(Flow& flow, Stream& from, Stream& to);
  static Source* awaited(Flow& flow, Stream& from, Stream& to);
  void close(observe::TunnelEnd how);

  Services& services_;
  TunnelPermit place_;
  UpstreamPtr upstream_;
  ClientPtr client_;
  Milliseconds idle_timeout_;
  Flow up_;
  Flow down_;
  std::coroutine_handle<> frame_;
  Parking parking_;
};

}  // namespace spillway::proxy
