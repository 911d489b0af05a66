#include "cache/store/filling.hpp"

#include <algorithm>
#include <cstring>

#include "cache/rules/cache_key.hpp"
#include "cache/store/response_builder.hpp"

namespace spillway::cache {
namespace {

constexpr std::size_t kFirstContent = 4096;  // room for a body of unknown length

}  // namespace

Filling::Filling(CacheShard& shard, const ResponseParts& parts, const Limits& limits, TimePoint now)
    : limits_(limits), now_(now), head_bytes_(ResponseBuilder::head_bytes(parts)) {
  if (is_too_big()) return;
  const std::size_t content =
      limits.length ? static_cast<std::size_t>(*limits.length) : kFirstContent;
  block_ = shard.take(std::min(head_bytes_ + content, limits.max_bytes), now);
  if (block_.memory == nullptr) return;
  ResponseBuilder::build(block_.memory, parts);
  shard_ = &shard;
  size_ = head_bytes_;
}

Filling::~Filling() {
  if (shard_ != nullptr) shard_->give_back(block_);
}

void Filling::swap(Filling& other) noexcept {
  std::swap(shard_, other.shard_);
  std::swap(block_, other.block_);
  std::swap(limits_, other.limits_);
  std::swap(now_, other.now_);
  std::swap(head_bytes_, other.head_bytes_);
  std::swap(size_, other.size_);
  std::swap(primary_size_, other.primary_size_);
  std::swap(primary_hash_, other.primary_hash_);
  std::swap(personal_, other.personal_);
}

bool Filling::give_up() {
  *this = Filling();
  return false;
}

bool Filling::grow(std::size_t bytes) {
  const Block bigger =
      shard_->take(std::min(std::max(bytes, 2 * block_.bytes), limits_.max_bytes), now_);
  if (bigger.memory == nullptr) return false;
  response().copy_to(bigger.memory);
  std::memcpy(bigger.memory + head_bytes_, block_.memory + head_bytes_, size_ - head_bytes_);
  shard_->give_back(std::exchange(block_, bigger));
  return true;
}

bool Filling::append(std::string_view content) {
  if (shard_ == nullptr) return false;
  if (content.empty()) return true;
  const std::size_t size = size_ + content.size();
  if (limits_.length && size - head_bytes_ > *limits_.length) return give_up();
  if (size > limits_.max_bytes) {
    shard_->mark_unstorable(response().key(), personal_, now_);
    return give_up();
  }
  if (size > block_.bytes && !grow(size)) return give_up();
  content.copy(block_.memory + size_, content.size());
  size_ = size;
  return true;
}

void Filling::share_content(const StoredResponse& of) {
  ResponseBuilder::share_content(response(), of);
}

StoredPtr Filling::commit(TimePoint now) {
  if (shard_ == nullptr) return {};
  const std::size_t content = size_ - head_bytes_;
  if (limits_.length && content != *limits_.length) return {};
  if (content > 0) ResponseBuilder::set_content(response(), content);
  if (primary_size_ > 0) {
    const KeyView key = response().key();
    KeyParts rest(key.text.substr(primary_size_));
    const KeyView primary{key.text.substr(0, primary_size_), primary_hash_, key.uri_hash};
    if (!shard_->put_names(primary, rest.next(), now)) return {};
  }
  StoredPtr held = shard_->insert(response(), block_, now);
  shard_->give_back(block_);
  shard_ = nullptr;
  return held;
}

}  // namespace spillway::cache
