// Constraints of fields beyond their types; part of each field's description.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>

#include "config/format.hpp"

namespace spillway::config {

// A key of the file. Its suffix is its unit: _ms milliseconds, _bytes bytes, none a plain number.
struct Key {
  std::string_view text;
  bool is_required = false;

  constexpr Key(const char* key) : text(key) {}
  constexpr Key(std::string_view key, bool required) : text(key), is_required(required) {}
};
constexpr Key required(const char* key) { return {key, true}; }

// No constraint beyond the type: a boolean, an enum's choices, a nested object.
struct ByType {};

struct Range {  // integers, inclusive
  std::int64_t min;
  std::int64_t max;
};

struct Real {  // inclusive
  double min;
  double max;
};

struct OneOf {  // one of these texts
  std::span<const std::string_view> words;
};

template <class Constraint>
struct OrOff {  // null switches it off
  Constraint inner;
};

template <class Constraint>
struct ListOf {
  Constraint item;
  std::size_t min;
  std::size_t max;
};

struct NumberOrAuto {  // a number, "auto", or an object with the bounds of an adaptive limit
  Range number;
};

struct ClassName {};  // the name of a configured class

struct UpstreamName {};

struct RouteName {};  // the name of a configured route, or of the default route

struct ByClass {};  // an object with class names as keys; an omitted class keeps its rule

struct FieldValues {  // an object with HTTP field names as keys
  Format name;
  Format value;
  std::size_t max;
};

struct NumbersByName {  // an object with names as keys
  Format name;
  Range value;
  std::size_t max;
};

struct Overrides {  // any keys of another section, which replace its values
  std::string_view section;
};

template <class T>
inline constexpr bool kIsOptional = false;
template <class T>
inline constexpr bool kIsOptional<std::optional<T>> = true;

// An object of the file with a description of its own.
template <class T>
concept Section = std::is_class_v<T> && !kIsOptional<T>;

// Upper bound of numeric priorities: each has an entry in a table.
inline constexpr std::int64_t kMostPriorities = 10'000;

// Upper bounds of durations: larger values are taken for mistakes.
inline constexpr std::int64_t kHour = 3'600'000;
inline constexpr std::int64_t kDay = 24 * kHour;
inline constexpr std::int64_t kYear = 365 * kDay;

}  // namespace spillway::config
