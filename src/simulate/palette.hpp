// The colours of a plot: those of Okabe and Ito, "Color Universal Design", 2008, and greys.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

#include "base/state.hpp"

namespace spillway::simulate::palette {

inline constexpr std::string_view kInk = "#1f2933";
inline constexpr std::string_view kMuted = "#5f6b76";
inline constexpr std::string_view kGrid = "#dde2e7";
inline constexpr std::string_view kFrame = "#b8c1ca";
inline constexpr std::string_view kQueue = "#c9d0d7";
inline constexpr std::string_view kLate = "#aab2ba";

// Blue, bluish green, reddish purple, sky blue and slate, which no state has. They recur from the
// sixth class on: each class has a panel with its name.
constexpr std::string_view of_class(std::size_t i) {
  constexpr std::array<std::string_view, 5> colours{"#0072b2", "#009e73", "#cc79a7", "#56b4e9",
                                                    "#56606b"};
  return colours[i % colours.size()];
}

// The graver the darker, so that they differ in print, too.
constexpr std::string_view of_state(State state) {
  constexpr std::array<std::string_view, kStateCount> colours{"#e8ecf0", "#f0e442", "#e69f00",
                                                              "#d55e00"};
  return colours[index(state)];
}

// The same as a tint behind a panel.
constexpr std::string_view tint(State state) {
  constexpr std::array<std::string_view, kStateCount> colours{"#ffffff", "#fdf9c4", "#fce8bd",
                                                              "#f9dcc8"};
  return colours[index(state)];
}

// What is legible on of_state().
constexpr std::string_view on_state(State state) {
  return state == State::critical ? "#ffffff" : kInk;
}

}  // namespace spillway::simulate::palette
