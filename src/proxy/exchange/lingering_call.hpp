// A request that was abandoned (its client left, its deadline passed) while its upstream is at work
// on it. It keeps its slot, or a crowd of impatient clients would have more at work in the upstream
// than it has slots, and its Idempotency-Key, with which its client may come again at once, until
// * the upstream has ended it: answered and closed, or closed. The connection is half-closed, so
//   that an upstream that watches its clients can stop at once;
// * or `until`, by when the requests of its route usually have their answer, and its abandoned ones
//   had theirs (HoldTimes).
// There are never more of them than slots.
//
// What it sees is learned: only patient clients see their answers, and where most are not, the
// answers of their requests would be the quick ones (censored samples).
#pragma once

#include <coroutine>
#include <optional>

#include "proxy/exchange/services.hpp"
#include "proxy/exchange/swept.hpp"
#include "proxy/jobs/keys_in_hand.hpp"
#include "proxy/net/task.hpp"
#include "proxy/upstream/gate.hpp"
#include "proxy/upstream/upstream_pool.hpp"

namespace spillway::proxy {

struct AbandonedRequest {
  // A response head that the upstream owes.
  struct Awaited {
    RouteId route;
    TimePoint since;
  };

  LocalGenerationPtr generation;  // keeps the others' owners alive
  UpstreamPtr connection;
  Slot slot;
  KeyInHand key;
  TimePoint until;
  std::optional<Awaited> awaited;
};

class LingeringCall final : public Swept {
 public:
  LingeringCall(Services& services, AbandonedRequest request);
  ~LingeringCall();

  // Gives the object back to the worker at the end.
  Detached run();

  // Swept:
  void wake_if_late(TimePoint now) override;
  int watched_client() override { return -1; }
  void client_left() override {}
  // Says nothing about latency: some upstreams stop when their client leaves.
  std::optional<AwaitedHead> awaited_head() const override { return std::nullopt; }
  bool keeps_to(const Generation& generation) const override;
  void end_early() override;
  void abandon() override { frame_.destroy(); }

 private:
  void learn_answered();
  void learn_unanswered();

  Services& services_;
  std::coroutine_handle<> frame_;
  Parking parking_;
  AbandonedRequest request_;
};

}  // namespace spillway::proxy
