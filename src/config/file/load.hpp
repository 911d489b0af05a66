// Loads a checked configuration from a file. Nothing starts with a bad file.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string_view>

#include "config/config.hpp"
#include "config/problem.hpp"

namespace spillway::config {

struct LoadResult {
  std::optional<Config> config;  // only if there is no problem
  Problems problems;             // one syntax error, or all other problems
};

// Never throws on bad input; `file_name` is only used for the position of a syntax error. Files
// named in the text are relative to `directory`; empty: the current one.
LoadResult load_text(std::string_view json, std::string_view file_name,
                     const std::filesystem::path& directory = {});
LoadResult load_file(const std::filesystem::path& path);

// Where a reload gets its configuration from.
using LoadConfig = std::function<LoadResult()>;

}  // namespace spillway::config
