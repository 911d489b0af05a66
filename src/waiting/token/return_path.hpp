// The address to which a visitor returns after it sent a form of the waiting page.
#pragma once

#include <string_view>

namespace spillway::waiting {

// Path and query of a Referer if it is of this host, else "/": never another site's address, and
// never one that a browser could take for one ("//host", "/\host"). `host`: the request's Host. The
// result has no character that ends a field line.
std::string_view return_path(std::string_view referer, std::string_view host);

}  // namespace spillway::waiting
