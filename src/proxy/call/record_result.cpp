#include "proxy/call/record_result.hpp"

#include "base/sip_hash.hpp"
#include "http/message/target.hpp"
#include "proxy/request/context/counted_client.hpp"
#include "traffic/client/client_address.hpp"

namespace spillway::proxy {
namespace {

bool is_tenant_by_address(const traffic::Tenant& tenant) {
  return tenant.source == config::TenantKey::client_address && !tenant.value().empty();
}

IpAddress address_of(const RequestContext& request) {
  const traffic::Classifier& classifier = request.generation->generation().classifier;
  return classifier.client_of(request.head, request.client.peer);
}

// The client's network. A tenant by address is a network, and so is a connection's peer.
traffic::Tenant client_of(const RequestContext& request) {
  const traffic::Tenant& tenant = request.classification.tenant;
  if (is_tenant_by_address(tenant)) return tenant;
  const traffic::Peer& peer = request.client.peer;
  if (!peer.trusted) return peer.tenant;
  return request.generation->generation().classifier.peer(address_of(request)).tenant;
}

std::string_view path_of(const http::RequestHead& head) {
  return http::path_of(head.path_and_query.empty() ? head.target : head.path_and_query);
}

std::uint64_t key_of(const RequestContext& request, std::string_view text) {
  return sip_hash(request.generation->generation().path_key, text);
}

}  // namespace

void record_result(const RequestContext& request, bool failed) {
  // A job that keeps failing must not cause refusals of live requests.
  if (request.is_job()) return;
  using Kind = overload::SourceKind;
  const std::string_view path = path_of(request.head);
  const traffic::Tenant client = client_of(request);
  const traffic::Tenant& tenant = request.classification.tenant;
  overload::AnswerSource source{.traffic_class = request.classification.traffic_class};
  source[Kind::client] = {index(client.id), client.value()};
  source[Kind::path] = {key_of(request, path), path};
  source[Kind::tenant] = {index(tenant.id), tenant.value()};
  // A tenant by address adds nothing to the client. The network of its site identifies a customer
  // that has many such addresses.
  traffic::NetworkText site_name;
  if (is_tenant_by_address(tenant)) {
    const IpAddress site = traffic::site_network(address_of(request));
    if (failed) site_name = traffic::NetworkText(site, traffic::kOfSite);
    const auto* const bytes = reinterpret_cast<const char*>(site.bytes.data());
    source[Kind::tenant] = {key_of(request, {bytes, site.bytes.size()}), site_name.text()};
  }
  source[Kind::route] = {index(request.classification.route),
                         request.config().routes[index(request.classification.route)].name};
  request.signals().record_result(failed, source);
}

void record_timeout(const RequestContext& request) {
  if (!request.is_job()) request.signals().record_timeout();
}

resilience::FailureSource failure_source(const RequestContext& request) {
  return {.client = request.is_job() ? 0 : index(client_of(request).id),
          .path = key_of(request, path_of(request.head))};
}

std::optional<resilience::FailureSource> silence_source(const RequestContext& request) {
  if (request.is_job() || !counted_client(request)) return std::nullopt;
  return failure_source(request);
}

}  // namespace spillway::proxy
