// Which page an admin request gets. No I/O: the server reads the request and writes the answer.
#pragma once

#include <boost/beast/http/message.hpp>
#include <boost/beast/http/string_body.hpp>
#include <string_view>

#include "proxy/admin/admin.hpp"

namespace spillway::proxy {

using AdminRequest = boost::beast::http::request<boost::beast::http::string_body>;
using AdminResponse = boost::beast::http::response<boost::beast::http::string_body>;

// Whether the request may have the configuration reloaded, and asks for it: reload_answer() says
// what came of that. `token` is empty when none is configured.
bool asks_to_reload(const AdminRequest& request, std::string_view token);
AdminResponse reload_answer(const AdminRequest& request, const ReloadResult& result);

// The whole answer to any other request, keep-alive as it asked. An exception of a page becomes a
// 500.
AdminResponse admin_answer(const AdminRequest& request, std::string_view token,
                           const AdminSource& source);

// The answer to what could not be read as a request; closes the connection.
AdminResponse admin_refusal(boost::beast::http::status status, std::string_view detail);

}  // namespace spillway::proxy
