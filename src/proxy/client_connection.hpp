// A client's connection. While it is idle it holds no buffer and no coroutine, only a pending
// readability callback; when bytes arrive an exchange borrows what it needs.
#pragma once

#include <sys/socket.h>

#include <array>
#include <boost/intrusive/list.hpp>
#include <cstdint>
#include <string_view>

#include "base/time.hpp"
#include "proxy/stream.hpp"
#include "traffic/tenant.hpp"

namespace spillway::proxy {

class Worker;

struct IdleHook
    : boost::intrusive::list_base_hook<boost::intrusive::link_mode<boost::intrusive::auto_unlink>> {
};

class ClientConnection final : public Stream, public IdleHook {
 public:
  ClientConnection(Worker& worker, int descriptor, const sockaddr_storage& peer);

  // The peer's address as text, without port; "unknown" for what is not IP.
  std::string_view address() const { return {address_.data(), address_length_}; }
  // The peer's word about the client is believed (trusted_peers).
  bool trusted() const { return peer_.trusted; }
  const traffic::Peer& peer() const { return peer_; }

  // Waits for the next request, holding nothing.
  void become_idle(TimePoint now);
  TimePoint idle_since() const { return idle_since_; }

 private:
  ~ClientConnection() override;
  void on_idle_readable() override;

  Worker& worker_;
  TimePoint idle_since_{};
  std::array<char, 46> address_;  // INET6_ADDRSTRLEN
  std::uint8_t address_length_ = 0;
  traffic::Peer peer_;
};

using ClientPtr = boost::intrusive_ptr<ClientConnection>;

}  // namespace spillway::proxy
