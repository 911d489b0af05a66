// The values of the request fields that select a variant, in a form in which equal wishes are equal
// (RFC 9111 section 4.1).
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace spillway::cache {

// Normalises the value that ends `text` and begins at `from`. Accept-Encoding and Accept-Language:
// in lower case, without white space around commas and semicolons and without empty elements; the
// elements of Accept-Encoding in order, as their order says nothing. That of languages does to some
// servers. Other fields are left alone: nothing is known of their syntax.
void normalise(std::string_view name, std::string& text, std::size_t from);

}  // namespace spillway::cache
