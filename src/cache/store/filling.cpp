#include "cache/store/filling.hpp"

#include <algorithm>

#include "cache/rules/cache_key.hpp"

namespace spillway::cache {
namespace {

constexpr std::size_t kFirstContent = 4096;  // room for a body of unknown length

}  // namespace

Filling::Filling(CacheShard& shard, const ResponseParts& parts, const Limits& limits,
                 Primary primary, std::uint64_t unstorable_hash, TimePoint now)
    : shard_(&shard),
      limits_(limits),
      primary_(primary),
      unstorable_hash_(unstorable_hash),
      head_bytes_(StoredResponse::head_bytes(parts)),
      began_at_(now) {
  if (head_bytes_ > limits.max_bytes ||
      limits.length.value_or(0) > limits.max_bytes - head_bytes_) {
    shard.mark_unstorable(unstorable_hash, now);
    return;
  }
  const std::size_t content = limits.length
                                  ? static_cast<std::size_t>(*limits.length)
                                  : std::min(kFirstContent, limits.max_bytes - head_bytes_);
  response_ = shard.allocate(parts, content, now);
}

bool Filling::give_up() {
  response_.reset();
  return false;
}

bool Filling::append(std::string_view content) {
  if (!response_) return false;
  const std::size_t room = response_->capacity();
  const std::size_t size = response_->content().size() + content.size();
  if (size > room) {
    if (limits_.length) return give_up();
    const std::size_t max = limits_.max_bytes - head_bytes_;
    if (size > max) {
      shard_->mark_unstorable(unstorable_hash_, began_at_);
      return give_up();
    }
    response_ =
        shard_->resize(std::move(response_), std::min(std::max(size, 2 * room), max), began_at_);
    if (!response_) return false;
  }
  response_->append(content);
  return true;
}

bool Filling::put_vary_note(TimePoint now) {
  const KeyView key = response_->key();
  const KeyView primary{key.text.substr(0, primary_.key_size), primary_.hash, key.uri_hash};
  const std::string_view names = KeyParts(key.text.substr(primary_.key_size)).next();
  const StoredPtr known = shard_->find(primary);
  if (known && known->is_vary_note() && known->content() == names) return true;
  const http::FieldList no_fields;
  return shard_->store({.key = primary,
                        .fields = no_fields,
                        .validity = Validity{},
                        .requested_at = TimePoint::max()},
                       names, now) != nullptr;
}

StoredPtr Filling::commit(TimePoint now) {
  if (!response_) return {};
  const std::size_t size = response_->content().size();
  if (limits_.length && size != *limits_.length) return {};
  if (primary_.key_size > 0 && !put_vary_note(now)) return {};
  if (size < response_->capacity()) response_ = shard_->resize(std::move(response_), size, now);
  StoredPtr stored = response_ ? shard_->insert(*response_) : StoredPtr();
  response_.reset();
  return stored;
}

}  // namespace spillway::cache
