#include "support/places.hpp"

namespace spillway::support {

namespace {

std::string inside(std::string folder, std::string_view path) {
  return path.empty() ? folder : folder.append("/").append(path);
}

}  // namespace

std::string in_source(std::string_view path) { return inside(SPILLWAY_SOURCE_DIR, path); }

std::string in_build(std::string_view path) { return inside(SPILLWAY_BINARY_DIR, path); }

bool is_sanitized() {
#ifdef SPILLWAY_SANITIZED
  return true;
#else
  return false;
#endif
}

}  // namespace spillway::support
