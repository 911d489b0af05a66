// A set of servers of one upstream, by their index in the configuration: a bit mask of 64.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

namespace spillway::resilience {

// Indexes are below 64; anything else is undefined.
class ServerSet {
 public:
  static constexpr std::size_t kCapacity = 64;

  constexpr ServerSet() = default;
  constexpr explicit ServerSet(std::uint64_t bits) : bits_(bits) {}
  // Servers 0 to count - 1.
  static constexpr ServerSet first(std::size_t count) {
    return ServerSet(count >= kCapacity ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1);
  }

  constexpr void insert(std::size_t server) { bits_ |= bit(server); }
  constexpr void erase(std::size_t server) { bits_ &= ~bit(server); }
  constexpr bool contains(std::size_t server) const { return (bits_ & bit(server)) != 0; }
  constexpr bool empty() const { return bits_ == 0; }
  constexpr std::size_t size() const { return static_cast<std::size_t>(std::popcount(bits_)); }
  constexpr std::uint64_t bits() const { return bits_; }

  // The least member. The set may not be empty.
  constexpr std::size_t front() const { return static_cast<std::size_t>(std::countr_zero(bits_)); }
  // The n-th member by rising index, from 0; n is below size().
  constexpr std::size_t nth(std::size_t n) const {
    ServerSet rest = *this;
    for (; n > 0; --n) rest.bits_ &= rest.bits_ - 1;
    return rest.front();
  }

  constexpr ServerSet operator&(ServerSet other) const { return ServerSet(bits_ & other.bits_); }
  constexpr ServerSet operator|(ServerSet other) const { return ServerSet(bits_ | other.bits_); }
  constexpr ServerSet operator-(ServerSet other) const { return ServerSet(bits_ & ~other.bits_); }
  constexpr bool operator==(const ServerSet&) const = default;

 private:
  static constexpr std::uint64_t bit(std::size_t server) { return std::uint64_t{1} << server; }

  std::uint64_t bits_ = 0;
};

}  // namespace spillway::resilience
