#include "cache/rules/validity.hpp"

#include <algorithm>
#include <optional>
#include <string_view>

#include "cache/rules/status.hpp"
#include "http/caching/date.hpp"
#include "http/field/ascii.hpp"

namespace spillway::cache {
namespace {

using http::Field;
using http::FieldId;
using std::chrono::seconds;
using std::chrono::sys_seconds;

constexpr seconds kLongestHeuristic = std::chrono::hours(24);

seconds bounded(seconds value) { return std::clamp(value, seconds(0), http::kMaxDeltaSeconds); }

Duration explicit_or(std::optional<seconds> value, Milliseconds configured) {
  return value ? Duration(*value) : std::min<Milliseconds>(configured, http::kMaxDeltaSeconds);
}

// Section 5.1: the first value of a list; an invalid one is ignored.
seconds age_value(const http::FieldList& fields) {
  const Field* age = fields.find(FieldId::age);
  if (!age) return seconds(0);
  const std::string_view first = http::trim(age->value.substr(0, age->value.find(',')));
  return http::parse_delta_seconds(first).value_or(seconds(0));
}

Duration age_of(const http::FieldList& fields, sys_seconds date, sys_seconds arrived,
                Duration delay) {
  const Duration apparent = bounded(arrived - date);
  const Duration corrected = age_value(fields) + std::max(delay, Duration(0));
  return std::min<Duration>(std::max(apparent, corrected), http::kMaxDeltaSeconds);
}

// The earliest Expires (section 5.3).
seconds until_expires(const http::FieldList& fields, sys_seconds date, sys_seconds arrived) {
  seconds least = http::kMaxDeltaSeconds;
  for (const Field& field : fields) {
    if (field.id != FieldId::expires) continue;
    const auto expires = http::parse_date(field.value, arrived);
    least = std::min(least, expires ? bounded(*expires - date) : seconds(0));
  }
  return least;
}

// RFC 9111 section 4.2.2: a share of the time during which the response has not changed.
Duration by_last_modified(const http::FieldList& fields, const config::Cache& settings,
                          sys_seconds date, sys_seconds arrived) {
  const Field* const field = fields.find(FieldId::last_modified);
  const auto modified = field != nullptr ? http::parse_date(field->value, arrived) : std::nullopt;
  if (!modified || settings.heuristic_ratio <= 0) return Duration(0);
  const auto unchanged = static_cast<double>(bounded(date - *modified).count());
  return std::min<Duration>(
      seconds(static_cast<std::int64_t>(unchanged * settings.heuristic_ratio)), kLongestHeuristic);
}

Duration lifetime_of(const http::ResponseHead& response, const ResponseControl& control,
                     const config::Cache& settings, sys_seconds date, sys_seconds arrived,
                     Duration age) {
  if (control.directives.s_maxage) return *control.directives.s_maxage;
  if (control.directives.max_age) return *control.directives.max_age;
  if (has_explicit_lifetime(response.fields, control))
    return until_expires(response.fields, date, arrived);
  if (!allows_heuristic_freshness(response, control)) return Duration(0);
  // The configured ttl counts from the arrival, so that a slow response is not stale at once.
  const bool is_error = response.status >= 400;
  const Duration ttl = age + explicit_or({}, is_error ? settings.error_ttl : settings.ttl);
  const Duration share =
      is_error ? Duration(0) : by_last_modified(response.fields, settings, date, arrived);
  return std::min<Duration>(std::max(ttl, share), http::kMaxDeltaSeconds);
}

}  // namespace

bool allows_heuristic_freshness(const http::ResponseHead& response,
                                const ResponseControl& control) {
  return (control.directives.is_public || is_cacheable_by_default(response.status)) &&
         (control.is_targeted || !http::pragma_no_cache(response.fields));
}

Validity validity_of(const http::ResponseHead& response, const config::Cache& settings,
                     sys_seconds arrived, Duration delay) {
  const http::FieldList& fields = response.fields;
  const ResponseControl of_response = response_control(fields, settings);
  const http::CacheControl& control = of_response.directives;
  const Field* date_field = fields.find(FieldId::date);
  const sys_seconds date =
      date_field ? http::parse_date(date_field->value, arrived).value_or(arrived) : arrived;

  Validity validity{.age = age_of(fields, date, arrived, delay)};
  if (control.no_cache) return validity;
  validity.lifetime = lifetime_of(response, of_response, settings, date, arrived, validity.age);
  if (is_failure(response.status)) return validity;
  if (control.must_revalidate || control.proxy_revalidate || control.s_maxage) return validity;
  validity.stale_for = explicit_or(control.stale_while_revalidate, settings.stale);
  if (settings.stale_if_error) {
    validity.stale_on_error = explicit_or(control.stale_if_error, settings.stale);
  }
  return validity;
}

bool is_reusable(const Validity& validity, const http::ResponseHead& response) {
  return validity.age < validity.lifetime + std::max(validity.stale_for, validity.stale_on_error) ||
         response.fields.contains(FieldId::etag) ||
         response.fields.contains(FieldId::last_modified);
}

}  // namespace spillway::cache
