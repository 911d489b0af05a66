#include "config/contents.hpp"

#include <nlohmann/json.hpp>
#include <string>
#include <system_error>
#include <utility>

#include "config/document.hpp"
#include "config/findings.hpp"
#include "config/format.hpp"

namespace spillway::config {
namespace {

// Why there is no text; empty if there is one.
std::string read_content_file(const std::filesystem::path& path, std::string& text) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  // Devices and pipes may block, or never end.
  if (exists(status) && !is_regular_file(status) && !is_directory(status))
    return "cannot read: it is not a regular file";
  FileText file = read_file(path, kMaxContentBytes);
  if (!file.text) return file.problems.front().message;
  if (file.text->empty()) return "it is empty";
  if (file.text->size() > kMaxContentBytes)
    return "it is too long, allowed: up to " + std::to_string(kMaxContentBytes) + " bytes";
  text = std::move(*file.text);
  return {};
}

class ContentReader {
 public:
  ContentReader(const std::filesystem::path& directory, Problems& problems)
      : directory_(directory), problems_(problems) {}

  void read(Content& content, const std::string& path) {
    if (content.body && content.file) return;  // not both: reported by the checks
    if (content.body) content.text = *content.body;
    if (!content.file) return;
    const std::filesystem::path file = resolved(*content.file);
    if (const std::string why = read_content_file(file, content.text); !why.empty())
      problems_.push_back({path + ".file", file.string() + ": " + why});
  }

  void read_json(Content& content, const std::string& path) {
    read(content, path);
    if (content.text.empty() || nlohmann::json::accept(content.text)) return;
    if (content.file) {
      problems_.push_back({path + ".file", resolved(*content.file).string() + ": it is not JSON"});
    } else {
      problems_.push_back(
          {path + ".body", "found " + shown(content.text) + ", allowed: a text that is JSON"});
    }
  }

 private:
  std::filesystem::path resolved(const std::string& file) const {
    std::error_code error;
    const auto absolute = std::filesystem::absolute(directory_ / file, error);
    return error ? directory_ / file : absolute.lexically_normal();
  }

  const std::filesystem::path& directory_;
  Problems& problems_;
};

}  // namespace

void read_contents(Config& config, const std::filesystem::path& directory, Problems& problems) {
  ContentReader reader(directory, problems);
  for (std::size_t i = 0; i < config.routes.size(); ++i) {
    auto& fallback = config.routes[i].fallback;
    if (!fallback) continue;
    const std::string path = route_path(i, config.routes.size()) + ".fallback";
    if (fallback->json) reader.read_json(*fallback->json, path + ".json");
    if (fallback->html) reader.read(*fallback->html, path + ".html");
  }
}

}  // namespace spillway::config
