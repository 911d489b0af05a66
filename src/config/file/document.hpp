// A strict JSON parser: duplicate keys, a NUL byte and excessive depth, which the library accepts
// silently, are problems.
#pragma once

#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "config/problem.hpp"

namespace spillway::config {

inline constexpr std::size_t kMaxFileBytes = 4 * 1024 * 1024;
inline constexpr std::size_t kMaxDepth = 32;

struct Document {
  std::optional<nlohmann::json> root;  // empty after a syntax error; duplicates keep the first
  Problems problems;                   // one syntax error, or every duplicate key
};

struct FileText {
  std::optional<std::string> text;  // up to one byte more than requested
  Problems problems;                // why the file cannot be read
};

// How long to read from a pipe, which may have no writer, or one that never ends.
struct ReadPatience {
  std::chrono::milliseconds silence{2000};
  std::chrono::milliseconds whole{10'000};
};

FileText read_file(const std::filesystem::path& path, std::size_t max_bytes = kMaxFileBytes,
                   const ReadPatience& patience = {});

// RFC 8259 with /* */ and // comments. Never throws, never recurses over the input.
Document parse(std::string_view text, std::string_view file_name);

}  // namespace spillway::config
