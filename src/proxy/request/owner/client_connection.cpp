#include "proxy/request/owner/client_connection.hpp"

namespace spillway::proxy {

ClientConnection::ClientConnection(Services& services, int descriptor, const ClientInfo& info,
                                   traffic::AddressCount::Permit permit)
    : Stream(services.loop, descriptor, true),
      owner_(services.owner),
      accepted_at_(services.now()),
      info_(info),
      permit_(std::move(permit)) {
  owner_.connection_opened();
}

ClientConnection::~ClientConnection() { owner_.connection_closed(gives_way_since_ != kNever); }

void ClientConnection::recognise(const Generation& generation) {
  if (info_.recognised_by == generation.number) return;
  info_.recognised_by = generation.number;
  if (const auto ip = parse_ip_address(info_.address()))
    info_.peer = generation.classifier.peer(*ip);
}

void ClientConnection::become_idle(TimePoint now) {
  idle_since_ = now;
  owner_.connection_idle(*this);
  await_idle();
}

void ClientConnection::on_idle_readable() {
  // A callback may be left over from an exchange that still runs and waits for something else.
  if (!IdleHook::is_linked()) return;
  IdleHook::unlink();
  owner_.connection_active(*this);
}

}  // namespace spillway::proxy
