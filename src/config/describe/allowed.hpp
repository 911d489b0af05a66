// Describes a constraint in words, for messages and the reference table.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "config/choices.hpp"
#include "config/describe/constraint.hpp"

namespace spillway::config {

// "a", "b" or "c"
inline std::string alternatives(const std::vector<std::string_view>& words) {
  std::string out;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i != 0) out += i + 1 == words.size() ? " or " : ", ";
    out.append("\"").append(words[i]).append("\"");
  }
  return out;
}

template <Chosen Enum>
std::vector<std::string_view> choice_names() {
  std::vector<std::string_view> out;
  for (const auto& choice : kChoices<Enum>) out.push_back(choice.name);
  return out;
}

inline std::string words(const Range& range) {
  return "an integer from " + std::to_string(range.min) + " to " + std::to_string(range.max);
}
inline std::string words(const Real& real) {
  return "a number from " + nlohmann::json(real.min).dump() + " to " +
         nlohmann::json(real.max).dump();
}
inline std::string words(const Format& format) { return std::string(format.allowed); }
inline std::string words(const OneOf& one) {
  return alternatives({one.words.begin(), one.words.end()});
}
inline std::string words(const NumberOrAuto& either) {
  return words(either.number) + ", \"auto\", or an object";
}
inline std::string words(ClassName) { return "the name of a class"; }
inline std::string words(UpstreamName) { return "the name of an upstream"; }
inline std::string words(RouteName) { return "the name of a route"; }
inline std::string words(const FieldValues& values) {
  return "an object, each key " + words(values.name) + ", each value " + words(values.value);
}
inline std::string words(const NumbersByName& numbers) {
  return "an object with up to " + std::to_string(numbers.max) + " keys, each " +
         words(numbers.name) + ", each value " + words(numbers.value);
}
template <class Constraint>
std::string words(const OrOff<Constraint>& constraint) {
  return words(constraint.inner) + ", or null";
}

// The values allowed for type T.
template <class T, class Constraint>
std::string allowed(const Constraint& constraint) {
  if constexpr (kIsOptional<T>) {
    return allowed<typename T::value_type>(constraint);
  } else if constexpr (Chosen<T>) {
    return alternatives(choice_names<T>());
  } else if constexpr (std::is_same_v<T, bool>) {
    return "true or false";
  } else {
    return words(constraint);
  }
}

inline std::string count_text(std::size_t min, std::size_t max) {
  return std::to_string(min) + " to " + std::to_string(max);
}

}  // namespace spillway::config
