// A directory of a test's own, gone with it.
#pragma once

#include <filesystem>
#include <string_view>

namespace spillway::support {

class TemporaryDirectory {
 public:
  TemporaryDirectory();  // throws std::system_error
  // In `parent`, which exists.
  explicit TemporaryDirectory(const std::filesystem::path& parent);
  ~TemporaryDirectory();
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

  const std::filesystem::path& path() const { return path_; }
  // Writes a file into it and gives its path.
  std::filesystem::path write(std::string_view name, std::string_view text) const;

 private:
  std::filesystem::path path_;
};

}  // namespace spillway::support
