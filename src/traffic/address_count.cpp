#include "traffic/address_count.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <string_view>

namespace spillway::traffic {

namespace {

// IPv4 addresses lie at 0:ffff::/32, which is nobody's network (RFC 4291 section 2.4 and IANA).
std::uint64_t client_of(const IpAddress& address) {
  std::uint64_t client;
  std::memcpy(&client, address.bytes.data() + (address.is_v4() ? 8 : 0), sizeof client);
  return client;
}

}  // namespace

AddressCount::AddressCount(std::uint32_t most, SipKey key) : key_(key) { grow(most); }

void AddressCount::grow(std::uint32_t most) {
  const std::size_t size = std::size_t{most} + most / 4 + 1;
  if (size <= size_) return;
  const std::size_t more = size - std::exchange(size_, size);
  Entry* const block = memory_->blocks.emplace_back(new Entry[more]).get();
  for (std::size_t i = 0; i < more; ++i) block[i].next = std::exchange(free_, block + i);

  const std::vector<Entry*> before = std::exchange(chains_, {});
  chains_.assign(std::bit_ceil(std::size_t{most}), nullptr);
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
    // Only admit() makes more of nothing, and that is this thread.
    if (entry->count.load(std::memory_order_acquire) != 0) {
      link = &entry->next;
      continue;
    }
    *link = entry->next;
    entry->next = std::exchange(free_, entry);
    --remembered_;
  }
}

std::optional<AddressCount::Place> AddressCount::admit(const IpAddress& address,
                                                       std::uint32_t most_of_one) {
  const std::uint64_t client = client_of(address);
  Entry*& first = chain(client);
  clear_chain(first);
  for (Entry* entry = first; entry != nullptr; entry = entry->next) {
    if (entry->client != client) continue;
    if (entry->count.load(std::memory_order_relaxed) >= most_of_one) return std::nullopt;
    entry->count.fetch_add(1, std::memory_order_relaxed);
    return Place(memory_, entry);
  }
  if (most_of_one == 0) return std::nullopt;
  if (free_ == nullptr) {
    for (Entry*& each : chains_) clear_chain(each);
    if (free_ == nullptr) return Place();
  }
  Entry* const entry = std::exchange(free_, free_->next);
  entry->client = client;
  entry->next = std::exchange(first, entry);
  entry->count.store(1, std::memory_order_relaxed);
  ++remembered_;
  return Place(memory_, entry);
}

}  // namespace spillway::traffic
