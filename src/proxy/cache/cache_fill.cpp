#include "proxy/cache/cache_fill.hpp"

#include <algorithm>

#include "cache/rules/storable.hpp"
#include "cache/rules/validity.hpp"
#include "proxy/cache/cache_invalidation.hpp"
#include "proxy/request/admission/long_lived.hpp"

namespace spillway::proxy {

namespace {
// The longest reason phrase of a response that is stored.
constexpr std::size_t kMostPhrase = 1024;
}  // namespace

void CacheFill::begin(const http::ResponseHead& response, TimePoint requested_at, bool is_lesser) {
  invalidate_changed(request_, response);
  if (has_other_validators(response, is_lesser)) lookup_.cache()->withdraw(lookup_.key());
  if (!lookup_.is_usable() || request_.head.method != http::Verb::get || is_lesser ||
      lookup_.wants_part())
    return;
  const TimePoint now = Clock::now();
  if (!lookup_.looked_up() && is_stored_lately(now)) return;
  cache::ResponseCache& cache = *lookup_.cache();
  const config::Cache& settings = cache.settings();
  const cache::Storable storable =
      cache::storable(request_.head, response, settings, lookup_.tenant_in_key());
  const cache::Validity validity =
      cache::validity_of(response, settings, services_.wall_clock.now(), now - requested_at);
  if (storable && !is_event_stream(request_.head.method, response) &&
      cache::is_reusable(validity, response) && response.reason_phrase.size() <= kMostPhrase) {
    const bool is_counted = response.framing.kind == http::Framing::Kind::length;
    filling_ = cache.begin(lookup_.key(), lookup_.asked(), response, validity, storable.open,
                           requested_at, now, services_.wall_clock.date(),
                           is_counted ? std::optional(response.framing.length) : std::nullopt);
  } else if (flight_.leads() && response.status < 500) {  // a failure tells nothing of the next one
    cache.mark_unstorable(lookup_.key(), now);
  }
  lookup_.set_storing(filling_.has_value());
  // Followers do not wait for a response that they could not use.
  const bool can_be_shared =
      filling_ && (lookup_.accepts_stale() || validity.age < validity.lifetime);
  if (!can_be_shared)
    flight_.land(response.status >= 500 ? cache::Landing::failed : cache::Landing::nothing);
}

// A fresh response is not stored again soon: copying every response would cost more than a slightly
// newer one is worth.
bool CacheFill::is_stored_lately(TimePoint now) const {
  const cache::Found found = lookup_.cache()->find(lookup_.asked(), lookup_.key(), now);
  if (found.result != cache::Lookup::fresh) return false;
  const cache::StoredResponse& stored = *found.response;
  const Duration since = stored.age(now) - stored.validity().age;
  return since < std::min<Duration>(stored.lifetime() / 10, Milliseconds{1000});
}

// Whether the response to HEAD has other validators than the stored response to GET (RFC 9111
// section 4.3.5). Content-Length does not count: many backends send a wrong one for HEAD.
bool CacheFill::has_other_validators(const http::ResponseHead& response, bool is_lesser) const {
  const cache::StoredPtr& stored = lookup_.stored();
  if (!stored || request_.head.method != http::Verb::head || response.status != 200) return false;
  // A personal response says nothing about the responses for other clients.
  if (is_lesser || request_.head.fields.contains(http::FieldId::authorization) ||
      cache::has_personal_field(request_.head.fields, lookup_.cache()->settings(),
                                lookup_.tenant_in_key(), response.fields))
    return false;
  const auto differs = [&response](http::FieldId id, std::string_view known) {
    const http::Field* const field = response.fields.find(id);
    if (field == nullptr) return false;
    std::string_view shown = field->value;
    for (std::string_view* tag : {&shown, &known}) {
      if (tag->starts_with("W/")) tag->remove_prefix(2);
    }
    return shown != known;
  };
  return differs(http::FieldId::etag, stored->etag()) ||
         differs(http::FieldId::last_modified, stored->last_modified());
}

void CacheFill::append(std::string_view content) {
  if (!filling_ || filling_->append(content)) return;
  filling_.reset();
  if (flight_.leads()) lookup_.cache()->mark_unstorable(lookup_.key(), Clock::now());
  flight_.land(cache::Landing::nothing);
}

void CacheFill::make_room(TimePoint now) {
  if (!filling_ || !filling_->is_wanted_back(now)) return;
  filling_.reset();
  flight_.land(cache::Landing::nothing);
}

bool CacheFill::finish() {
  if (!filling_) return false;
  lookup_.drop_stored();  // without a reader the stored response can be replaced
  const cache::StoredPtr stored = filling_->commit(Clock::now());
  filling_.reset();
  flight_.land(stored ? cache::Landing::stored : cache::Landing::nothing);
  return static_cast<bool>(stored);
}

}  // namespace spillway::proxy
