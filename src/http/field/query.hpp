// The query of a request target (RFC 3986 section 3.4) as parameters: name=value, separated by
// ampersands.
#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace spillway::http {

struct Parameter {
  std::string name;
  std::string value;
};
using Parameters = std::vector<Parameter>;

// `query`: the part after the question mark. Percent-encoded; a plus sign stands for itself.
// Returns one sentence for an error: bad encoding, or a name given twice. Accepts any bytes.
std::variant<Parameters, std::string> read_query(std::string_view query);

// Encodes all but letters, digits and -._~ as %XX.
std::string percent_encoded(std::string_view text);

}  // namespace spillway::http
