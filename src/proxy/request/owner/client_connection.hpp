// A client's connection. While idle it holds no buffer and no coroutine, only a pending readability
// callback; when bytes arrive, a session borrows the buffers it needs.
#pragma once

#include <boost/intrusive/list.hpp>
#include <utility>

#include "base/time.hpp"
#include "proxy/net/stream.hpp"
#include "proxy/request/owner/client_info.hpp"
#include "proxy/request/owner/services.hpp"
#include "traffic/client/address_count.hpp"

namespace spillway::proxy {

struct IdleHook
    : boost::intrusive::list_base_hook<boost::intrusive::link_mode<boost::intrusive::auto_unlink>> {
};

class ClientConnection final : public Stream, public IdleHook {
 public:
  ClientConnection(Services& services, int descriptor, const ClientInfo& info,
                   traffic::AddressCount::Permit permit);

  const ClientInfo& info() const { return info_; }
  // A reload may have changed whether the peer is trusted.
  void recognise(const Generation& generation);

  // Waits for the next request, without buffer or coroutine.
  void become_idle(TimePoint now);
  TimePoint idle_since() const { return idle_since_; }
  TimePoint accepted_at() const { return accepted_at_; }

  // It has received a response before.
  bool is_served() const { return is_served_; }
  void response_came() { is_served_ = true; }

  // Since when it has been about to end for a client that waits to be accepted (Owner::give_way()).
  // kNever: it is not, or its end takes too long.
  TimePoint gives_way_since() const { return gives_way_since_; }
  void gives_way_since(TimePoint since) { gives_way_since_ = since; }

  // An empty line came in place of a request. True for the first one since the last request:
  // without this limit a client could hold a connection for ever by sending empty lines.
  bool forgives_empty_line() { return !std::exchange(sent_empty_line_, true); }
  void request_came() { sent_empty_line_ = false; }

 private:
  ~ClientConnection() override;
  void on_idle_readable() override;

  Owner& owner_;
  const TimePoint accepted_at_;
  TimePoint idle_since_{};
  TimePoint gives_way_since_ = kNever;
  bool sent_empty_line_ = false;
  bool is_served_ = false;
  ClientInfo info_;
  traffic::AddressCount::Permit permit_;  // of limits.connections_per_address
};

using ClientPtr = boost::intrusive_ptr<ClientConnection>;

}  // namespace spillway::proxy
