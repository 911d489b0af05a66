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
      html;  // the built-in page, a template as an operator's (config/page_template.hpp)
  std::string_view head;  // what {{head}} and {{content}} are in it
  std::string_view content;
  std::string_view css;
  std::string_view js;
  std::string_view work;  // the script that comes before it where a place takes work
  std::span<const LanguageFile> languages;
};

const PageAssets& page_assets();

}  // namespace spillway::waiting
