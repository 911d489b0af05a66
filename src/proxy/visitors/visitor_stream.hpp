// The event stream of a visitor in a waiting room: its status, whenever it changes, as server-sent
// events (WHATWG HTML section 9.2). The request has sent the head and the first event; then the
// connection is handed over to this object.
//
// Owned by its worker. Between events it holds no buffer and no exchange, so that thousands of
// visitors can follow their places. It pins the generation of its request, whose settings it uses.
// So it ends after ten minutes, or when a reload ends the requests of that generation; then the
// page opens another stream.
#pragma once

#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/time.hpp"
#include "config/config.hpp"
#include "observe/count/tunnel_use.hpp"
#include "proxy/generation/local_generation.hpp"
#include "proxy/net/parking.hpp"
#include "proxy/net/task.hpp"
#include "proxy/request/client/successor.hpp"
#include "proxy/request/owner/client_connection.hpp"
#include "proxy/request/owner/services.hpp"
#include "proxy/request/owner/swept.hpp"
#include "proxy/request/owner/tunnel_permit.hpp"
#include "proxy/waiting/event_seat.hpp"
#include "proxy/waiting/shared_waiting_room.hpp"
#include "waiting/room/waiting_room.hpp"
#include "waiting/token/token.hpp"

namespace spillway::proxy {

class VisitorStream final : public Swept, public Successor {
 public:
  struct Parts {
    LocalGenerationPtr generation;  // keeps `room` and `settings`
    SharedWaitingRoom& room;
    const config::WaitingRoom& settings;
    waiting::Token ticket;
    EventSeat seat;
    TunnelPermit permit;  // open
  };
  // Ends the ticket's other streams, the next time that they look.
  VisitorStream(Services& services, Parts parts);

  // The text to send now; empty: none.
  struct News {
    std::string text;
    bool is_last = false;
  };
  News news();
  // Call it after the last event.
  void end(observe::TunnelEnd how) { parts_.permit.end(how); }

  // Successor:
  void keep_early(std::string_view) override {}  // no further request is read
  // Sends events until either side ends the stream.
  void start(ClientPtr client) override;

  // Owned:
  OwnedKind kind() const override { return OwnedKind::visitor_stream; }
  // Swept:
  void wake_if_late(TimePoint now) override;
  int watched_client() override { return -1; }  // it reads the connection itself
  void client_left() override {}
  std::optional<AwaitedHead> awaited_head() const override { return std::nullopt; }
  bool keeps_to(const Generation& generation) const override;
  void end_early() override;
  void abandon() override;

 private:
  // The status that was sent last.
  struct Told {
    std::size_t ahead = static_cast<std::size_t>(-1);
    waiting::Why why = waiting::Why::none;
    std::uint64_t notice = 0;
    std::uint8_t steps = UINT8_MAX;
    TimePoint at{};
  };

  Detached run();
  bool has_left();
  Task<> linger();

  Services& services_;
  Parts parts_;
  const std::uint32_t number_;  // WaitingRoom::follow()
  const TimePoint until_;
  Told told_;
  ClientPtr client_;
  std::coroutine_handle<> frame_;
  Parking parking_;
  bool reads_ = true;
};

}  // namespace spillway::proxy
