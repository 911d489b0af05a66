// Escapes text that may come from a request, for JSON, HTML and field values.
#pragma once

#include <string_view>

#include "base/text_writer.hpp"

namespace spillway::http {

// With quotes; escapes `"`, `\` and controls (RFC 8259 section 7), invalid UTF-8 as U+FFFD.
void write_json_string(TextWriter& out, std::string_view text);

// For HTML text and quoted attributes: escapes & < > " ' and leaves controls out.
void write_html_text(TextWriter& out, std::string_view text);

// For a field value: controls left out.
void write_field_value(TextWriter& out, std::string_view text);

}  // namespace spillway::http
