// Loads a checked configuration from a file. Nothing starts on a bad file.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string_view>

#include "config/config.hpp"
#include "config/problem.hpp"

namespace spillway::config {

struct LoadResult {
  std::optional<Config> config;  // only when there is no problem at all
  Problems problems;             // one syntax error, or everything else that is wrong
};

// Never throws on bad input; `file_name` is for the position of a syntax error only. Files that the
// text names are relative to `directory`; empty: the current one.
LoadResult load_text(std::string_view json, std::string_view file_name,
                     const std::filesystem::path& directory = {});
LoadResult load_file(const std::filesystem::path& path);

// Where a reload gets its configuration from.
using LoadConfig = std::function<LoadResult()>;

}  // namespace spillway::config
