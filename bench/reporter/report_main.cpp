// spillway-bench-report: what result lines say, as a table on the terminal, as a page with
// pictures, or as the verdict of the regression gate.
//
//   spillway-bench-report RESULTS                    the table
//   spillway-bench-report RESULTS --page report.md   also the page, its pictures in report/ beside
//   it spillway-bench-report RESULTS --gate BOUNDS      status 0 only if all bounds are kept
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
void write_page(const report::Results& results, const fs::path& path, const fs::path& lines) {
  const fs::path folder = fs::path(path).replace_extension();
  const report::Page page = report::page(results, folder.filename().string());
  fs::create_directories(folder);
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() == ".svg") fs::remove(entry.path());
  }
  for (const auto& [name, svg] : page.pictures) write(folder / name, svg);
  if (const fs::path copy = folder / "results.jsonl";
      !fs::exists(copy) || !fs::equivalent(lines, copy)) {
    fs::copy_file(lines, copy, fs::copy_options::overwrite_existing);
  }
  write(path, page.markdown);
}

int run_gate(const report::Results& results, const std::string& bounds) {
  std::ifstream file = opened(bounds);
  std::vector<report::Judgement> judgements;
  for (const report::Bound& bound : report::read_bounds(file)) {
    judgements.push_back(report::judge(results.cost, bound));
    std::cout << report::sentence(judgements.back()) << '\n';
  }
  return report::status_of(judgements);
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  const bool is_page = arguments.size() == 3 && arguments[1] == "--page";
  const bool is_gate = arguments.size() == 3 && arguments[1] == "--gate";
  if (arguments.size() != 1 && !is_page && !is_gate) {
    std::cerr << "usage: spillway-bench-report RESULTS [--page FILE.md | --gate BOUNDS]\n";
    return 2;
  }
  try {
    std::ifstream file = opened(arguments[0]);
    const report::Results results = report::read_results(file);
    if (is_gate) return run_gate(results, arguments[2]);
    std::cout << report::terminal_text(results);
    if (is_page) write_page(results, arguments[2], arguments[0]);
    return 0;
  } catch (const std::exception& problem) {
    std::cerr << "spillway-bench-report: " << problem.what() << '\n';
    return 2;
  }
}
