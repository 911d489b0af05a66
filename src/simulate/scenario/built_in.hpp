// The built-in scenarios: the files of config/scenarios, compiled in.
#pragma once

#include <span>
#include <string_view>

namespace spillway::simulate {

struct BuiltIn {
  std::string_view name;  // of the file and of the scenario
  std::string_view json;
};

std::span<const BuiltIn> built_in_scenarios();  // by name

}  // namespace spillway::simulate
