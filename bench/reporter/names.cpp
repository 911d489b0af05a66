#include "names.hpp"

#include <array>
#include <utility>

namespace spillway::report {

std::string display_name(std::string_view contender) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 5> kNames{
      {{"spillway", "Spillway"},
       {"haproxy", "HAProxy"},
       {"nginx", "NGINX"},
       {"relay", "byte relay"},
       {"direct", "backend alone"}}};
  const std::size_t dash = contender.find('-');
  std::string name(contender.substr(0, dash));
  for (const auto& [id, shown] : kNames) {
    if (name == id) {
      name = shown;
      break;
    }
  }
  if (dash != contender.npos) (name += ", ") += contender.substr(dash + 1);
  return name;
}

std::string_view colour_of(std::string_view contender, std::size_t position) {
  if (contender == "spillway") return "#0072b2";
  constexpr std::array<std::string_view, 6> kColours{"#d55e00", "#009e73", "#cc79a7",
                                                     "#e69f00", "#56b4e9", "#56606b"};
  return kColours[position % kColours.size()];
}

}  // namespace spillway::report
