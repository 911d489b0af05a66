// An event stream after its head: relays events until either side ends it.
//
// Its request is over. It is owned by its session and pinned to no generation: it copies the
// settings it needs.
#pragma once

#include <cstdint>
#include <optional>

#include "base/time.hpp"
#include "http/message/body.hpp"
#include "observe/count/tunnel_use.hpp"
#include "proxy/call/stream_result.hpp"
#include "proxy/net/block_pool.hpp"
#include "proxy/net/task.hpp"
#include "proxy/request/body/relay_state.hpp"
#include "proxy/request/client/client_session.hpp"
#include "proxy/request/owner/services.hpp"
#include "proxy/request/owner/tunnel_permit.hpp"
#include "proxy/upstream/upstream_pool.hpp"
#include "proxy/waiting/stay.hpp"

namespace spillway::proxy {

class EventStream {
 public:
  // Taken over from the request. The head, and the bytes received with it, have been sent.
  struct Parts {
    UpstreamPtr connection;  // has left its pool
    Block block;
    http::BodyReader reader;
    TunnelPermit permit;  // open
    Milliseconds idle_timeout;
    bool dechunks;
    std::optional<StreamResult> result;  // until the result is known
    Stay stay;
  };

  EventStream(Services& services, ClientSession& session, Parking& parking, Parts parts)
      : services_(services), session_(session), parking_(parking), parts_(std::move(parts)) {}
  EventStream(const EventStream&) = delete;
  EventStream& operator=(const EventStream&) = delete;
  ~EventStream() {
    if (parts_.connection) parts_.connection->retire();
  }

  // Relays until it ends. The session decides what happens to the client's connection.
  Task<> run();
  // For the sweep: records the server's success once due, which also unpins the configuration, and
  // reports as Exchange::report_stay() does. true: the stream is to end; wake it.
  bool report_stay(TimePoint now) {
    note_result(now);
    is_over_ = is_over_ || parts_.stay.report(now);
    return is_over_;
  }

 private:
  enum class By : std::uint8_t { upstream, client, proxy };
  struct End {
    observe::TunnelEnd how;
    By by;
    http::Error error = http::Error::none;  // by the upstream
  };

  Task<End> relay();
  End cut(End end);
  TimePoint idle_from_now() const { return services_.now() + parts_.idle_timeout; }
  void note_result(TimePoint now);
  void note_result(const End& end);

  Services& services_;
  ClientSession& session_;
  Parking& parking_;
  Parts parts_;
  bool is_over_ = false;  // the session of its visitor in a waiting room
};

}  // namespace spillway::proxy
