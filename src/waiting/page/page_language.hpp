// The languages of the waiting page, and which of them a visitor reads.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace spillway::waiting {

// The texts of one language, by key.
class PageTexts {
 public:
  // Lines `key: text`; an empty line ends those that the script reads too.
  PageTexts(std::string_view tag, std::string_view lines);

  std::string_view tag() const { return tag_; }
  // Empty if there is none.
  std::string_view find(std::string_view key) const;
  // The lines for the script, as they are.
  std::string_view for_script() const { return for_script_; }

 private:
  std::string_view tag_;
  std::string_view lines_;
  std::string_view for_script_;
};

// English first: it is what a visitor reads who asked for none that there is.
std::span<const PageTexts> page_languages();

// The language of the highest weight in Accept-Language (RFC 9110 section 12.5.4), the first of
// several; found by lookup (RFC 4647 section 3.4): "de-AT" finds "de". `allowed`: tags of those to
// choose from, the first of them being the default; empty, or none that there is: all. What is
// malformed in the field is passed over.
const PageTexts& choose_language(std::string_view accept_language,
                                 std::span<const std::string> allowed);

}  // namespace spillway::waiting
