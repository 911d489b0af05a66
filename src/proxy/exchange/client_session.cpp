#include "proxy/exchange/client_session.hpp"

namespace spillway::proxy {

Task<bool> ClientSession::send_all(Parking& parking, std::string_view body,
                                   bool until_client_gone) {
  while (has_pending_head() || !body.empty()) {
    const IoResult result = send(body);
    if (result.status == IoResult::Status::done) {
      body.remove_prefix(result.bytes);
    } else if (result.status == IoResult::Status::failed) {
      co_return false;
    } else {
      begin_client_turn();
      const Wake wake = co_await parking.park({.client_gone = until_client_gone}, &writable());
      end_client_turn();
      if (wake == Wake::client_gone) co_return false;
    }
  }
  co_return true;
}

}  // namespace spillway::proxy
