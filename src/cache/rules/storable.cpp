#include "cache/rules/storable.hpp"

#include <algorithm>
#include <string>

#include "cache/rules/control.hpp"
#include "cache/rules/overridden.hpp"
#include "cache/rules/status.hpp"
#include "http/caching/cache_control.hpp"
#include "http/caching/conditional.hpp"
#include "http/field/ascii.hpp"

namespace spillway::cache {
namespace {

using http::CacheControl;
using http::Field;
using http::FieldId;
using http::FieldList;
using http::Verb;

bool is_listed(std::string_view method, const config::Cache& settings) {
  return std::any_of(settings.methods.begin(), settings.methods.end(),
                     [&](const std::string& listed) { return listed == method; });
}

bool is_field_name(std::string_view text) {
  return text != "*" && std::all_of(text.begin(), text.end(), http::is_token);
}

bool varies_by_fields(const FieldList& response) {
  if (!response.contains(FieldId::vary)) return true;
  bool all = true;
  for (const Field& field : response) {
    if (field.id != FieldId::vary) continue;
    http::for_each_element(field.value, [&](std::string_view name) { all &= is_field_name(name); });
  }
  return all;
}

bool sets_cookie(const FieldList& response) {
  return response.contains(FieldId::set_cookie) || response.contains(FieldId::set_cookie2);
}

Unstorable unstorable_by_request(const http::RequestHead& request, const config::Cache& settings) {
  if (request.method != Verb::get || !is_listed("GET", settings)) return Unstorable::method;
  if (request.framing.kind != http::Framing::Kind::none) return Unstorable::body;
  if (http::has_range_or_precondition(request.fields)) return Unstorable::part;
  if (is_overridden(request.fields, settings)) return Unstorable::overridden;
  if (http::cache_control(request.fields).no_store) return Unstorable::request_says;
  return Unstorable::none;
}

Unstorable unstorable_by_response(const http::ResponseHead& response,
                                  const ResponseControl& of_response,
                                  const config::Cache& settings) {
  const CacheControl& control = of_response.directives;
  const unsigned status = response.status;
  if (is_never_stored(status)) return Unstorable::status;
  if (control.must_understand && !is_understood(status)) return Unstorable::status;
  // RFC 9111 section 5.2.2.3: a cache that understands the status ignores no-store.
  if (control.no_store && !control.must_understand) return Unstorable::no_store;
  if (control.is_private) return Unstorable::is_private;
  if (sets_cookie(response.fields)) return Unstorable::sets_cookie;
  if (!varies_by_fields(response.fields)) return Unstorable::vary;
  if (has_explicit_lifetime(response.fields, of_response)) return Unstorable::none;
  // An error may be due to something outside the key: it is not kept unless configured.
  const bool is_kept =
      is_cacheable_by_default(status) && (status < 400 || settings.error_ttl > Milliseconds{0});
  return is_kept || (control.is_public && !is_failure(status)) ? Unstorable::none
                                                               : Unstorable::no_lifetime;
}

// RFC 9111 section 3.5: public, s-maxage and must-revalidate allow a shared cache to store the
// response to a request with Authorization. must-revalidate is not accepted here: origins seldom
// send it to mean that any client may have the response.
Storable sharing_of(const FieldList& request, const FieldList& response,
                    const CacheControl& control, const config::Cache& settings,
                    const TenantInKey& tenant) {
  if (control.is_public || control.s_maxage) return {Unstorable::none, true};
  if (request.contains(FieldId::authorization)) return {Unstorable::authorization};
  if (has_personal_field(request, settings, tenant, response)) return {Unstorable::personal};
  return {Unstorable::none, false};
}

}  // namespace

bool request_may_use_cache(const http::RequestHead& request, const config::Cache& settings) {
  const bool reads = request.method == Verb::get || request.method == Verb::head;
  return reads && is_listed(request.method_name, settings) &&
         request.framing.kind == http::Framing::Kind::none &&
         !is_overridden(request.fields, settings);
}

Storable storable(const http::RequestHead& request, const http::ResponseHead& response,
                  const config::Cache& settings, const TenantInKey& tenant) {
  const Unstorable by_request = unstorable_by_request(request, settings);
  if (by_request != Unstorable::none) return {by_request};
  const ResponseControl control = response_control(response.fields, settings);
  const Unstorable by_response = unstorable_by_response(response, control, settings);
  if (by_response != Unstorable::none) return {by_response};
  return sharing_of(request.fields, response.fields, control.directives, settings, tenant);
}

Storable storable_after(const http::ResponseHead& not_modified, const http::RequestHead& request,
                        const http::ResponseHead& merged, const config::Cache& settings,
                        const TenantInKey& tenant) {
  if (sets_cookie(not_modified.fields)) return {Unstorable::sets_cookie};
  return storable(request, merged, settings, tenant);
}

}  // namespace spillway::cache
