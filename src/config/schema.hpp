// JSON Schema (draft 07) of the configuration file, for editors and other checkers.
#pragma once

#include <nlohmann/json.hpp>

namespace spillway::config {

// Says less than load() checks: nothing about rules between fields or about forms of texts.
nlohmann::ordered_json schema();

}  // namespace spillway::config
