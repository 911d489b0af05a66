// Escapes text that may come from a request, for JSON, HTML and field values.
#pragma once

#include <cstddef>
#include <string_view>

#include "base/text_writer.hpp"

namespace spillway::http {

// The length of the UTF-8 sequence at the front (RFC 3629 section 4) if it is longer than one byte;
// 0: there is none. `text` is not empty.
std::size_t utf8_length(std::string_view text);

// With quotes; `"`, `\` and controls escaped (RFC 8259 section 7), invalid UTF-8 as U+FFFD.
void write_json_string(TextWriter& out, std::string_view text);

// For HTML text and quoted attributes: & < > " ' escaped, controls left out.
void write_html_text(TextWriter& out, std::string_view text);

// For a field value: controls left out.
void write_field_value(TextWriter& out, std::string_view text);

}  // namespace spillway::http
