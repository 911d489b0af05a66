#include "proxy/cache/cache_lookup.hpp"

#include <algorithm>
#include <chrono>
#include <string_view>

#include "cache/rules/control.hpp"
#include "cache/rules/merge.hpp"
#include "cache/rules/request_limits.hpp"
#include "cache/rules/storable.hpp"
#include "traffic/client/tenant.hpp"

namespace spillway::proxy {

namespace {

http::CacheStatus::Forward forward_of(cache::Lookup lookup) {
  using Forward = http::CacheStatus::Forward;
  switch (lookup) {
    case cache::Lookup::fresh: return Forward::request;
    case cache::Lookup::stale: return Forward::stale;
    case cache::Lookup::vary_miss: return Forward::vary_miss;
    case cache::Lookup::miss:
    case cache::Lookup::unstorable: break;
  }
  return Forward::uri_miss;
}

std::int64_t seconds_left(const cache::StoredResponse& stored, TimePoint now) {
  return std::chrono::floor<std::chrono::seconds>(stored.freshness_left(now)).count();
}

}  // namespace

cache::Serving CacheLookup::consult() {
  cache::ResponseCache* const cache = request_.generation->cache(request_.classification.route);
  if (cache == nullptr) return cache::Serving::bypass;
  const config::Cache& settings = cache->settings();
  status_.has_cache = true;
  status_.forward = http::CacheStatus::Forward::bypass;
  const http::RequestHead& head = request_.head;
  if (!cache::request_may_use_cache(head, settings) || is_forwarded_unclearly() ||
      request_.classification.has_ambiguous_path || !request_.upgrade.empty() || !read_range()) {
    if (head.method != http::Verb::get && head.method != http::Verb::head)
      status_.forward = http::CacheStatus::Forward::method;
    return cache::Serving::bypass;
  }
  cache_ = cache;
  directives_ = http::request_cache_control(head.fields);
  const bool serves_fresh = settings.serve == config::Serve::fresh;
  if (!cache::looks_up(directives_, serves_fresh)) return cache::Serving::bypass;
  look_up();
  cache::ServingFacts facts{.serves_fresh = serves_fresh, .is_fresh_enough = is_fresh_enough()};
  if (!facts.is_fresh_enough) {  // not needed otherwise
    facts.may_serve_stale = may_serve_stale();
    facts.allows_stale_while_revalidate = allows_stale_while_revalidate();
  }
  const cache::Serving serving = cache::serving(directives_, facts);
  switch (serving) {
    case cache::Serving::fresh: take(false); break;
    case cache::Serving::stale_while_revalidate:
      take(!directives_.only_if_cached && !directives_.no_store);
      break;
    case cache::Serving::fetch: plan_fetch(); break;
    case cache::Serving::bypass: break;
  }
  return serving;
}

void CacheLookup::revalidate(cache::ResponseCache& cache, const cache::StoredPtr& stored) {
  cache_ = &cache;
  status_.has_cache = true;
  looked_up_ = true;
  stored_ = stored;
  fetch_ = cache::Fetch::to_store;
}

// A backend may vary its response by a trusted proxy's forwarding fields. Repeated fields, and
// Forwarded, are not part of the key.
bool CacheLookup::is_forwarded_unclearly() const {
  if (!request_.client.trusted()) return false;
  const http::FieldList& fields = request_.head.fields;
  if (fields.contains(http::FieldId::forwarded)) return true;
  for (const char* name : {"X-Forwarded-Proto", "X-Forwarded-Host"}) {
    if (fields.find(name) != nullptr && traffic::only_value(fields, name).empty()) return true;
  }
  return false;
}

// False: it has a condition that only the origin can check, or a range that is left to the origin.
bool CacheLookup::read_range() {
  const http::RequestHead& head = request_.head;
  if (!http::has_range_or_precondition(head.fields)) return true;
  if (head.method != http::Verb::get || head.fields.contains(http::FieldId::if_match) ||
      head.fields.contains(http::FieldId::if_unmodified_since))
    return false;
  range_ = http::range_wanted(head.fields);
  return range_.has_value();
}

void CacheLookup::plan_fetch() {
  if (cache_ == nullptr) return;
  fetch_ = cache::fetch_for(directives_, {.is_get = request_.head.method == http::Verb::get,
                                          .wants_part = wants_part(),
                                          .was_unstorable = is_unstorable_,
                                          .accepts_stale = accepts_stale_});
}

// Identified tenants share no responses unless the route allows it (across_tenants).
cache::TenantInKey CacheLookup::tenant_in_key() const {
  const config::TenantKey source = request_.classification.tenant.source;
  if (cache_->settings().across_tenants) return {};
  return {.by_api_key = source == config::TenantKey::api_key,
          .by_field = source == config::TenantKey::trusted_header
                          ? std::string_view(request_.config().trusted_headers.tenant)
                          : std::string_view{}};
}

cache::CacheRequest CacheLookup::asked() const {
  const http::RequestHead& head = request_.head;
  const bool has_name = request_.classification.tenant.source != config::TenantKey::client_address;
  // A backend may vary its response by these; only those of a trusted peer are believed.
  const auto trusted = [&](const char* name) {
    return request_.client.trusted() ? traffic::only_value(head.fields, name) : std::string_view{};
  };
  const std::string_view scheme = trusted("X-Forwarded-Proto");
  return {.scheme = scheme.empty() ? std::string_view("http") : scheme,
          .authority = head.host,
          .forwarded_host = trusted("X-Forwarded-Host"),
          .is_forwarding_trusted = request_.client.trusted(),
          .path_and_query = head.path_and_query,
          .tenant = has_name ? request_.classification.tenant.value() : std::string_view{},
          .tenant_in_key = tenant_in_key(),
          .fields = head.fields,
          .hop = http::HopByHop(head.fields, request_.generation->generation().protected_fields,
                                request_.client.trusted())};
}

void CacheLookup::look_up() {
  const cache::Found found = cache_->find(asked(), key_, Clock::now());
  looked_up_ = true;
  stored_ = found.response;
  if (stored_ && range_) find_part();
  result_ = observe::CacheResult::miss;
  if (!was_follower_) status_.forward = forward_of(found.result);
  is_unstorable_ = found.unstorable || found.result == cache::Lookup::unstorable;
}

// Finds it in the stored response; a range that this does not have goes to the origin.
void CacheLookup::find_part() {
  part_.reset();
  http::FieldList fields;
  stored_->read_fields(fields);
  const http::Validators validators{
      .etag = stored_->etag(), .last_modified = stored_->last_modified(), .date = stored_->date()};
  const bool is_whole =
      stored_->status() != 200 || fields.contains(http::FieldId::content_range) ||
      !http::if_range_holds(request_.head.fields, validators, services_.wall_clock.now());
  if (is_whole) return;
  part_ = http::part_of(*range_, stored_->content().size());
  if (!part_) stored_.reset();
}

bool CacheLookup::is_fresh_enough() const {
  if (!stored_) return false;
  const TimePoint now = Clock::now();
  return cache::accepts(directives_, {.age = stored_->age(now),
                                      .freshness_left = stored_->freshness_left(now),
                                      .stale_for = stored_->validity().stale_for});
}

bool CacheLookup::may_serve_stale() const {
  return stored_ && stored_->may_serve_stale(Clock::now());
}

bool CacheLookup::allows_stale_while_revalidate() const {
  if (!stored_) return false;
  http::FieldList fields;
  stored_->read_fields(fields);
  return cache::response_control(fields, cache_->settings())
      .directives.stale_while_revalidate.has_value();
}

bool CacheLookup::look_up_stale() {
  if (cache_ == nullptr) return false;
  if (!looked_up_) look_up();
  return may_serve_stale();
}

bool CacheLookup::look_up_stale_again() {
  if (look_up_stale()) return true;
  if (cache_ != nullptr) look_up();
  return may_serve_stale();
}

bool CacheLookup::would_have_stale() const {
  if (cache_ == nullptr || looked_up_) return may_serve_stale();
  const TimePoint now = Clock::now();
  const cache::Found found = cache_->find(asked(), key_, now);
  return found.response && found.response->may_serve_stale(now);
}

bool CacheLookup::try_take_shared() {
  look_up();
  if (accepts_stale_ ? !may_serve_stale() : !is_fresh_enough()) return false;
  take(wants_refresh_);
  return true;
}

void CacheLookup::take(bool refresh) {
  const bool is_fresh = stored_->is_fresh(Clock::now());
  wants_refresh_ = refresh && !is_fresh && !directives_.no_store && !range_;
  result_ = was_follower_ ? observe::CacheResult::collapsed
            : is_fresh    ? observe::CacheResult::fresh
                          : observe::CacheResult::stale;
  status_.hit = !was_follower_;
  status_.collapsed = was_follower_;
  if (!was_follower_) status_.forward = http::CacheStatus::Forward::none;
}

// The response is not that of the flight which the request followed.
void CacheLookup::take_for_refusal(bool refresh) {
  was_follower_ = status_.stored = false;
  take(refresh);
}

bool CacheLookup::may_serve_on_error() const {
  return cache_->settings().stale_if_error && stored_ && stored_->may_serve_on_error(Clock::now());
}

bool CacheLookup::look_up_stale_if_error(const Fault& fault) {
  if (cache_ == nullptr || !is_of_upstream(fault.reason)) return false;
  if (!looked_up_) look_up();
  return may_serve_on_error();
}

void CacheLookup::take_for_error(const Fault& fault, std::optional<unsigned> status) {
  wants_refresh_ = was_follower_ = false;
  status_.stored = status_.collapsed = false;
  status_.hit = fault.reason == Reason::circuit_open;  // the upstream was not asked
  if (status_.hit) status_.forward = http::CacheStatus::Forward::none;
  status_.ttl = seconds_left(*stored_, Clock::now());
  if (status) status_.forward_status = *status;
}

bool CacheLookup::take_confirmed(http::ResponseHead& response, TimePoint requested_at) {
  const TimePoint now = Clock::now();
  http::ResponseHead merged;
  http::FieldList fields;
  stored_->read_fields(fields);
  merged.status = stored_->status();
  if (!response.fields.contains(http::FieldId::date)) {
    response.fields.push(
        {.name = "Date", .value = services_.wall_clock.date(), .id = http::FieldId::date});
  }
  const bool has_room = cache::merge(fields, response.fields, merged.fields);
  const config::Cache& settings = cache_->settings();
  const cache::Storable storable =
      cache::storable_after(response, request_.head, merged, settings, tenant_in_key());
  if (storable && has_room) {
    const auto of = [&](const http::ResponseHead& head) {
      return cache::validity_of(head, settings, services_.wall_clock.now(), now - requested_at);
    };
    cache::Validity validity = of(merged);
    validity.age = std::max(validity.age, of(response).age);  // Age is not stored as a field
    stored_ = cache_->refreshed(stored_, merged.fields, validity, storable.open, requested_at, now);
  } else if (cache::withdraws(storable.why_not)) {
    cache_->withdraw(key_);
  }
  status_.forward = http::CacheStatus::Forward::stale;
  status_.forward_status = 304;
  return static_cast<bool>(storable);
}

http::CacheStatus CacheLookup::status_of_stored(TimePoint now) const {
  http::CacheStatus status = status_;
  if (status.hit) status.ttl = seconds_left(*stored_, now);
  return status;
}

http::CacheStatus CacheLookup::status_for(const Fault& fault) const {
  if (fault.only_stored) return {.has_cache = true, .detail = "miss"};
  if (fault.outcome == Outcome::error) return status_;
  return {.has_cache = status_.has_cache};  // the request was not forwarded
}

}  // namespace spillway::proxy
