// Fallback responses.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace spillway::config {

// A text in the configuration or in a file that the configuration names.
struct Content {
  std::optional<std::string> body;  // exactly one of the two
  std::optional<std::string> file;  // relative to the directory of the configuration file
  std::string text;                 // set by load(): the body, or the file's contents
};

struct HeaderField {
  std::string name;
  std::string value;
};

// A route's fallback answer.
struct Fallback {
  std::uint32_t status = 200;
  std::vector<HeaderField> headers;
  std::optional<Content> json;  // at least one of the two
  std::optional<Content> html;
};

}  // namespace spillway::config
