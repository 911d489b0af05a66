// The values of the request fields that select a variant, normalised so that equivalent preferences
// are equal (RFC 9111 section 4.1).
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace spillway::cache {

// Normalises the value that ends `text` and begins at `from`. Accept-Encoding and Accept-Language:
// in lower case, without white space around commas and semicolons and without empty elements; the
// elements of Accept-Encoding sorted, as their order has no meaning. Some servers heed the order of
// languages. Other fields are left unchanged: their syntax is not known.
void normalise(std::string_view name, std::string& text, std::size_t from);

}  // namespace spillway::cache
