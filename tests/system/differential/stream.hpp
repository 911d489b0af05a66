// What a client sends on one connection: a request of a grammar with a few oddities, a plain one
// behind it, and one that ends the connection.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace spillway::differential {

// Something about a request that proxies may treat each in its way.
struct Oddity {
  std::string_view name;
  std::string_view section;  // of the RFCs, where it is spoken of
};

struct Stream {
  std::string bytes;
  std::vector<std::string_view> oddities;  // of the first request, by name
};

// The same for the same seed, on every machine.
Stream stream_of(std::uint64_t seed);

// All that the grammar has.
const std::vector<Oddity>& oddities();

// The paths of the two that follow.
inline constexpr std::string_view kSecond = "/second";
inline constexpr std::string_view kEnd = "/end";

}  // namespace spillway::differential
