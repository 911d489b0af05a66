// Admin requests to responses: routing, access control, pages. No I/O: AdminServer reads and
// writes.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/string_body.hpp>
#include <string_view>

#include "proxy/admin/admin.hpp"

namespace spillway::proxy {

using AdminRequest = boost::beast::http::request<boost::beast::http::string_body>;
using AdminResponse = boost::beast::http::response<boost::beast::http::string_body>;

// In all functions `token` is empty when none is configured. Responses keep the connection alive if
// the request asks for it.

// An authorized POST /reload: the caller reloads, then sends reload_answer().
bool is_reload(const AdminRequest& request, std::string_view token);
AdminResponse reload_answer(const AdminRequest& request, const ReloadResult& result);

// The response to any other request; 500 if a page throws. Suspends only where `source` does. The
// arguments must outlive it.
boost::asio::awaitable<AdminResponse> admin_answer(const AdminRequest& request,
                                                   std::string_view token,
                                                   const AdminSource& source);

// The response to a request that could not be parsed; closes the connection.
AdminResponse admin_refusal(boost::beast::http::status status, std::string_view detail);

}  // namespace spillway::proxy
