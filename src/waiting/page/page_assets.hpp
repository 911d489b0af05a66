// The files of page/, embedded when the build is configured.
#pragma once

#include <span>
#include <string_view>

namespace spillway::waiting {

struct LanguageFile {
  std::string_view tag;   // the file's name: "en" (RFC 5646)
  std::string_view text;  // lines `key: text`
};

struct PageAssets {
  std::string_view
      html;  // the built-in page, a template like an operator's (config/page_template.hpp)
  std::string_view head;  // the values of {{head}} and {{content}} in it
  std::string_view content;
  std::string_view css;
  std::string_view js;
  std::string_view work;  // the script that goes before `js` if a place requires work
  std::span<const LanguageFile> languages;
};

const PageAssets& page_assets();

}  // namespace spillway::waiting
