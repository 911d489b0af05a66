// Shows that an admitted visitor is still here: while a request with its pass, an event stream or a
// tunnel is open, the session counts as used, although there is no new request. The worker's sweep
// reports that as often as requests would. The first report for a first contact begins the session:
// an entry counts for a single slice, and the response may be open for longer.
#pragma once

#include <memory>
#include <optional>
#include <utility>

#include "base/time.hpp"
#include "proxy/waiting/shared_waiting_room.hpp"
#include "waiting/ticket/ticket.hpp"

namespace spillway::proxy {

class Stay {
 public:
  Stay() = default;  // of no session
  // The room must outlive it.
  Stay(SharedWaitingRoom& room, const waiting::TicketId& id, Milliseconds every, TimePoint now)
      : room_(&room), id_(id), every_(every), due_(now + every) {}
  // The same for a visitor without a session yet, whose first pass was issued then.
  Stay begun_with(const waiting::Token& first_pass) const {
    Stay stay = *this;
    stay.entered_ = first_pass.time;
    stay.user_ = first_pass.user;
    return stay;
  }
  // The same for a response that may outlast the room in the configuration.
  Stay kept_by(std::shared_ptr<SharedWaitingRoom> room) const {
    Stay stay = *this;
    stay.keeper_ = std::move(room);
    return stay;
  }

  // Costs a comparison if nothing is due. true: the session had a resource and has ended; close the
  // response, since another visitor may have the resource.
  bool report(TimePoint now) {
    if (now < due_) return false;
    due_ = now + every_;
    if (entered_) {
      const waiting::Token pass{waiting::TokenKind::pass, id_, 0, *entered_, 0, user_};
      if (room_->begin_session(pass, now)) entered_.reset();
    }
    return room_->stay(id_, now);
  }

 private:
  SharedWaitingRoom* room_ = nullptr;
  std::shared_ptr<SharedWaitingRoom> keeper_;
  waiting::TicketId id_;
  Milliseconds every_{};
  TimePoint due_ = kNever;
  std::optional<waiting::Time> entered_;  // set until its session has begun
  waiting::UserKey user_{};
};

}  // namespace spillway::proxy
