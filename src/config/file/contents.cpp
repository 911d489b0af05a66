#include "config/file/contents.hpp"

#include <nlohmann/json.hpp>
#include <string>
#include <system_error>
#include <utility>

#include "config/check/findings.hpp"
#include "config/file/document.hpp"
#include "config/format.hpp"
#include "config/page_template.hpp"

namespace spillway::config {
namespace {

// Returns why there is no text; empty if there is one.
std::string read_content_file(const std::filesystem::path& path, std::size_t most,
                              std::string& text) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  // Devices and pipes may block, or never end.
  if (exists(status) && !is_regular_file(status) && !is_directory(status))
    return "cannot read: it is not a regular file";
  FileText file = read_file(path, most);
  if (!file.text) return file.problems.front().message;
  if (file.text->empty()) return "it is empty";
  if (file.text->size() > most)
    return "it is too long, allowed: up to " + std::to_string(most) + " bytes";
  text = std::move(*file.text);
  return {};
}

class ContentReader {
 public:
  ContentReader(const std::filesystem::path& directory, Problems& problems)
      : directory_(directory), problems_(problems) {}

  void read(Content& content, const std::string& path) {
    if (content.body && content.file) return;  // both given: reported by the checks
    if (content.body) content.text = *content.body;
    if (!content.file) return;
    read_text(*content.file, kMaxContentBytes, path + ".file", content.text);
  }

  void read_json(Content& content, const std::string& path) {
    read(content, path);
    if (content.text.empty() || nlohmann::json::accept(content.text)) return;
    if (content.file) {
      report(*content.file, path + ".file", "it is not JSON");
    } else {
      problems_.push_back(
          {path + ".body", "found " + shown(content.text) + ", allowed: a text that is JSON"});
    }
  }

  void read_page(WaitingPage& page, const std::string& path) {
    std::string text;
    // An invalid name has already been reported.
    if (!is_file_name(page.file) || !read_text(page.file, kMaxPageBytes, path, text)) return;
    ReadPage found = read_page_template(text);
    if (!found.page) report(page.file, path, found.problem);
    page.own = std::move(found.page);
  }

 private:
  bool read_text(const std::string& file, std::size_t most, const std::string& path,
                 std::string& text) {
    const std::string why = read_content_file(resolved(file), most, text);
    if (!why.empty()) report(file, path, why);
    return why.empty();
  }

  void report(const std::string& file, const std::string& path, const std::string& why) {
    problems_.push_back({path, resolved(file).string() + ": " + why});
  }

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
    const std::string path = route_path(i, config.routes.size());
    auto& room = config.routes[i].waiting_room;
    if (room) reader.read_page(room->page, path + ".waiting_room.page");
    auto& fallback = config.routes[i].fallback;
    if (!fallback) continue;
    if (fallback->json) reader.read_json(*fallback->json, path + ".fallback.json");
    if (fallback->html) reader.read(*fallback->html, path + ".fallback.html");
  }
}

}  // namespace spillway::config
