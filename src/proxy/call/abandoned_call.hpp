// Keeps the slot and the Idempotency-Key of an abandoned request (its client left, its deadline
// passed, its response did not come in time) while its upstream is at work on it, until:
// * the upstream has ended it: the response is complete, or the connection is closed. The proxy
//   half-closes it, so that an upstream that watches its clients can stop at once;
// * or `until`: the time by which nearly all responses of its route, and of the route's abandoned
//   requests, are complete; at least two seconds after it was abandoned
//   (dispatch::hold_past_leaving). After that its end is still awaited, until its response timeout,
//   to learn how long others take. As many requests as there are slots may be at work without one
//   in this way; any more keep their slot;
// * or a request of the first class has waited for long, and this one's class is lower
//   (Gate::give_to_first);
// * or, if it timed out or its response is an error, its server gets no more requests, since a
//   circuit opened or the server was ejected. A server that never responds, or hangs within an
//   error response, holds no slot that other requests wait for.
// There are never more of them than slots. Without them, impatient clients would give the upstream
// more work than it has slots for, and a client that repeats its Idempotency-Key would have the
// work done twice.
//
// An event stream whose client has left keeps no slot, as before, but keeps its permit of
// limits.tunnels until its server closes the connection. The proxy half-closes it; a server that
// does not watch its clients notices only when it writes: a reset answers its first event, so that
// the next one fails. The permit is kept for at most 15 s, in which such a server sends at least a
// comment (WHATWG HTML, server-sent events, authoring notes). There are never more of these than
// permits.
//
// The durations of these requests are recorded, except for requests not sent completely and those
// whose upstream was asked to do less. If only responses that clients wait for were recorded, then
// with mostly impatient clients only the quick ones would be (censored samples).
#pragma once

#include <coroutine>
#include <cstddef>
#include <optional>

#include "proxy/call/rest_of_response.hpp"
#include "proxy/jobs/keys_in_flight.hpp"
#include "proxy/net/block_pool.hpp"
#include "proxy/net/task.hpp"
#include "proxy/request/owner/services.hpp"
#include "proxy/request/owner/swept.hpp"
#include "proxy/request/owner/tunnel_permit.hpp"
#include "proxy/upstream/gate.hpp"
#include "proxy/upstream/upstream_pool.hpp"

namespace spillway::proxy {

struct AbandonedRequest {  // or an event stream, without a slot
  // Since when the upstream has been at work on it, as far as is known.
  struct AtWork {
    RouteId route;
    TimePoint since;
    Duration timeout{};
    bool learns = true;      // its duration predicts that of others
    bool owes_head = false;  // likewise for the head: the wait for it counts as latency
  };

  LocalGenerationPtr generation;  // keeps the owners of the others alive; null: an event stream
  UpstreamPtr connection;
  Slot slot;
  KeyInFlight key;
  TimePoint until;
  // The upstream whose server failed: no response in time, or an error response.
  std::optional<UpstreamId> failed_upstream{};
  RestOfResponse rest;
  Block block{};  // holds the part of a head that `rest` has not read
  std::size_t received = 0;
  std::optional<AtWork> at_work{};  // none: it may hold nothing but its slot
  TunnelPermit permit{};            // for the tunnel or stream that it may become, or was
  observe::TunnelEnd permit_ends = observe::TunnelEnd::finished;
};

AbandonedRequest left_event_stream(UpstreamPtr connection, TunnelPermit permit,
                                   observe::TunnelEnd how, const http::BodyReader& reader,
                                   TimePoint now);

class AbandonedCall final : public Swept {
 public:
  AbandonedCall(Services& services, AbandonedRequest request);
  ~AbandonedCall();

  // The request's slot is released once its upstream has ended the request.
  static void begin(Services& services, AbandonedRequest request);

  // Owned:
  OwnedKind kind() const override { return OwnedKind::abandoned_call; }
  // Swept:
  void wake_if_late(TimePoint now) override;
  int watched_client() override { return -1; }
  void client_left() override {}
  // Never counts as latency: some upstreams stop when their client leaves.
  std::optional<AwaitedHead> awaited_head() const override { return std::nullopt; }
  bool mark_slot() override;
  bool keeps_to(const Generation& generation) const override;
  void end_early() override;
  void abandon() override { frame_.destroy(); }

 private:
  Detached run();
  bool has_ended();
  bool outlasts_hold();
  void leave_slot();
  void give_way(TimePoint now);
  bool goes_on_without_slot();
  bool is_in_vain() const;
  bool learns() const { return request_.at_work && request_.at_work->learns; }
  bool has_taken_long() const;
  void learn_head();
  void learn_ended();
  void learn_outlasted();

  Services& services_;
  std::coroutine_handle<> frame_;
  Parking parking_;
  AbandonedRequest request_;
  std::optional<WorkWithoutSlot> without_slot_;
  Block block_;                // while part of a head has come
  std::size_t received_ = 0;   // bytes of that head
  std::size_t discarded_ = 0;  // bytes in all
};

}  // namespace spillway::proxy
