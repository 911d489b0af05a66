#include "degrade/filling.hpp"

#include <algorithm>
#include <cstring>

#include "degrade/cache_shard.hpp"
#include "degrade/response_builder.hpp"

namespace spillway::degrade {

Filling::~Filling() {
  if (shard_ != nullptr) shard_->give_back(block_, capacity_);
}

void Filling::swap(Filling& other) noexcept {
  std::swap(shard_, other.shard_);
  std::swap(block_, other.block_);
  std::swap(capacity_, other.capacity_);
  std::swap(size_, other.size_);
  std::swap(head_size_, other.head_size_);
  std::swap(length_, other.length_);
  std::swap(response_, other.response_);
}

bool Filling::make_room(std::size_t size) { return size <= capacity_; }

bool Filling::append(std::string_view content) {
  if (shard_ == nullptr) return false;
  if (!make_room(size_ + content.size())) {
    *this = Filling();
    return false;
  }
  if (!content.empty()) std::memcpy(block_ + size_, content.data(), content.size());
  size_ += content.size();
  return true;
}

StoredPtr Filling::commit(TimePoint now) {
  if (shard_ == nullptr || (length_ && size_ - head_size_ != *length_)) return {};
  ResponseBuilder::set_content_size(*response_, size_ - head_size_);
  CacheShard* const shard = std::exchange(shard_, nullptr);
  return shard->insert(response_, now);
}

}  // namespace spillway::degrade
