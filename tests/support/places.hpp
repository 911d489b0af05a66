// Where the repository and this build are, and how it was built. Only places.cpp is compiled with
// these paths: what tests are compiled to is the same in every clone and preset, for ccache.
#pragma once

#include <string>
#include <string_view>

namespace spillway::support {

// A file of the repository: in_source("config/spillway.json"); without a path the folder itself.
std::string in_source(std::string_view path = {});
// A file of the build: in_build("spillway"); without a path the folder itself.
std::string in_build(std::string_view path = {});

// Whether what is tested was built with a sanitizer.
bool is_sanitized();

}  // namespace spillway::support
