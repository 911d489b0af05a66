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

AddressCount::AddressCount(std::uint32_t most, SipKey key) : key_(key) {
  const std::uint32_t size = most + most / 4 + 1;
  entries_ = Entries(new Entry[size]);
  for (std::uint32_t i = 0; i < size; ++i) entries_[i].next = i + 1 < size ? i + 1 : kNone;
  chains_.assign(std::bit_ceil(std::size_t{most}), kNone);
}

std::uint32_t& AddressCount::chain(std::uint64_t client) {
  const std::string_view bytes(reinterpret_cast<const char*>(&client), sizeof client);
  return chains_[sip_hash(key_, bytes) & (chains_.size() - 1)];
}

void AddressCount::clear_chain(std::uint32_t& first) {
  for (std::uint32_t* link = &first; *link != kNone;) {
    const std::uint32_t at = *link;
    Entry& entry = entries_[at];
    // Only admit() makes more of nothing, and that is this thread.
    if (entry.count.load(std::memory_order_acquire) != 0) {
      link = &entry.next;
      continue;
    }
    *link = entry.next;
    entry.next = std::exchange(free_, at);
    --remembered_;
  }
}

std::optional<AddressCount::Place> AddressCount::admit(const IpAddress& address,
                                                       std::uint32_t most_of_one) {
  const std::uint64_t client = client_of(address);
  std::uint32_t& first = chain(client);
  clear_chain(first);
  for (std::uint32_t at = first; at != kNone; at = entries_[at].next) {
    Entry& entry = entries_[at];
    if (entry.client != client) continue;
    if (entry.count.load(std::memory_order_relaxed) >= most_of_one) return std::nullopt;
    entry.count.fetch_add(1, std::memory_order_relaxed);
    return Place(entries_, &entry);
  }
  if (most_of_one == 0) return std::nullopt;
  if (free_ == kNone) {
    for (std::uint32_t& each : chains_) clear_chain(each);
    if (free_ == kNone) return Place();
  }
  const std::uint32_t at = free_;
  Entry& entry = entries_[at];
  free_ = entry.next;
  entry.client = client;
  entry.next = std::exchange(first, at);
  entry.count.store(1, std::memory_order_relaxed);
  ++remembered_;
  return Place(entries_, &entry);
}

}  // namespace spillway::traffic
