// The names of the enumerated values, as the file writes them.
//
// A choice that this version does not have is listed all the same: it is part of the contract,
// so it is recognised, and refused with a reason.
#pragma once

#include <array>
#include <string_view>

#include "config/config.hpp"

namespace spillway::config {

template <class Enum>
struct Choice {
  Enum value;
  std::string_view name;
  bool available = true;
};
// clang 14 does not yet deduce aggregates by itself.
template <class Enum>
Choice(Enum, std::string_view, bool = true) -> Choice<Enum>;

template <class Enum>
inline constexpr std::array<Choice<Enum>, 0> kChoices{};

template <>
inline constexpr std::array kChoices<Strategy>{
    Choice{Strategy::allow, "allow"}, Choice{Strategy::degrade, "degrade", false},
    Choice{Strategy::deny, "deny"}, Choice{Strategy::drop, "drop"}};

template <>
inline constexpr std::array kChoices<Discipline>{
    Choice{Discipline::pq, "pq", false},   Choice{Discipline::rr, "rr", false},
    Choice{Discipline::wrr, "wrr", false}, Choice{Discipline::drr, "drr", false},
    Choice{Discipline::wfq, "wfq"},        Choice{Discipline::aging, "aging", false},
    Choice{Discipline::edf, "edf", false}};

template <>
inline constexpr std::array kChoices<Late>{Choice{Late::drop, "drop"},
                                           Choice{Late::process_with_tag, "process_with_tag"}};

template <>
inline constexpr std::array kChoices<ExpirePolicy>{
    Choice{ExpirePolicy::drop, "drop"}, Choice{ExpirePolicy::dead_letter, "dead_letter", false}};

template <>
inline constexpr std::array kChoices<Mode>{Choice{Mode::enforce, "enforce"},
                                           Choice{Mode::shadow, "shadow", false}};

template <>
inline constexpr std::array kChoices<TenantKey>{
    Choice{TenantKey::api_key, "api_key"}, Choice{TenantKey::trusted_header, "trusted_header"},
    Choice{TenantKey::client_address, "client_address"}};

template <class Enum>
concept Chosen = (kChoices<Enum>.size() > 0);

template <Chosen Enum>
constexpr std::string_view name(Enum value) {
  for (const auto& choice : kChoices<Enum>) {
    if (choice.value == value) return choice.name;
  }
  return {};
}

}  // namespace spillway::config
