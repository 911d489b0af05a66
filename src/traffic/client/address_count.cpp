#include "traffic/client/address_count.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <string_view>

namespace spillway::traffic {

namespace {

// IPv4 addresses map to 0:ffff::/32, which is not assigned to any network (RFC 4291 section 2.4).
std::uint64_t client_of(const IpAddress& address) {
  std::uint64_t client;
  std::memcpy(&client, address.bytes.data() + (address.is_v4() ? 8 : 0), sizeof client);
  return client;
}

}  // namespace

AddressCount::AddressCount(std::uint32_t max_connections, SipKey key) : key_(key) {
  grow(max_connections);
}

void AddressCount::grow(std::uint32_t max_connections) {
  const std::size_t size = std::size_t{max_connections} + max_connections / 4 + 1;
  if (size <= size_) return;
  const std::size_t more = size - std::exchange(size_, size);
  Entry* const block = memory_->blocks.emplace_back(new Entry[more]).get();
  for (std::size_t i = 0; i < more; ++i) block[i].next = std::exchange(free_, block + i);

  const std::vector<Entry*> before = std::exchange(chains_, {});
  chains_.assign(std::bit_ceil(std::size_t{max_connections}), nullptr);
  for (Entry* entry : before) {
    while (entry != nullptr) {
      Entry*& first = chain(entry->client);
      Entry* const next = std::exchange(entry->next, first);
      first = std::exchange(entry, next);
    }
  }
}

AddressCount::Entry*& AddressCount::chain(std::uint64_t client) {
  const std::string_view bytes(reinterpret_cast<const char*>(&client), sizeof client);
  return chains_[sip_hash(key_, bytes) & (chains_.size() - 1)];
}

void AddressCount::clear_chain(Entry*& first) {
  for (Entry** link = &first; *link != nullptr;) {
    Entry* const entry = *link;
    // Only admit(), on this thread, raises a count from zero.
    if (entry->count.load(std::memory_order_acquire) != 0) {
      link = &entry->next;
      continue;
    }
    *link = entry->next;
    entry->next = std::exchange(free_, entry);
  }
}

std::optional<AddressCount::Permit> AddressCount::admit(const IpAddress& address,
                                                        std::uint32_t max_per_client) {
  const std::uint64_t client = client_of(address);
  Entry*& first = chain(client);
  clear_chain(first);
  for (Entry* entry = first; entry != nullptr; entry = entry->next) {
    if (entry->client != client) continue;
    if (entry->count.load(std::memory_order_relaxed) >= max_per_client) return std::nullopt;
    entry->count.fetch_add(1, std::memory_order_relaxed);
    return Permit(memory_, entry);
  }
  if (max_per_client == 0) return std::nullopt;
  if (free_ == nullptr) {
    for (Entry*& each : chains_) clear_chain(each);
    if (free_ == nullptr) return Permit();
  }
  Entry* const entry = std::exchange(free_, free_->next);
  entry->client = client;
  entry->next = std::exchange(first, entry);
  entry->count.store(1, std::memory_order_relaxed);
  return Permit(memory_, entry);
}

}  // namespace spillway::traffic
