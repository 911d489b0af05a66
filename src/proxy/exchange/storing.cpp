// How answers come to be stored: a copy of what is relayed, kept once it is complete.
#include <algorithm>

#include "cache/rules/invalidation.hpp"
#include "cache/rules/storable.hpp"
#include "cache/rules/validity.hpp"
#include "proxy/exchange/exchange.hpp"
#include "proxy/worker/worker.hpp"

namespace spillway::proxy {

namespace {

// Of a status line; longer ones are no phrases.
constexpr std::size_t kMostPhrase = 1024;

// What is stored need not be stored again at once: copying every answer would cost more than the
// little that the newest of them is better.
bool is_recent(const cache::StoredResponse& stored, TimePoint now) {
  const Duration since = stored.age(now) - stored.validity().age;
  return since < std::min<Duration>(stored.lifetime() / 10, Milliseconds{1000});
}

}  // namespace

// Called with the response's head, before its body.
void Exchange::begin_storing() {
  if (here_->stores_answers() && cache::invalidates(request_.method, response_.status))
    invalidate_stored();
  if (shows_another()) cache_->withdraw(key_);
  // What the upstream made of an announced degradation is less than what is asked for.
  if (cache_ == nullptr || request_.method != http::Verb::get || announces_degrade_) return;
  const TimePoint now = Clock::now();
  if (!looked_up_) {
    const cache::Found found = cache_->find(asked(), key_, now);
    if (found.result == cache::Lookup::fresh && is_recent(*found.response, now)) return;
  }
  const cache::Storable storable =
      cache::storable(request_, response_, cache_->settings(), tenant_in_key());
  const cache::Validity validity =
      cache::validity_of(response_, cache_->settings(), worker_.wall_time(), now - dispatched_);
  if (storable && !is_event_stream() && cache::is_of_use(validity, response_) &&
      response_.reason_phrase.size() <= kMostPhrase) {
    const bool counted = response_.framing.kind == http::Framing::Kind::length;
    filling_ = cache_->begin(key_, asked(), response_, validity, storable.open, dispatched_, now,
                             worker_.date(),
                             counted ? std::optional(response_.framing.length) : std::nullopt);
  } else if (leads_ && response_.status < 500) {  // a failure says nothing of the next answer
    cache_->mark_unstorable(key_, now);
  }
  cache_status_.stored = filling_.has_value();
  // Nobody waits for what he cannot use.
  const bool can_be_shared = filling_ && (stale_will_do_ || validity.age < validity.lifetime);
  if (!can_be_shared)
    land(response_.status >= 500 ? cache::Landing::failed : cache::Landing::nothing);
}

// Whether the answer to HEAD has other validators than what is stored for a GET (RFC 9111 section
// 4.3.5). Its Content-Length is not looked at: of HEAD many backends say a wrong one.
bool Exchange::shows_another() const {
  if (!stored_ || request_.method != http::Verb::head || response_.status != 200) return false;
  // What one person is shown is nobody else's business.
  if (announces_degrade_ || request_.fields.contains(http::FieldId::authorization) ||
      cache::has_personal_field(request_.fields, cache_->settings(), tenant_in_key(),
                                response_.fields))
    return false;
  const auto differs = [this](http::FieldId id, std::string_view stored) {
    const http::Field* const field = response_.fields.find(id);
    if (field == nullptr) return false;
    std::string_view shown = field->value;
    for (std::string_view* tag : {&shown, &stored}) {
      if (tag->starts_with("W/")) tag->remove_prefix(2);
    }
    return shown != stored;
  };
  return differs(http::FieldId::etag, stored_->etag()) ||
         differs(http::FieldId::last_modified, stored_->last_modified());
}

void Exchange::store(std::string_view content) {
  if (filling_->append(content)) return;
  filling_.reset();
  if (leads_) cache_->mark_unstorable(key_, Clock::now());
  land(cache::Landing::nothing);
}

void Exchange::finish_storing() {
  stored_.reset();  // what nobody reads is written over
  const cache::StoredPtr stored = filling_->commit(Clock::now());
  filling_.reset();
  land(stored ? cache::Landing::stored : cache::Landing::nothing);
}

// What was changed by this request is not what is stored any more (RFC 9111 section 4.4).
void Exchange::invalidate_stored() {
  end_stored_at(request_.path_and_query);
  for (const http::FieldId id : {http::FieldId::location, http::FieldId::content_location}) {
    const http::Field* const field = response_.fields.find(id);
    if (field == nullptr) continue;
    const std::string_view target = cache::same_authority_target(field->value, request_.host);
    if (!target.empty()) end_stored_at(target);
  }
}

void Exchange::end_stored_at(std::string_view path_and_query) {
  const RouteId route = here_->generation().classifier.route_of(http::Verb::get, "GET",
                                                                request_.host, path_and_query);
  cache::ResponseCache* const cache = here_->cache(route);
  if (cache != nullptr) cache->invalidate(request_.host, path_and_query, Clock::now());
}

}  // namespace spillway::proxy
