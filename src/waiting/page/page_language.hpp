// The languages of the waiting page, and the choice of a visitor's language.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace spillway::waiting {

// The texts of one language, by key.
class PageTexts {
 public:
  // Lines `key: text`; those before the first empty line are for the script, too.
  PageTexts(std::string_view tag, std::string_view lines);

  std::string_view tag() const { return tag_; }
  // Empty if there is no such key.
  std::string_view find(std::string_view key) const;
  // The lines for the script, unchanged.
  std::string_view for_script() const { return for_script_; }

 private:
  std::string_view tag_;
  std::string_view lines_;
  std::string_view for_script_;
};

// English is the first: visitors get it if none of the languages they ask for is available.
std::span<const PageTexts> page_languages();

// The language with the highest weight in Accept-Language (RFC 9110 section 12.5.4), the first of
// several; found by lookup (RFC 4647 section 3.4): "de-AT" finds "de". `allowed`: tags to choose
// from, the first is the default; if empty, or if no such language exists, all. Malformed parts of
// the field are ignored.
const PageTexts& choose_language(std::string_view accept_language,
                                 std::span<const std::string> allowed);

}  // namespace spillway::waiting
