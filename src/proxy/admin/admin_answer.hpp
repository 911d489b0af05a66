// Admin requests to responses: routing, access control, pages. No I/O: AdminServer reads and
// writes.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <string_view>

#include "proxy/admin/admin.hpp"
#include "proxy/admin/admin_page.hpp"

namespace spillway::proxy {

// In all functions `token` is empty when none is configured. Responses keep the connection alive if
// the request asks for it.

// An authorized POST /reload: the caller reloads, then sends reload_answer().
bool is_reload(const AdminRequest& request, std::string_view token);
AdminResponse reload_answer(const AdminRequest& request, const ReloadResult& result);

// An authorized request for a page of deferred requests: AdminJobs answers it.
bool is_for_jobs(const AdminRequest& request, std::string_view token);

// The same of waiting rooms: AdminRooms.
bool is_for_rooms(const AdminRequest& request, std::string_view token);

// The response to any other request; 500 if a page throws. Suspends only where `source` does. The
// arguments must outlive it.
boost::asio::awaitable<AdminResponse> admin_answer(const AdminRequest& request,
                                                   std::string_view token,
                                                   const AdminSource& source);

// The response to a request that could not be parsed; closes the connection.
AdminResponse admin_refusal(boost::beast::http::status status, std::string_view detail);

}  // namespace spillway::proxy
