// The names of the enumerated values, as used in the file.
#pragma once

#include <array>
#include <string_view>

#include "config/config.hpp"

namespace spillway::config {

template <class Enum>
struct Choice {
  Enum value;
  std::string_view name;
};
// clang 14 does not deduce template arguments of aggregates by itself.
template <class Enum>
Choice(Enum, std::string_view) -> Choice<Enum>;

template <class Enum>
inline constexpr std::array<Choice<Enum>, 0> kChoices{};

template <>
inline constexpr std::array kChoices<Strategy>{
    Choice{Strategy::allow, "allow"}, Choice{Strategy::degrade, "degrade"},
    Choice{Strategy::deny, "deny"}, Choice{Strategy::drop, "drop"}};

template <>
inline constexpr std::array kChoices<DegradeMode>{
    Choice{DegradeMode::stale_ok, "stale_ok"}, Choice{DegradeMode::cache_only, "cache_only"},
    Choice{DegradeMode::skip_downstream, "skip_downstream"}};

template <>
inline constexpr std::array kChoices<Miss>{Choice{Miss::forward, "forward"},
                                           Choice{Miss::fallback, "fallback"},
                                           Choice{Miss::deny, "deny"}};

template <>
inline constexpr std::array kChoices<Serve>{Choice{Serve::overload, "overload"},
                                            Choice{Serve::fresh, "fresh"}};

template <>
inline constexpr std::array kChoices<EnterBy>{Choice{EnterBy::any, "any"},
                                              Choice{EnterBy::score, "score"}};

// The states that a stage may have: all but normal.
template <>
inline constexpr std::array kChoices<State>{Choice{State::elevated, "ELEVATED"},
                                            Choice{State::overloaded, "OVERLOADED"},
                                            Choice{State::critical, "CRITICAL"}};

template <>
inline constexpr std::array kChoices<Discipline>{
    Choice{Discipline::pq, "pq"},   Choice{Discipline::rr, "rr"},
    Choice{Discipline::wrr, "wrr"}, Choice{Discipline::drr, "drr"},
    Choice{Discipline::wfq, "wfq"}, Choice{Discipline::aging, "aging"},
    Choice{Discipline::edf, "edf"}};

template <>
inline constexpr std::array kChoices<LimitLaw>{Choice{LimitLaw::paired_dither, "paired_dither"},
                                               Choice{LimitLaw::gradient2, "gradient2"},
                                               Choice{LimitLaw::aimd, "aimd"}};

template <>
inline constexpr std::array kChoices<Late>{Choice{Late::drop, "drop"},
                                           Choice{Late::process_with_tag, "process_with_tag"}};

template <>
inline constexpr std::array kChoices<ExpirePolicy>{Choice{ExpirePolicy::drop, "drop"},
                                                   Choice{ExpirePolicy::dead_letter, "dead_letter"},
                                                   Choice{ExpirePolicy::downgrade, "downgrade"}};

template <>
inline constexpr std::array kChoices<Mode>{Choice{Mode::enforce, "enforce"},
                                           Choice{Mode::shadow, "shadow"}};

template <>
inline constexpr std::array kChoices<Balance>{Choice{Balance::least_inflight, "least_inflight"},
                                              Choice{Balance::power_of_two, "power_of_two"},
                                              Choice{Balance::round_robin, "round_robin"}};

template <>
inline constexpr std::array kChoices<OverloadOrder>{Choice{OverloadOrder::adaptive, "adaptive"},
                                                    Choice{OverloadOrder::fifo, "fifo"},
                                                    Choice{OverloadOrder::lifo, "lifo"}};
template <>
inline constexpr std::array kChoices<AmbiguousPaths>{
    Choice{AmbiguousPaths::lowest_class, "lowest_class"}, Choice{AmbiguousPaths::reject, "reject"}};

template <>
inline constexpr std::array kChoices<RequestBuffering>{Choice{RequestBuffering::automatic, "auto"},
                                                       Choice{RequestBuffering::off, "off"}};

template <>
inline constexpr std::array kChoices<DeferWhen>{Choice{DeferWhen::overloaded, "overloaded"},
                                                Choice{DeferWhen::always, "always"},
                                                Choice{DeferWhen::prefer, "prefer"}};

template <>
inline constexpr std::array kChoices<WaitingWhen>{Choice{WaitingWhen::full, "full"},
                                                  Choice{WaitingWhen::always, "always"},
                                                  Choice{WaitingWhen::overloaded, "overloaded"}};

template <>
inline constexpr std::array kChoices<JwtAlgorithm>{
    Choice{JwtAlgorithm::hs256, "HS256"}, Choice{JwtAlgorithm::rs256, "RS256"},
    Choice{JwtAlgorithm::es256, "ES256"}, Choice{JwtAlgorithm::eddsa, "EdDSA"}};

template <>
inline constexpr std::array kChoices<Queueing>{Choice{Queueing::fifo, "fifo"},
                                               Choice{Queueing::random_start, "random_start"}};

template <>
inline constexpr std::array kChoices<WaitingJoin>{Choice{WaitingJoin::automatic, "auto"},
                                                  Choice{WaitingJoin::offer, "offer"}};

template <>
inline constexpr std::array kChoices<OnStoreFailure>{Choice{OnStoreFailure::hold, "hold"},
                                                     Choice{OnStoreFailure::open, "open"}};

template <>
inline constexpr std::array kChoices<WaitingEvent>{
    Choice{WaitingEvent::joined, "joined"},    Choice{WaitingEvent::position, "position"},
    Choice{WaitingEvent::called, "called"},    Choice{WaitingEvent::fulfilled, "fulfilled"},
    Choice{WaitingEvent::expired, "expired"},  Choice{WaitingEvent::cancelled, "cancelled"},
    Choice{WaitingEvent::reserved, "reserved"}};

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
