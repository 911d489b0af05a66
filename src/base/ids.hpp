// Ids of configured items: one strong type per kind, so that they cannot be mixed up.
//
// The value is the index in the configured list, except for TenantId.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace spillway {

enum class ClassId : std::uint8_t {};   // 0 is the highest priority
enum class RouteId : std::uint32_t {};  // the last one is the default route
enum class UpstreamId : std::uint16_t {};
enum class TenantId : std::uint64_t {};  // a hash of the tenant's name, not an index

inline constexpr std::size_t kMaxClasses = 32;
inline constexpr std::size_t kMaxUpstreams = 256;

// The index behind an id or enum, for use as an array subscript.
template <class Enum>
requires std::is_enum_v<Enum>
constexpr std::size_t index(Enum id) { return static_cast<std::size_t>(id); }

}  // namespace spillway
