// Any text as the operator's waiting page: it is refused with a sentence, or its values can be
// filled in without a change of anything else.
#include "config/page_template.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <string_view>

#include "fuzz/claim.hpp"
#include "fuzz/targets.hpp"

namespace spillway::fuzz {
namespace {

using config::PagePart;
using config::PageTemplate;

// As PagePart.
constexpr std::array<std::string_view, 16> kNames{
    "",         "head",   "content", "title",   "heading", "sentence", "position", "ahead",
    "estimate", "waited", "why",     "message", "room",    "state",    "lang",     "dir"};
// As it is escaped: what could end a text, an attribute, a tag.
constexpr std::string_view kValue = "a b/=`&lt;x&gt;&quot;&#39;--";

bool is_markup(PagePart part) { return part == PagePart::head || part == PagePart::content; }

// With its placeholders, or with that value in place of those of values.
std::string text_of(const PageTemplate& page, bool is_filled) {
  std::string text;
  for (const config::PagePiece& piece : page.pieces) {
    if (piece.part == PagePart::markup) {
      text += piece.text;
    } else if (is_filled && !is_markup(piece.part)) {
      text += kValue;
    } else {
      text.append("{{").append(kNames[static_cast<std::size_t>(piece.part)]).append("}}");
    }
  }
  return text;
}

}  // namespace

void page_template(std::string_view input) {
  const config::ReadPage read = config::read_page_template(input);
  require(read.page.has_value() == read.problem.empty(), "there is a page or a problem");
  for (const char c : read.problem)
    require(c >= ' ' && c <= '~', "a problem can be printed", read.problem);
  if (!read.page) return;
  for (const PagePart part : {PagePart::head, PagePart::content}) {
    const auto is_it = [part](const config::PagePiece& piece) { return piece.part == part; };
    require(std::ranges::count_if(read.page->pieces, is_it) == 1, "what is needed is there once");
  }
  const std::string text = text_of(*read.page, false);
  const config::ReadPage again = config::read_page_template(text);
  require(again.page.has_value(), "what was accepted is accepted", again.problem);
  require(text_of(*again.page, false) == text, "and is the same", text);
  const std::string filled = text_of(*read.page, true);
  const config::ReadPage shown = config::read_page_template(filled);
  require(shown.page.has_value(), "with its values it is a page", shown.problem);
  require(text_of(*shown.page, false) == filled, "of the same markup", filled);
  require(shown.page->style_sources == read.page->style_sources, "with the same styles", filled);
}

}  // namespace spillway::fuzz
