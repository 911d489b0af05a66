// Which page an admin request gets. No I/O: the server reads the request and writes the answer.
#pragma once

#include <boost/beast/http/message.hpp>
#include <boost/beast/http/string_body.hpp>
#include <string_view>

#include "proxy/admin.hpp"

namespace spillway::proxy {

using AdminRequest = boost::beast::http::request<boost::beast::http::string_body>;
using AdminResponse = boost::beast::http::response<boost::beast::http::string_body>;

// The whole answer, keep-alive as the request asked. `token` is empty when none is configured.
// An exception of a page becomes a 500.
AdminResponse admin_answer(const AdminRequest& request, std::string_view token,
                           const AdminSource& source);

// The answer to what could not be read as a request; closes the connection.
AdminResponse admin_refusal(boost::beast::http::status status, std::string_view detail);

}  // namespace spillway::proxy
