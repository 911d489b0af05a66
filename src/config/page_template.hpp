// The operator's page of a waiting room (waiting_room.page): an HTML document with placeholders
// `{{name}}`. It is read and checked once, and stays in force until a reload.
//
// Values are put where HTML reads them as text: between tags, or in an attribute with quotes. What
// the page's policy (waiting/page/waiting_page.hpp) would keep from working is refused, so that it
// is found by `spillway check` and not by visitors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace spillway::config {

inline constexpr std::size_t kMaxPageBytes = 64 * 1024;

// What stands at a place of the page. `head` and `content` are the waiting page's own markup; all
// that follow are texts and figures, which are escaped.
enum class PagePart : std::uint8_t {
  markup,    // no placeholder: the template's own text
  head,      // what belongs into <head>: the style of `content`, and how it refreshes itself
  content,   // the place, and what a visitor may do; kept up to date by its script
  title,     // "118 · waiting"; the script replaces it in the document's title
  heading,   // "You are in line"
  sentence,  // one more about the state
  position,  // of a visitor in line, as are `ahead`, `estimate` and `waited`: else empty
  ahead,
  estimate,  // "2 to 3 min"
  waited,
  why,      // why the position rises or stays; mostly empty
  message,  // the operator's, or empty
  room,     // the waiting room's name
  state,    // "waiting", as in JSON
  lang,     // of the texts: "en", and `dir`: "ltr" or "rtl"
  dir
};

struct PagePiece {
  PagePart part = PagePart::markup;
  std::string text;  // of `markup` alone, sent as it is
};

struct PageTemplate {
  std::vector<PagePiece> pieces;
  // For style-src: csp_source() of each <style>, with a blank before it.
  std::string style_sources;
};

struct ReadPage {
  std::optional<PageTemplate> page;
  std::string problem;  // why there is none, with the line
};

// Refused: what is not UTF-8; an unknown placeholder, or one where its value would be read as
// something else than a text; `head` or `content` missing, given twice, or where they do not work;
// scripts, event handlers, style attributes, and what would load something.
ReadPage read_page_template(std::string_view text);

// The source expression that allows an inline style or script with this text (CSP level 3 section
// 2.3.1).
std::string csp_source(std::string_view text);

}  // namespace spillway::config
