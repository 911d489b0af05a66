// All that was measured as text: for a terminal, and as a page of Markdown with its pictures. It
// may have been measured in parts, at several times; what is compared is of one part.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "results.hpp"

namespace spillway::report {

// Who measured what on which machine, the tables that matter, and what failed.
std::string terminal_text(const std::vector<Results>& parts);

struct Page {
  std::string markdown;
  std::map<std::string, std::string> pictures;  // file name to SVG
};

// `folder` is where the pictures will lie, seen from the page.
Page page(const std::vector<Results>& parts, const std::string& folder);

}  // namespace spillway::report
