// What backends, and routers in front of them, make of a path: each as a few steps on the whole
// text, in another way than the proxy reads paths.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace spillway::fuzz {

struct PathBackend {
  std::string_view name;  // what reads like this, as configured now and then
  std::string (*read)(std::string path);
};

const std::vector<PathBackend>& path_backends();

// The path that a backend routes by: what it reads in the target, without slashes at its end.
std::string path_at(const PathBackend& backend, std::string_view path_and_query);

// The same of each backend, and of each behind each other one that passes on what it reads. Each
// path is there once.
struct ServedPath {
  std::string_view first;  // empty: nothing is before the second
  std::string_view second;
  std::string path;
};
std::vector<ServedPath> served_paths(std::string_view path_and_query);

}  // namespace spillway::fuzz
