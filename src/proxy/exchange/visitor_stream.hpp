// The news of a visitor's place in a waiting room, as server-sent events (WHATWG HTML section 9.2),
// after the response's head and what stood there to begin with.
//
// Its request is over. Owned by its worker; between events it holds no buffer, so that a crowd can
// follow its places. It keeps its request's generation, whose settings it goes by: it ends after
// ten minutes, or when the requests of that generation are ended, and the page opens another.
#pragma once

#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/time.hpp"
#include "config/config.hpp"
#include "observe/tunnel_use.hpp"
#include "proxy/exchange/client_connection.hpp"
#include "proxy/exchange/services.hpp"
#include "proxy/exchange/swept.hpp"
#include "proxy/exchange/tunnel_permit.hpp"
#include "proxy/generation/local_generation.hpp"
#include "proxy/net/parking.hpp"
#include "proxy/net/task.hpp"
#include "proxy/waiting/event_seat.hpp"
#include "proxy/waiting/shared_waiting_room.hpp"
#include "waiting/token.hpp"
#include "waiting/waiting_room.hpp"

namespace spillway::proxy {

class VisitorStream final : public Swept {
 public:
  struct Parts {
    LocalGenerationPtr generation;  // keeps `room` and `settings`
    SharedWaitingRoom& room;
    const config::WaitingRoom& settings;
    waiting::Token ticket;
    EventSeat seat;
    TunnelPermit permit;  // open
  };
  // The other streams of the ticket end.
  VisitorStream(Services& services, Parts parts);

  // What is to be sent now; empty: nothing.
  struct News {
    std::string text;
    bool is_last = false;
  };
  News news();
  // It has told its last.
  void end(observe::TunnelEnd how) { parts_.permit.end(how); }

  // Goes on until either side ends it. The head and the first news have been sent, and no request
  // follows on the connection. Gives the object back to the worker at the end.
  void start(ClientPtr client);

  // Swept:
  void wake_if_late(TimePoint now) override;
  int watched_client() override { return -1; }  // it reads
  void client_left() override {}
  std::optional<AwaitedHead> awaited_head() const override { return std::nullopt; }
  bool keeps_to(const Generation& generation) const override;
  void end_early() override;
  void abandon() override;

 private:
  // What was told last.
  struct Told {
    std::size_t ahead = static_cast<std::size_t>(-1);
    waiting::Why why = waiting::Why::none;
    std::uint64_t notice = 0;
    std::uint8_t steps = UINT8_MAX;
    TimePoint at{};
  };

  Detached run();
  bool has_left();

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
