// The resources of a waiting room: devices of several types, each given to one session at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/time.hpp"

namespace spillway::config {

// A size of a device; a size that is not named is 0.
struct WaitingSize {
  std::string name;
  std::uint32_t value = 0;

  bool operator==(const WaitingSize&) const = default;
};

// One named device, or `count` equal ones with numbered names.
struct WaitingResource {
  std::string type;
  std::string name;  // with `count`: the part before the number; empty: the type
  std::optional<std::uint32_t> count;
  std::vector<WaitingSize> sizes;

  bool operator==(const WaitingResource&) const = default;
};

inline constexpr std::size_t kMostResourceGroups = 64;
inline constexpr std::size_t kMostDevices = 1000;
inline constexpr std::size_t kMostResourceTypes = 16;
inline constexpr std::size_t kMostSizes = 8;  // names, of a waiting room
// The most kinds of requirements of one type, by the set of devices that can meet them.
inline constexpr std::size_t kMostKinds = 32;

// The duration for which a session is requested.
struct WaitingDuration {
  Milliseconds min{1000};
  std::optional<Milliseconds> max;    // default: session_ttl_ms
  std::optional<Milliseconds> usual;  // for a ticket that gives none; default: max
};

// A ticket's own max_wait_ms.
struct WaitingOwnWait {
  Milliseconds min{1000};
  std::optional<Milliseconds> max;  // default: max_wait_ms
};

struct WaitingResources {
  std::vector<WaitingResource> groups;  // empty: it hands out nothing
  std::string default_type;             // empty: the only one, otherwise none
  WaitingDuration duration;
  WaitingOwnWait own_wait;
};

std::vector<std::string> device_names(const WaitingResource& resource);

// A set of groups: one bit for each, in their order.
using GroupSet = std::uint64_t;

// Requirements of one type differ only in which devices meet them: each set of groups that some
// requirement selects is a kind. Returns the sets of all groups of the type and their
// intersections, the largest first; at most `most` + 1 of them.
std::vector<GroupSet> requirement_kinds(const std::vector<WaitingResource>& groups,
                                        const std::string& type, std::size_t most);

}  // namespace spillway::config
