// The resources of a waiting room in numbers: types, names of sizes, groups of devices that are
// alike, and for each type the kinds of requirement, which differ in which groups are enough.
//
// However many requirements visitors think up, kinds are as few as the configuration makes them
// (config::requirement_kinds), so no visitor can use them up.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "waiting/resources/resources.hpp"

namespace spillway::waiting {

// Kinds of requirement of one type, a bit for each.
using KindSet = std::uint32_t;
inline constexpr KindSet kAnyKind = UINT32_MAX;

class Catalog {
 public:
  Catalog() = default;
  explicit Catalog(const Resources& resources);

  // Of resources with the same groups and default type.
  void set_bounds(const Resources& resources) { resources_ = resources; }

  bool is_empty() const { return types_.empty(); }
  const std::vector<std::string>& types() const { return types_; }
  const std::string& type_name(std::uint8_t type) const { return types_[type]; }
  // nullopt: there is none of that name.
  std::optional<std::uint8_t> find_type(std::string_view name) const;

  struct Group {
    std::uint8_t type = 0;
    std::uint32_t first = 0;  // of devices
    std::uint32_t count = 0;
    KindSet meets = 0;  // these kinds are met by its devices
    std::array<std::uint32_t, kMostSizes> sizes{};
  };
  const std::vector<Group>& groups() const { return groups_; }
  const std::vector<std::string>& devices() const { return devices_; }
  // Groups of one type, the smallest first: by the sum of their sizes, each as a part of the
  // largest of that name. So one that is smaller in each size goes first.
  const std::vector<std::uint8_t>& by_size(std::uint8_t type) const { return by_size_[type]; }
  std::size_t devices_of(std::uint8_t type) const;
  // The same of those that are enough for a kind.
  std::size_t devices_for(std::uint8_t type, std::uint8_t kind) const;
  // The kinds for which nothing else is enough than what is for this one, itself included.
  KindSet within(std::uint8_t type, std::uint8_t kind) const;
  // Any device of its type is enough.
  bool is_met_by_all(const Wish& wish) const { return wish.kind == 0; }

  // Without a look at what is free: whether it can ever be met.
  std::variant<Wish, Unmet> understand(const Ask& ask) const;
  // The same of what was promised under other terms: times are not compared with the bounds.
  std::optional<Wish> understand_again(const Ask& ask) const;
  Ask say(const Wish& wish) const;

  // Of the names that numbers in a Wish stand for: another one, other names.
  std::uint32_t fingerprint() const { return fingerprint_; }

 private:
  std::optional<Unmet> find_sizes(const Ask& ask, Wish& wish) const;
  std::optional<Unmet> find_times(const Ask& ask, Wish& wish) const;
  bool find_kind(Wish& wish) const;

  Resources resources_;
  std::vector<std::string> types_;  // as they are first named
  std::vector<std::string> sizes_;
  std::vector<Group> groups_;  // as configured
  std::vector<std::string> devices_;
  std::vector<std::vector<config::GroupSet>> kinds_;  // by type; the first: any group is enough
  std::vector<std::vector<std::uint8_t>> by_size_;
  std::uint32_t fingerprint_ = 0;
};

}  // namespace spillway::waiting
