#include "proxy/cache/cache_invalidation.hpp"

#include <string_view>

#include "cache/rules/invalidation.hpp"

namespace spillway::proxy {

namespace {

void invalidate_target(const RequestContext& request, std::string_view path_and_query) {
  const traffic::PathRoute path = request.generation->generation().classifier.route_of(
      http::Verb::get, "GET", request.head.host, path_and_query);
  cache::ResponseCache* const cache = request.generation->cache(path.route);
  if (cache != nullptr) cache->invalidate(request.head.host, path_and_query, Clock::now());
}

}  // namespace

void invalidate_changed(const RequestContext& request, const http::ResponseHead& response) {
  if (!request.generation->has_caches() ||
      !cache::invalidates(request.head.method, response.status))
    return;
  invalidate_target(request, request.head.path_and_query);
  for (const http::FieldId id : {http::FieldId::location, http::FieldId::content_location}) {
    const http::Field* const field = response.fields.find(id);
    if (field == nullptr) continue;
    const std::string_view target = cache::same_authority_target(field->value, request.head.host);
    if (!target.empty()) invalidate_target(request, target);
  }
}

}  // namespace spillway::proxy
