// A connection that has switched to another protocol: relays bytes in both directions until both
// sides have ended. Half-closes and resets are passed on.
//
// Owned by its worker and pinned to no generation: it copies the settings it needs. While neither
// side sends it holds no buffer. Backpressure: at most one block is buffered in each direction.
#pragma once

#include <boost/intrusive/list.hpp>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/time.hpp"
#include "observe/count/tunnel_use.hpp"
#include "proxy/net/block_pool.hpp"
#include "proxy/net/parking.hpp"
#include "proxy/net/task.hpp"
#include "proxy/request/client/successor.hpp"
#include "proxy/request/owner/client_connection.hpp"
#include "proxy/request/owner/owned.hpp"
#include "proxy/request/owner/services.hpp"
#include "proxy/request/owner/tunnel_permit.hpp"
#include "proxy/upstream/upstream_pool.hpp"
#include "proxy/waiting/stay.hpp"

namespace spillway::proxy {

class Tunnel final : public boost::intrusive::list_base_hook<>, public Owned, public Successor {
 public:
  // Bytes already received from one side, to be sent to the other first.
  struct Early {
    Block block;
    std::size_t begin = 0;
    std::size_t end = 0;
  };

  // `upstream` has left its pool. start() opens the permit.
  Tunnel(Services& services, TunnelPermit permit, UpstreamPtr upstream, Milliseconds idle_timeout);
  ~Tunnel() override;

  void keep_for_client(Early early) { down_.bytes = std::move(early); }
  void keep_stay(Stay stay) { stay_ = std::move(stay); }

  // Owned:
  OwnedKind kind() const override { return OwnedKind::tunnel; }
  // Successor:
  void keep_early(std::string_view bytes) override;
  void start(ClientPtr client) override;

  // After the worker's loop has ended. Only the destructor may follow.
  void abandon();

  // For the sweep, which runs only while every tunnel is parked:
  void wake_if_late(TimePoint now) {
    if (stay_.report(now)) {
      parking_.wake(Wake::cancelled);
    } else if (parking_.deadline() <= now) {
      parking_.wake(Wake::timeout);
    }
  }
  // While it does not wait to read from both sides, a reset could go unnoticed.
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
    bool ended = false;  // end-of-file was received and passed on
    bool empty() const { return bytes.begin == bytes.end; }
  };
  enum class Step : std::uint8_t { moved, waits, failed };

  Detached run();
  Step move(Flow& flow, Stream& from, Stream& to);
  static Source* awaited(Flow& flow, Stream& from, Stream& to);
  void close(observe::TunnelEnd how);

  Services& services_;
  TunnelPermit permit_;
  UpstreamPtr upstream_;
  ClientPtr client_;
  Milliseconds idle_timeout_;
  Stay stay_;  // of the visitor that opened it
  Flow up_;
  Flow down_;
  std::coroutine_handle<> frame_;
  Parking parking_;
};

}  // namespace spillway::proxy
