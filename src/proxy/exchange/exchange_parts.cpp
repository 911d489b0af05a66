// The parts of an exchange, and which of the other parts each of them uses.
#include "proxy/exchange/exchange.hpp"

namespace spillway::proxy {

Exchange::Exchange(Services& services, LocalGeneration& generation, ClientSession& session,
                   Parking& parking, cache::CacheKey& key)
    : services_(services),
      session_(session),
      parking_(parking),
      request_(RequestContext::Kind::live, generation, session.request(), session.client(),
               services.now()),
      admission_(services, request_, parking),
      lookup_(services, request_, key),
      flight_(services, request_, lookup_, parking),
      fill_(services, request_, lookup_, flight_),
      body_(services, request_, session, parking),
      call_(services, request_, parking, admission_, lookup_, &session, &body_),
      relay_({services, request_, session, parking, body_, admission_, lookup_, flight_, fill_,
              call_}),
      deferral_(services, request_, session, parking, body_, call_, admission_.key()),
      visitor_tokens_(request_, session),
      entrance_(services, request_, parking, visitor_tokens_, local_reply_) {}

JobResource& Exchange::job_resource() {
  if (!job_resource_) job_resource_.emplace(services_, request_, parking_, local_reply_);
  return *job_resource_;
}

WaitingResource& Exchange::waiting_resource() {
  if (!waiting_resource_)
    waiting_resource_.emplace(services_, request_, parking_, visitor_tokens_, body_, local_reply_);
  return *waiting_resource_;
}

}  // namespace spillway::proxy
