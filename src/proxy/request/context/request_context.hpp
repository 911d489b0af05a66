// The facts of one request, from its head on. A value: each request has a new one.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "base/ids.hpp"
#include "base/random.hpp"
#include "base/time.hpp"
#include "config/config.hpp"
#include "http/field/request_id.hpp"
#include "http/message/head.hpp"
#include "proxy/generation/local_generation.hpp"
#include "proxy/request/owner/client_info.hpp"
#include "traffic/classify/classify.hpp"

namespace spillway::proxy {

// The request's X-Request-Id and traceparent: the client's own if they are valid, else made once,
// on first use.
class RequestIds {
 public:
  std::string_view request_id(const http::RequestHead& head, Random& random) {
    if (!request_id_.empty()) return request_id_;
    const http::Field* const sent = head.fields.find("X-Request-Id");
    is_made_ = sent == nullptr || !http::valid_request_id(sent->value);
    request_id_ = is_made_ ? http::make_request_id(random, made_request_id_) : sent->value;
    return request_id_;
  }
  // The request id, if the client sent none.
  std::string_view made_request_id(const http::RequestHead& head, Random& random) {
    const std::string_view id = request_id(head, random);
    return is_made_ ? id : std::string_view{};
  }
  // The traceparent, if the client sent none.
  std::string_view made_traceparent(const http::RequestHead& head, Random& random) {
    if (!traceparent_.empty()) return traceparent_;
    const http::Field* const sent = head.fields.find("traceparent");
    if (sent != nullptr && http::valid_traceparent(sent->value)) return {};
    traceparent_ = http::make_traceparent(random, made_traceparent_);
    return traceparent_;
  }

 private:
  std::string_view request_id_;
  std::string_view traceparent_;
  bool is_made_ = false;
  std::array<char, http::kRequestIdSize> made_request_id_;
  std::array<char, http::kTraceparentSize> made_traceparent_;
};

struct RequestContext {
  enum class Kind : std::uint8_t {
    live,     // a client waits for it
    refresh,  // the revalidation of a stored response
    job,      // an attempt of a deferred request
  };
  RequestContext(Kind its_kind, LocalGeneration& its_generation, const http::RequestHead& its_head,
                 const ClientInfo& its_client, TimePoint its_arrival)
      : kind(its_kind),
        generation(&its_generation),
        head(its_head),
        client(its_client),
        arrived(its_arrival) {
    const config::Route& fallback = config().default_route();
    classification.route = generation->generation().default_route();
    classification.traffic_class = fallback.traffic_class;
    classification.upstream = fallback.upstream;
  }
  RequestContext(const RequestContext&) = delete;
  RequestContext& operator=(const RequestContext&) = delete;

  const Kind kind;
  const LocalGenerationPtr generation;  // pinned until the request ends
  const http::RequestHead& head;
  const ClientInfo& client;
  TimePoint arrived;       // when the head was complete
  TimePoint due = kNever;  // when an attempt of a job is given up
  bool is_classified = false;
  bool is_own = false;                     // the proxy itself answers it, below own_path
  traffic::Classification classification;  // of the default route until classified
  std::string_view upgrade;                // the protocol asked for; empty: none
  // The pass of a visitor that a waiting room let in: the text for the upstream (pass_proof.hpp),
  // and the header lines for the client, usually none.
  std::string_view pass;
  std::string_view pass_lines;
  mutable RequestIds ids;  // made on first use

  bool is_job() const { return kind == Kind::job; }
  bool is_in_background() const { return kind != Kind::live; }
  std::string_view id(Random& random) const { return ids.request_id(head, random); }
  const config::Config& config() const { return generation->config(); }
  const config::Limits& limits() const { return config().limits; }
  Upstream& upstream() const { return generation->upstream(classification.upstream); }
  const config::Upstream& upstream_config() const { return upstream().config; }
  overload::SignalShard& signals() const { return generation->signals(classification.upstream); }
  overload::TenantShard& tenants() const { return generation->tenants(classification.upstream); }
  observe::WorkerMetrics& metrics() const { return generation->metrics; }
  const config::TrafficClass& traffic_class() const {
    return config().classes[index(classification.traffic_class)];
  }
  bool is_shadow() const { return upstream_config().overload.mode == config::Mode::shadow; }
};

}  // namespace spillway::proxy
