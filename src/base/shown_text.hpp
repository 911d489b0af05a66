// Untrusted text, made safe to show in a log line or on an operator's terminal.
#pragma once

#include <cstddef>
#include <string_view>

namespace spillway {

struct Character {
  std::size_t bytes;  // 0: the text does not begin with UTF-8 (RFC 3629 section 4)
  char32_t code;
};

// `text` must not be empty.
Character first_character(std::string_view text);
// How many bytes at the front are complete UTF-8 characters.
std::size_t utf8_part(std::string_view text);

// True for characters that change how a terminal or an editor shows the rest of a line: control
// characters (C0, DEL, C1 with NEL and CSI), line separators, and characters that are invisible or
// change the text direction ("Trojan Source", CVE-2021-42574). Some of these have a use, such as
// variation selectors of emoji; a log can do without them.
bool is_deceptive(char32_t c);

}  // namespace spillway
