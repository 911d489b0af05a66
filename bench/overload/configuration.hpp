// A contender's configuration from its file in bench/peers: text with @NAMES@ to be filled in.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace spillway::bench {

using Values = std::map<std::string, std::string, std::less<>>;

// Replaces each @NAME@ (capitals, digits, underscores) by its value; @NAMES@ itself stays. Throws
// std::runtime_error for a name without a value, so that no contender runs half configured.
std::string fill_in(std::string_view text, const Values& values);

}  // namespace spillway::bench
