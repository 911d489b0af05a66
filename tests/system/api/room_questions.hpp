// What is asked of waiting rooms so that each status that docs/openapi.yaml names comes once.
#pragma once

#include <string>
#include <vector>

#include "system/api/questions.hpp"
#include "system/integration/jobs_operator.hpp"
#include "system/integration/webhook_receiver.hpp"

namespace spillway::api {

// Proxies with waiting rooms: `sale`, in which entry is paused, `next` and `by-hand`, in which
// somebody can be called, one that is full, one that has ended, one that offers places, one where
// they take work, one with reservations.
class RoomQuestions {
 public:
  RoomQuestions();

  // They must not outlive this.
  Questions all() const;

 private:
  struct Ticket {
    std::string token;
    std::string id;
  };
  struct Act {
    std::string path;
    std::string body;   // that is accepted
    std::string wrong;  // that is not
  };

  support::Message join(const std::string& room, const std::string& token = {},
                        const std::string& body = {}, const std::string& lines = kJoin) const;
  support::Message program(const std::string& method, const std::string& path,
                           const std::string& token = {}, const std::string& lines = {}) const;
  // The first 429 that a poll of the ticket gets.
  support::Message flood_with(const std::string& token) const;
  support::Message events(const std::string& token) const;
  support::Message leave_with(const std::string& token, bool says_so) const;
  // Of a visitor of `offered`, that sends this form, or that of its page.
  support::Message take_place(const std::string& room, const std::string& form = {}) const;
  Ticket ticket_in(const std::string& room) const;
  void add_programs(Questions& to) const;
  void add_visitors(Questions& to) const;
  void add_reservations(Questions& to) const;
  void add_reports(Questions& to) const;
  void add_cancel(Questions& to) const;
  void add_secret(Questions& to) const;
  void add_act(Questions& to, const std::string& described, const Act& act) const;

  static inline const std::string kJoin = "Spillway-Join: 1\r\nContent-Type: application/json\r\n";

  const support::TemporaryDirectory directory_;
  support::Shop shop_;
  support::ProxyUnderTest proxy_;
  support::ProxyUnderTest guarded_;
  support::ProxyUnderTest replacing_;  // whose tokens may become void
  support::ProxyUnderTest plain_;      // without a waiting room
  support::Operator desk_{proxy_.admin_port()};
  support::Operator page_{proxy_.admin_port(), "Origin: http://localhost\r\n"};
  support::Operator stranger_{guarded_.admin_port()};
  std::vector<Ticket> waiting_;        // in `sale`
  Ticket by_hand_;                     // alone in its room, to be called
  Ticket called_;                      // likewise
  Ticket called_away_, waiting_away_;  // in `away`, where places may become reservations
};

}  // namespace spillway::api
