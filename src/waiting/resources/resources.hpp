// The resources of a waiting room, and what visitors ask for. Pure data; see catalog.hpp.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/time.hpp"
#include "config/waiting_resources.hpp"

namespace spillway::waiting {

using config::kMostDevices;
using config::kMostKinds;
using config::kMostResourceTypes;
using config::kMostSizes;

struct SizeNamed {
  std::string name;
  std::uint32_t value = 0;

  bool operator==(const SizeNamed&) const = default;
  template <class Self, class Archive>
  static void fields(Self& self, Archive& archive) {
    archive(self.name, self.value);
  }
};

// Identical devices.
struct DeviceGroup {
  std::string type;
  std::string name;
  std::uint32_t count = 0;  // 0: one device of that name; else they are numbered
  std::vector<SizeNamed> sizes;

  bool operator==(const DeviceGroup&) const = default;
  template <class Self, class Archive>
  static void fields(Self& self, Archive& archive) {
    archive(self.type, self.name, self.count, self.sizes);
  }
};

struct TimeBounds {
  Milliseconds least{0};
  Milliseconds most{0};

  bool operator==(const TimeBounds&) const = default;
  template <class Self, class Archive>
  static void fields(Self& self, Archive& archive) {
    archive(self.least, self.most);
  }
};

struct Resources {
  std::vector<DeviceGroup> groups;  // none: nothing is handed out
  std::string default_type;
  TimeBounds duration;
  Milliseconds usual_duration{0};
  TimeBounds own_wait;

  bool operator==(const Resources&) const = default;
  // Equal but for the times that a ticket may ask for.
  bool hands_out_as(const Resources& other) const {
    return groups == other.groups && default_type == other.default_type;
  }
  template <class Self, class Archive>
  static void fields(Self& self, Archive& archive) {
    archive(self.groups, self.default_type, self.duration, self.usual_duration, self.own_wait);
  }
};

// What a visitor asks for, by names.
struct Ask {
  std::string type;              // empty: the default type
  std::vector<SizeNamed> sizes;  // minimums; 0: any
  Milliseconds duration{0};      // 0: not given
  Milliseconds max_wait{0};      // 0: not given

  bool operator==(const Ask&) const = default;
  template <class Self, class Archive>
  static void fields(Self& self, Archive& archive) {
    archive(self.type, self.sizes, self.duration, self.max_wait);
  }
};

// As one line, as it is stored and as a link has it:
//     gpu;memory_gb=64;duration_ms=3600000
// Empty: nothing is asked for.
std::string to_text(const Ask& ask);
// nullopt: malformed, names something twice, or is longer than kMostAsk.
std::optional<Ask> parse_ask(std::string_view text);
inline constexpr std::size_t kMostAsk = 1024;

// The same in the numbers of a catalog.
struct Wish {
  std::uint8_t type = 0;  // of Catalog::types()
  std::uint8_t kind = 0;  // of the type's kinds: which groups meet it
  std::array<std::uint32_t, kMostSizes> sizes{};
  std::uint32_t duration_ms = 0;  // 0: as long as a session may last
  std::uint32_t max_wait_ms = 0;  // 0: no limit of its own

  bool operator==(const Wish&) const = default;
  template <class Self, class Archive>
  static void fields(Self& self, Archive& archive) {
    archive(self.type, self.kind, self.sizes, self.duration_ms, self.max_wait_ms);
  }
};

// In a stamp or a ticket. It is void if names have changed since (Catalog::fingerprint).
struct CarriedWish {
  std::uint32_t fingerprint = 0;
  Wish wish;

  bool operator==(const CarriedWish&) const = default;
  template <class Self, class Archive>
  static void fields(Self& self, Archive& archive) {
    archive(self.fingerprint, self.wish);
  }
};

// A requirement that no resource could ever meet.
struct Unmet {
  std::string requirement;  // type, the name of a size, sizes, duration_ms, max_wait_ms
  std::string detail;       // a sentence
};

}  // namespace spillway::waiting
