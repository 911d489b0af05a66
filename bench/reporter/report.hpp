// A whole run as text: for a terminal, and as a page of Markdown with its pictures.
#pragma once

#include <map>
#include <string>

#include "results.hpp"

namespace spillway::report {

// Who measured what on which machine, the tables that matter, and what failed.
std::string terminal_text(const Results& results);

struct Page {
  std::string markdown;
  std::map<std::string, std::string> pictures;  // file name to SVG
};

// `folder` is where the pictures will lie, seen from the page.
Page page(const Results& results, const std::string& folder);

}  // namespace spillway::report
