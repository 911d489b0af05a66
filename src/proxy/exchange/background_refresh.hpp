// The background revalidation (RFC 5861 section 3) of a stale response after it was served: in the
// lowest class, only if a slot is free, one at a time per key. No client waits for it.
#pragma once

#include <coroutine>
#include <string_view>

#include "http/message/body.hpp"
#include "proxy/cache/cache_fill.hpp"
#include "proxy/cache/cache_lookup.hpp"
#include "proxy/cache/flight_membership.hpp"
#include "proxy/call/upstream_call.hpp"
#include "proxy/net/block_pool.hpp"
#include "proxy/net/task.hpp"
#include "proxy/request/admission/admission.hpp"
#include "proxy/request/context/request_context.hpp"
#include "proxy/request/owner/client_info.hpp"
#include "proxy/request/owner/services.hpp"
#include "proxy/request/owner/swept.hpp"

namespace spillway::proxy {

// The request that was served a stale response. Views and references are valid during the call.
struct RefreshRequest {
  const RequestContext& served;
  std::string_view head;
  const CacheLookup& lookup;
};

class BackgroundRefresh final : public Swept {
 public:
  BackgroundRefresh(Services& services, const RefreshRequest& request);
  ~BackgroundRefresh() = default;

  // Does nothing if the worker drains, no circuit allows it, no slot is free, or the key is already
  // being revalidated.
  static void begin(Services& services, const RefreshRequest& request);

  // Owned:
  OwnedKind kind() const override { return OwnedKind::refresh; }
  // Swept:
  void wake_if_late(TimePoint now) override;
  int watched_client() override { return -1; }
  void client_left() override {}
  std::optional<AwaitedHead> awaited_head() const override;
  bool keeps_to(const Generation& generation) const override;
  void end_early() override;
  void abandon() override { frame_.destroy(); }

 private:
  bool takes_slot();
  Detached run();
  Task<bool> store_response();

  Services& services_;
  std::coroutine_handle<> frame_;
  Parking parking_;
  Block block_;  // the head
  http::RequestHead head_;
  const ClientInfo client_;  // a copy: the client may leave
  RequestContext request_;
  cache::CacheKey key_;
  Admission admission_;
  CacheLookup lookup_;
  FlightMembership flight_;
  CacheFill fill_;
  UpstreamCall call_;
};

}  // namespace spillway::proxy
