// The operator's page of a waiting room (waiting_room.page): an HTML document with placeholders
// `{{name}}`. It is read and checked once, and stays in force until a reload.
//
// Values are inserted only where HTML reads them as text: between tags, or in a quoted attribute.
// Anything that the page's policy (waiting/page/waiting_page.hpp) would keep from working is an
// error, so that `spillway check` finds it and not a visitor.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace spillway::config {

inline constexpr std::size_t kMaxPageBytes = 64 * 1024;

// What a piece of the page contains. `head` and `content` are the waiting page's own markup; all
// that follow are texts and numbers, which are escaped.
enum class PagePart : std::uint8_t {
  markup,    // no placeholder: the template's own text
  head,      // goes into <head>: the style of `content`, and its refresh
  content,   // the place, and the visitor's options; updated by its script
  title,     // "118 · waiting"; the script replaces it in the document's title
  heading,   // "You are in line"
  sentence,  // one more sentence about the state
  position,  // in line, like `ahead`, `estimate` and `waited`; otherwise empty
  ahead,
  estimate,  // "2 to 3 min"
  waited,
  why,      // why the position rises or stays; usually empty
  message,  // from the operator, or empty
  room,     // the waiting room's name
  state,    // "waiting", as in JSON
  lang,     // of the texts: "en", and `dir`: "ltr" or "rtl"
  dir
};

struct PagePiece {
  PagePart part = PagePart::markup;
  std::string text;  // only for `markup`, sent unchanged
};

struct PageTemplate {
  std::vector<PagePiece> pieces;
  // For style-src: csp_source() of each <style>, preceded by a blank.
  std::string style_sources;
};

struct ReadPage {
  std::optional<PageTemplate> page;
  std::string problem;  // why there is no page, with the line
};

// Errors: a text that is not UTF-8; an unknown placeholder, or one where its value would not be
// read as text; `head` or `content` missing, given twice, or where they do not work; scripts, event
// handlers, style attributes, and anything that would load a resource.
ReadPage read_page_template(std::string_view text);

// The source expression that allows an inline style or script with this text (CSP level 3 section
// 2.3.1).
std::string csp_source(std::string_view text);

}  // namespace spillway::config
