#include "store/contract/key.hpp"

#include <nettle/sha2.h>

#include <string_view>

namespace spillway::store {

KeyMark mark_of(const std::optional<Key>& key) {
  KeyMark mark{};
  if (!key) return mark;
  constexpr std::string_view kPurpose = "spillway: the mark of a store's key";
  sha256_ctx context;
  sha256_init(&context);
  sha256_update(&context, kPurpose.size(), reinterpret_cast<const std::uint8_t*>(kPurpose.data()));
  sha256_update(&context, key->bytes.size(), key->bytes.data());
  sha256_digest(&context, mark.size(), mark.data());
  return mark;
}

}  // namespace spillway::store
