// spillway-bench-report: what result lines say, as tables on the terminal, as a page with pictures,
// or as the verdict of the regression gate.
//
//   spillway-bench-report RESULTS...                    the tables
//   spillway-bench-report RESULTS... --page report.md   also the page, its pictures in report/
//   spillway-bench-report RESULTS --gate BOUNDS         status 0 only if all bounds are kept
#include <algorithm>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

#include "gate.hpp"
#include "report.hpp"
#include "results.hpp"

namespace {

namespace report = spillway::report;
namespace fs = std::filesystem;

std::ifstream opened(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error("cannot read " + path);
  return file;
}

void write(const fs::path& path, const std::string& text) {
  std::ofstream file(path);
  if (!(file << text).flush()) throw std::runtime_error("cannot write " + path.string());
}

// The folder is cleared first: a picture of an earlier run would look like one of this.
void write_page(const std::vector<report::Results>& parts, const fs::path& path) {
  const fs::path folder = fs::path(path).replace_extension();
  const report::Page page = report::page(parts, folder.filename().string());
  fs::create_directories(folder);
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() == ".svg") fs::remove(entry.path());
  }
  for (const auto& [name, svg] : page.pictures) write(folder / name, svg);
  write(path, page.markdown);
}

int run_gate(const report::Results& results, const std::string& bounds) {
  std::ifstream file = opened(bounds);
  std::vector<report::OverloadStatus> judgements;
  for (const report::Bound& bound : report::read_bounds(file)) {
    judgements.push_back(report::judge(results.cost, bound));
    std::cout << report::sentence(judgements.back()) << '\n';
  }
  return report::status_of(judgements);
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> files(argv + 1, argv + argc);
  std::string page, bounds;
  if (files.size() >= 3 && files[files.size() - 2] == "--page") page = files.back();
  if (files.size() == 3 && files[1] == "--gate") bounds = files.back();
  if (!page.empty() || !bounds.empty()) files.resize(files.size() - 2);
  const bool has_option = std::any_of(
      files.begin(), files.end(), [](const std::string& file) { return file.starts_with("-"); });
  if (files.empty() || has_option) {
    std::cerr << "usage: spillway-bench-report RESULTS... [--page FILE.md | --gate BOUNDS]\n";
    return 2;
  }
  try {
    std::vector<report::Results> parts;
    for (const std::string& name : files) {
      std::ifstream file = opened(name);
      parts.push_back(report::read_results(file));
    }
    report::check_apart(parts);
    if (!bounds.empty()) return run_gate(parts.front(), bounds);
    std::cout << report::terminal_text(parts);
    if (!page.empty()) write_page(parts, page);
    return 0;
  } catch (const std::exception& problem) {
    std::cerr << "spillway-bench-report: " << problem.what() << '\n';
    return 2;
  }
}
