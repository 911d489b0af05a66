// Answers that are made of what is stored: whether there is one, whether it will do, giving it.
#include <algorithm>
#include <chrono>

#include "cache/rules/merge.hpp"
#include "cache/rules/request_limits.hpp"
#include "cache/rules/storable.hpp"
#include "config/choices.hpp"
#include "http/conditional.hpp"
#include "http/local_response.hpp"
#include "proxy/exchange/exchange.hpp"
#include "proxy/worker/worker.hpp"
#include "traffic/tenant.hpp"

namespace spillway::proxy {

namespace {

std::int64_t whole_seconds(Duration duration) {
  return std::chrono::floor<std::chrono::seconds>(duration).count();
}

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

}  // namespace

// Before anything is asked of anyone: a fresh answer, where the route gives those whenever it has
// them.
void Exchange::consult_store() {
  cache::ResponseCache* const cache = here_->cache(subject_.route);
  if (cache == nullptr) return;
  const config::Cache& settings = cache->settings();
  cache_status_.has_cache = true;
  cache_status_.forward = http::CacheStatus::Forward::bypass;
  if (!cache::request_may_use_cache(request_, settings) || is_forwarded_unclearly() ||
      !upgrade_.empty()) {
    if (request_.method != http::Verb::get && request_.method != http::Verb::head)
      cache_status_.forward = http::CacheStatus::Forward::method;
    return;
  }
  cache_ = cache;
  wishes_ = http::request_cache_control(request_.fields);
  if (settings.serve != config::Serve::fresh && !wishes_.only_if_cached) return;
  look_up();
  if (is_fresh_enough()) {
    answer_from_store();
  } else if (may_give_while_revalidating()) {
    wants_refresh_ = !wishes_.only_if_cached && !wishes_.no_store;
    answer_from_store();
  } else {
    plan_fetch();
  }
}

// By what a trusted proxy says of the request the backend may answer differently; what it says
// twice, or in a Forwarded field, is not in the key.
bool Exchange::is_forwarded_unclearly() const {
  if (!asker_->trusted()) return false;
  if (request_.fields.contains(http::FieldId::forwarded)) return true;
  for (const char* name : {"X-Forwarded-Proto", "X-Forwarded-Host"}) {
    const http::Field* const field = request_.fields.find(name);
    if (field != nullptr && traffic::only_value(request_.fields, name).empty()) return true;
  }
  return false;
}

// The store is to get what it lacks. Whether it is worth waiting for another request that does so:
// not for an answer that cannot be kept, and not if this one insists on asking.
void Exchange::plan_fetch() {
  is_for_store_ = cache_ != nullptr && request_.method == http::Verb::get && !wishes_.no_store;
  const bool insists = wishes_.no_cache || wishes_.max_age == std::chrono::seconds(0);
  shares_answer_ = is_for_store_ && !is_unstorable_ && (stale_will_do_ || !insists);
}

// Tenants that prove who they are never see each other's answers, unless the route says so.
cache::TenantInKey Exchange::tenant_in_key() const {
  const config::TenantKey source = subject_.tenant.source;
  if (cache_->settings().across_tenants) return {};
  return {.by_api_key = source == config::TenantKey::api_key,
          .by_field = source == config::TenantKey::trusted_header
                          ? std::string_view(here_->config().trusted_headers.tenant)
                          : std::string_view{}};
}

cache::Asked Exchange::asked() const {
  const bool has_name = subject_.tenant.source != config::TenantKey::client_address;
  // A backend may answer differently by these, which a trusted peer sets and others cannot.
  const auto trusted = [&](const char* name) {
    return asker_->trusted() ? traffic::only_value(request_.fields, name) : std::string_view{};
  };
  const std::string_view scheme = trusted("X-Forwarded-Proto");
  return {.scheme = scheme.empty() ? std::string_view("http") : scheme,
          .authority = request_.host,
          .forwarded_host = trusted("X-Forwarded-Host"),
          .path_and_query = request_.path_and_query,
          .tenant = has_name ? subject_.tenant.value() : std::string_view{},
          .tenant_in_key = tenant_in_key(),
          .fields = request_.fields};
}

void Exchange::look_up() {
  const cache::Found found = cache_->find(asked(), key_, Clock::now());
  looked_up_ = true;
  stored_ = found.response;
  lookup_ = observe::CacheLookup::miss;
  if (!has_followed_) cache_status_.forward = forward_of(found.result);
  is_unstorable_ = found.unstorable || found.result == cache::Lookup::unstorable;
}

bool Exchange::is_fresh_enough() const {
  if (!stored_) return false;
  const TimePoint now = Clock::now();
  return cache::takes(wishes_, {.age = stored_->age(now),
                                .freshness_left = stored_->freshness_left(now),
                                .stale_for = stored_->validity().stale_for});
}

// While overloaded the request's own wish for something newer does not count: it is advisory (RFC
// 9111 section 5.2.1), and a crowd that reloads must not get past the cache.
bool Exchange::may_give_stale() const { return stored_ && stored_->may_serve_stale(Clock::now()); }

// The origin itself said for how long to answer at once and ask afterwards (RFC 5861 section 3),
// and the client has no wish that speaks against it.
bool Exchange::may_give_while_revalidating() const {
  if (wishes_.no_cache || wishes_.max_age || wishes_.min_fresh || !may_give_stale()) return false;
  http::FieldList fields;
  stored_->read_fields(fields);
  return http::cache_control(fields).stale_while_revalidate.has_value();
}

// Whether this verdict is to answer with what is stored, and something is.
bool Exchange::takes_stored(const overload::Verdict& verdict) const {
  return verdict.kind == overload::Verdict::Kind::degrade && !is_shadow() &&
         verdict.mode != config::DegradeMode::skip_downstream && may_give_stale();
}

void Exchange::answer_from_store() {
  source_ = Source::store;
  const bool is_fresh = stored_->is_fresh(Clock::now());
  wants_refresh_ = wants_refresh_ && !is_fresh;
  lookup_ = has_followed_ ? observe::CacheLookup::collapsed
            : is_fresh    ? observe::CacheLookup::fresh
                          : observe::CacheLookup::stale;
  cache_status_.hit = !has_followed_;
  cache_status_.collapsed = has_followed_;
  if (!has_followed_) cache_status_.forward = http::CacheStatus::Forward::none;
}

bool Exchange::may_stand_in() const {
  return cache_->settings().stale_if_error && stored_ && stored_->may_serve_on_error(Clock::now());
}

// In place of a failure of the upstream: what is stored, even if it is stale (RFC 5861 section 4).
// False when nothing will do.
bool Exchange::stand_in() {
  if (cache_ == nullptr || response_started_ || !is_of_upstream(fault_.reason)) return false;
  if (!looked_up_) look_up();
  if (!may_stand_in()) return false;
  land(cache::Landing::failed);
  let_go_of_upstream();
  filling_.reset();
  failed_ = false;
  is_degraded_ = true;
  verdict_.mode = config::DegradeMode::stale_ok;
  verdict_.reason = record_.reason = fault_.reason;
  wants_refresh_ = has_followed_ = false;
  source_ = Source::store;
  cache_status_.stored = cache_status_.collapsed = false;
  cache_status_.hit = fault_.reason == Reason::circuit_open;  // the upstream was not asked
  if (cache_status_.hit) cache_status_.forward = http::CacheStatus::Forward::none;
  cache_status_.ttl = whole_seconds(stored_->freshness_left(Clock::now()));
  return true;
}

// When the upstream's answer is not what the client gets: it confirms what is stored, or it is a
// failure for which something is stored.
bool Exchange::takes_stored_instead() {
  if (cache_ == nullptr) return false;
  if (response_.status == 304 && is_for_store_ && stored_) {
    confirm_stored();
    return true;
  }
  if (!says_failure(response_.status)) return false;
  const unsigned status = response_.status;
  fail(upstream_failed());
  if (!stand_in()) {
    failed_ = false;
    return false;
  }
  here_->signals(subject_.upstream).record_result(true);
  cache_status_.forward_status = status;
  return true;
}

// 304: the stored answer, with other fields and times (RFC 9111 section 4.3.4).
void Exchange::confirm_stored() {
  const TimePoint now = Clock::now();
  http::ResponseHead merged;
  http::FieldList fields;
  stored_->read_fields(fields);
  merged.status = stored_->status();
  if (!response_.fields.contains(http::FieldId::date))
    response_.fields.push({.name = "Date", .value = worker_.date(), .id = http::FieldId::date});
  const bool has_room = cache::merge(fields, response_.fields, merged.fields);
  const cache::Storable storable =
      cache::storable_after(response_, request_, merged, cache_->settings(), tenant_in_key());
  if (storable && has_room) {
    const auto of = [&](const http::ResponseHead& head) {
      return cache::validity_of(head, cache_->settings(), worker_.wall_time(), now - dispatched_);
    };
    cache::Validity validity = of(merged);
    validity.age = std::max(validity.age, of(response_).age);  // its Age is not among the stored
    stored_ = cache_->refreshed(stored_, merged.fields, validity, storable.open, dispatched_, now);
  } else if (cache::withdraws(storable.why_not)) {
    cache_->withdraw(key_);
  }
  upstream_done_ = true;
  // Bytes behind the head belong to nothing that was asked for.
  if (in_received_ > in_valid_) response_.keep_alive = false;
  upstream_finished();
  land(storable ? cache::Landing::stored : cache::Landing::nothing);
  source_ = Source::store;
  cache_status_.forward = http::CacheStatus::Forward::stale;
  cache_status_.forward_status = 304;
}

Task<> Exchange::give_stored() {
  consumed_ = head_end_;  // a request with a body is never answered so
  keep_client_ = request_.keep_alive && !worker_.draining();
  const cache::StoredResponse& stored = *stored_;
  const TimePoint now = Clock::now();
  if (cache_status_.hit) cache_status_.ttl = whole_seconds(stored.freshness_left(now));
  const http::StoredHead head{
      .status = stored.status(),
      .reason_phrase = stored.reason_phrase(),
      .lines = stored.lines(),
      .content_length = stored.status() == 204
                            ? std::nullopt
                            : std::optional<std::uint64_t>(stored.content().size()),
      .age = whole_seconds(stored.age(now))};
  const http::ForwardedResponse with{
      .client_version = request_.version,
      .keep_alive = keep_client_,
      .request_id = find_request_id(),
      .queue_wait = waited_ > Duration{0} ? std::optional(waited_) : std::nullopt,
      .degraded = is_degraded_ ? config::name(verdict_.mode) : std::string_view{},
      .degraded_for = verdict_.reason,
      .cache_status = cache_status_};
  const bool is_known =
      stored.status() == 200 &&
      http::not_modified(
          request_.fields,
          {.etag = stored.etag(), .last_modified = stored.last_modified(), .date = stored.date()},
          worker_.wall_time());
  const auto write = is_known ? http::write_not_modified_head : http::write_stored_head;
  if (!out_block_) out_block_ = worker_.small_blocks.take();
  TextWriter out(out_block_.bytes());
  if (!write(out, head, with)) {
    out_block_ = worker_.large_blocks.take();
    out = TextWriter(out_block_.bytes());
    if (!write(out, head, with)) {
      fail(head_too_large());
      co_return;
    }
  }
  const bool with_content = !is_known && request_.method != http::Verb::head;
  status_ = is_known ? 304 : stored.status();
  response_started_ = true;
  watches_client_ = true;
  const bool sent =
      co_await send_to_client(out.text(), with_content ? stored.content() : std::string_view{});
  watches_client_ = false;
  if (!sent) fail(client_gone());
  if (wants_refresh_) worker_.begin_refresh(*this);
}

}  // namespace spillway::proxy
