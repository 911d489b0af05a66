#include "config/file/load.hpp"

#include <string>
#include <utility>

#include "config/check/validate.hpp"
#include "config/defaults.hpp"
#include "config/describe/reader.hpp"
#include "config/file/contents.hpp"
#include "config/file/document.hpp"

namespace spillway::config {
namespace {

using nlohmann::json;

template <class Named>
std::vector<std::string> names_of(const std::vector<Named>& list) {
  std::vector<std::string> out;
  for (const Named& item : list) out.push_back(item.name);
  return out;
}

Config read_config(const json& root, const ReadContext& context, Problems& problems) {
  Config out = defaults(context.classes.size());
  Reader(context, problems).read(root, "$", out, ByType{});
  return out;
}

// The file is read three times: names are used before they are defined, and upstreams inherit from
// sections that come later. Only the problems of the last pass count.
Config read_config(const json& root, Problems& problems) {
  Problems ignored;
  ReadContext context;
  context.classes = names_of(default_classes());
  const Config named = read_config(root, context, ignored);
  context.classes = names_of(named.classes);
  context.upstreams = names_of(named.upstreams);

  const Config inherited = read_config(root, context, ignored);
  context.new_upstream.dispatch = inherited.dispatch;
  context.new_upstream.overload = inherited.overload;
  context.new_defer = inherited.jobs;
  context.new_route.traffic_class = middle_class(context.classes.size());
  return read_config(root, context, problems);
}

}  // namespace

LoadResult load_text(std::string_view text, std::string_view file_name,
                     const std::filesystem::path& directory) {
  Document document = parse(text, file_name);
  LoadResult out{std::nullopt, std::move(document.problems)};
  if (!document.root) return out;
  Config config = read_config(*document.root, out.problems);
  validate(config, *document.root, out.problems);
  read_contents(config, directory, out.problems);
  config.store.directory = directory.string();
  if (out.problems.empty()) out.config = std::move(config);
  return out;
}

LoadResult load_file(const std::filesystem::path& path) {
  FileText file = read_file(path);
  if (!file.text) return {std::nullopt, std::move(file.problems)};
  return load_text(*file.text, path.string(), path.parent_path());
}

}  // namespace spillway::config
