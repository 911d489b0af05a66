// JSON Schema (draft 07) of the configuration file, for editors and other checkers.
#pragma once

#include <nlohmann/json.hpp>

namespace spillway::config {

// Less strict than load(): no constraints between fields, no syntax of texts.
nlohmann::ordered_json schema();

}  // namespace spillway::config
