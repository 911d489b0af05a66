// Text of strangers, as it may be shown: in a line of a log, on an operator's terminal.
#pragma once

#include <cstddef>
#include <string_view>

namespace spillway {

struct Character {
  std::size_t bytes;  // 0: the text does not begin with UTF-8 (RFC 3629 section 4)
  char32_t code;
};

// `text` is not empty.
Character first_character(std::string_view text);
// How many bytes at the front are whole characters.
std::size_t utf8_part(std::string_view text);

// True for characters that change how a terminal or an editor shows the rest of a line: controls
// (C0, DEL, C1 with NEL and CSI), line separators, and those that are invisible or turn the
// direction of text ("Trojan Source", CVE-2021-42574). Some of these have a use, such as the
// selectors of emoji; a log can do without it.
bool is_deceptive(char32_t c);

}  // namespace spillway
