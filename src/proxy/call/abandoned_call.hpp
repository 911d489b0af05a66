// Keeps the slot and the Idempotency-Key of an abandoned request (its client left, its deadline
// passed, the response did not come in time) that its upstream is at work on, until:
// * the upstream has ended it: its response is complete, or the connection is closed. That is
//   half-closed, so that an upstream that watches its clients can stop at once;
// * or `until`, by when nearly all responses of its route are complete, and those of its abandoned
//   requests were, two seconds after it was left at the earliest (dispatch::hold_past_leaving).
//   Then its end is still awaited, until its response timeout, so that it shows how long others
//   take. As many requests as there are slots may be at work without one in this way; beyond these
//   a slot is kept;
// * or, of one that timed out or whose response is an error, its server gets no more requests: a
//   circuit opened, or it was ejected. A server that swallows requests, or hangs within its errors,
//   holds no slot that the others are waiting for.
// There are never more of them than slots. Without them impatient clients would put more to work in
// the upstream than it has slots, and a client that repeats its Idempotency-Key would have the work
// done twice.
//
// An event stream that its client has left keeps no slot, as before, but its permit of
// limits.tunnels, until its server closes the connection. That is half-closed; a server that
// watches no client learns only when it writes: its first event ends the connection by a reset, so
// that the next one fails. The permit is kept for 15 s at most, in which such a server sends at
// least a comment (WHATWG HTML, server-sent events, authoring notes). There are never more of these
// than permits.
//
// How long these requests take is learned, but of those that were not sent to their end and those
// whose upstream was asked to do less. Of the responses that clients wait for only the quick
// ones would be learned where most clients are impatient (censored samples).
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
  // The upstream has been at work on it since then, as far as is known.
  struct AtWork {
    RouteId route;
    TimePoint since;
    Duration timeout{};
    bool learns = true;      // how long it takes says how long others will
    bool owes_head = false;  // likewise: the wait for it counts as latency
  };

  LocalGenerationPtr generation;  // keeps the others' owners alive; null: an event stream's
  UpstreamPtr connection;
  Slot slot;
  KeyInFlight key;
  TimePoint until;
  // Its server has failed: no response in time, or an error for one.
  std::optional<UpstreamId> failed_upstream{};
  RestOfResponse rest;
  Block block{};  // with what has come of a head, which `rest` has not read
  std::size_t received = 0;
  std::optional<AtWork> at_work{};  // none: its slot is all that it may hold
  TunnelPermit permit{};            // of what it may become, or was
  observe::TunnelEnd permit_ends = observe::TunnelEnd::finished;
};

AbandonedRequest left_event_stream(UpstreamPtr connection, TunnelPermit permit,
                                   observe::TunnelEnd how, const http::BodyReader& reader,
                                   TimePoint now);

class AbandonedCall final : public Swept {
 public:
  AbandonedCall(Services& services, AbandonedRequest request);
  ~AbandonedCall();

  // The request's slot goes back once its upstream has ended it.
  static void begin(Services& services, AbandonedRequest request);

  // Owned:
  OwnedKind kind() const override { return OwnedKind::abandoned_call; }
  // Swept:
  void wake_if_late(TimePoint now) override;
  int watched_client() override { return -1; }
  void client_left() override {}
  // Says nothing about latency: some upstreams stop when their client leaves.
  std::optional<AwaitedHead> awaited_head() const override { return std::nullopt; }
  bool mark_slot() override;
  bool keeps_to(const Generation& generation) const override;
  void end_early() override;
  void abandon() override { frame_.destroy(); }

 private:
  Detached run();
  bool has_ended();
  bool outlasts_hold();
  void give_slot_back();
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
  Block block_;                // while a head has come in part
  std::size_t received_ = 0;   // of it
  std::size_t discarded_ = 0;  // in all
};

}  // namespace spillway::proxy
