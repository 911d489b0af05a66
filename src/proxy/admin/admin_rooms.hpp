// The admin pages of waiting rooms:
//
//     GET    /rooms                            all of them
//     GET    /rooms/{room}                     one: counts of its tickets, and how they ended
//     GET    /rooms/{room}/tickets             waiting or admitted visitors, in pages
//     GET    /rooms/{room}/tickets/{id}        one of these tickets
//     DELETE /rooms/{room}/tickets/{id}        ends a ticket or a session
//     POST   /rooms/{room}/tickets/{id}/move   moves it to another place in line
//     POST   /rooms/{room}/tickets/{id}/call   calls it, even if its visitor is away
//     POST   /rooms/{room}/call                calls the next ones, beyond the pace
//     POST   /rooms/{room}/open, .../close, .../pause, .../resume, .../message
//     GET    /room-secret                      the state of the secret that signs all their tokens
//     POST   /room-secret/replace              replaces it (admin_room_secret.cpp)
//
// room_query.hpp has the members of queries and bodies, docs/openapi.yaml all answers. Each change
// is reported to RoomsSource::changed.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "observe/log/operator_change.hpp"
#include "proxy/admin/admin_page.hpp"
#include "proxy/admin/room_query.hpp"
#include "proxy/generation/generation.hpp"
#include "proxy/waiting/secret_request.hpp"

namespace spillway::proxy {

// What these pages need from the process. On the admin thread.
struct RoomsSource {
  std::function<std::shared_ptr<const Generation>()> generation = {};  // the current one
  std::function<void(const observe::RoomChange&)> changed = {};
  std::function<waiting::TokenSecrets()> secrets = {};
  // With the address of the client that asks for it.
  std::function<SecretReply(waiting::Replacement, const std::string&)> replace_secret = {};
};

class AdminRooms {
 public:
  explicit AdminRooms(RoomsSource source) : source_(std::move(source)) {}

  // The response to a request of an authorized client at this address.
  AdminResponse answer(const AdminRequest& request, const std::string& client) const;

 private:
  // A request, and the waiting room that it is for.
  struct Asked {
    const AdminRequest& request;
    const std::string& client;
    const RoomsPath& path;
    SharedWaitingRoom& room;
    const config::WaitingRoom& settings;
    std::string_view query;
  };

  AdminResponse secret(const AdminRequest& request, const RoomsPath& path,
                       const std::string& client) const;
  AdminResponse report(const Asked& asked) const;
  AdminResponse report_ticket(const Asked& asked) const;
  AdminResponse change(const Asked& asked) const;
  AdminResponse cancel(const Asked& asked) const;
  AdminResponse call(const Asked& asked) const;
  AdminResponse call_one(const Asked& asked) const;
  AdminResponse move(const Asked& asked) const;
  AdminResponse tell(const Asked& asked) const;
  AdminResponse set(const Asked& asked) const;
  void audit(const Asked& asked, observe::RoomChange change) const;

  RoomsSource source_;
};

}  // namespace spillway::proxy
