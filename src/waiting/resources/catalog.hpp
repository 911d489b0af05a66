// The resources of a waiting room in numbers: types, names of sizes, groups of identical devices,
// and for each type the kinds of requirement, which differ in the groups that meet them.
//
// Whatever requirements visitors send, there are no more kinds than the configuration gives rise to
// (config::requirement_kinds), so no visitor can use them up.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "waiting/resources/resources.hpp"

namespace spillway::waiting {

// Kinds of requirement of one type, one bit each.
using KindSet = std::uint32_t;
inline constexpr KindSet kAnyKind = UINT32_MAX;

class Catalog {
 public:
  Catalog() = default;
  explicit Catalog(const Resources& resources);

  // Takes the time bounds of resources with the same groups and default type.
  void set_bounds(const Resources& resources) { resources_ = resources; }

  bool is_empty() const { return types_.empty(); }
  const std::vector<std::string>& types() const { return types_; }
  const std::string& type_name(std::uint8_t type) const { return types_[type]; }
  // nullopt: no type has this name.
  std::optional<std::uint8_t> find_type(std::string_view name) const;

  struct Group {
    std::uint8_t type = 0;
    std::uint32_t first = 0;  // first device
    std::uint32_t count = 0;
    KindSet meets = 0;  // the kinds that its devices meet
    std::array<std::uint32_t, kMostSizes> sizes{};
  };
  const std::vector<Group>& groups() const { return groups_; }
  const std::vector<std::string>& devices() const { return devices_; }
  // Groups of one type, the smallest first: by the sum of their sizes, each relative to the largest
  // of that name. So a group that is smaller in each size goes first.
  const std::vector<std::uint8_t>& by_size(std::uint8_t type) const { return by_size_[type]; }
  std::size_t devices_of(std::uint8_t type) const;
  // Devices that meet a kind.
  std::size_t devices_for(std::uint8_t type, std::uint8_t kind) const;
  // The kinds whose groups all meet this kind, too; itself included.
  KindSet within(std::uint8_t type, std::uint8_t kind) const;
  // Whether any device of its type meets it.
  bool is_met_by_all(const Wish& wish) const { return wish.kind == 0; }

  // Checks whether it can ever be met, without regard to what is free.
  std::variant<Wish, Unmet> understand(const Ask& ask) const;
  // The same for an ask accepted under other terms: times are not checked against the bounds.
  std::optional<Wish> understand_again(const Ask& ask) const;
  Ask say(const Wish& wish) const;

  // A hash of the names that the numbers in a Wish stand for: another hash, other names.
  std::uint32_t fingerprint() const { return fingerprint_; }

 private:
  std::optional<Unmet> find_sizes(const Ask& ask, Wish& wish) const;
  std::optional<Unmet> find_times(const Ask& ask, Wish& wish) const;
  bool find_kind(Wish& wish) const;

  Resources resources_;
  std::vector<std::string> types_;  // in the order of their first mention
  std::vector<std::string> sizes_;
  std::vector<Group> groups_;  // in the order of the configuration
  std::vector<std::string> devices_;
  std::vector<std::vector<config::GroupSet>> kinds_;  // by type; the first kind: any group meets it
  std::vector<std::vector<std::uint8_t>> by_size_;
  std::uint32_t fingerprint_ = 0;
};

}  // namespace spillway::waiting
