// From admin requests to responses: routing, access control, pages. No I/O: AdminServer reads and
// writes.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <cstdint>
#include <string_view>

#include "proxy/admin/admin.hpp"
#include "proxy/admin/admin_page.hpp"

namespace spillway::proxy {

// The part that answers a request. `token` is empty if none is configured.
enum class AdminPart : std::uint8_t {
  pages,   // admin_answer(), including requests that are not allowed
  reload,  // an authorized POST /reload: the caller reloads, then sends reload_page()
  jobs,    // AdminJobs: an authorized request for a page of deferred requests
  rooms,   // AdminRooms: the same for a page of waiting rooms
};
AdminPart part_for(const AdminRequest& request, std::string_view token);

AdminResponse reload_page(const ReloadResult& result);

// Suspends only where `source` does. The arguments must outlive the coroutine.
boost::asio::awaitable<AdminResponse> admin_answer(const AdminRequest& request,
                                                   std::string_view token,
                                                   const AdminSource& source);

// The response to a request that could not be parsed; closes the connection.
AdminResponse admin_refusal(boost::beast::http::status status, std::string_view detail);

}  // namespace spillway::proxy
