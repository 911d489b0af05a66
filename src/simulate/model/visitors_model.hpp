// Visitors: people who look at several pages one after the other, and wait for their turn if their
// route has a waiting room. The room is the proxy's own (waiting/), on virtual time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "base/time.hpp"
#include "simulate/model/request.hpp"
#include "simulate/recording/recording.hpp"
#include "simulate/scenario/scenario.hpp"
#include "waiting/pace/entry_pace.hpp"
#include "waiting/room/waiting_room.hpp"

namespace spillway::simulate {

class VisitorsModel {
 public:
  explicit VisitorsModel(const Scenario& scenario);  // keeps a reference

  bool is_in_use() const { return is_in_use_; }
  bool is_visit(const Request& request) const {
    return scenario_.clients[request.demand.clients].visit.has_value();
  }

  // A visitor has come and is to act. `pattern` is the request that its pages are made from; the
  // model owns it until the visitor has left.
  void arrive(Request& pattern, TimePoint now);

  enum class Does : std::uint8_t { rests, asks_for_page, is_gone };
  struct Step {
    Does does = Does::is_gone;
    TimePoint again{};                     // `rests`: when it will act again
    std::optional<ClassId> traffic_class;  // `asks_for_page` with a pass: the class of the pass
  };
  Step act(const Request& pattern, TimePoint now);
  // The result of its page: an answer, or none and perhaps a Retry-After. Never asks_for_page.
  Step page_ended(const Request& pattern, bool is_served, Duration retry_after, TimePoint now);

  // Does the work of the proxy's control thread.
  void tick(waiting::EntryPace::Health health, TimePoint now);
  void end_second(Second& second);
  VisitorsSummary summary() const;

 private:
  enum class Stage : std::uint8_t { outside, stamped, in_line, called, inside, away };
  struct Visitor {
    Stage stage = Stage::outside;
    bool is_ghost = false;    // never returns after getting a ticket
    bool is_no_show = false;  // keeps polling, and never comes when called
    bool has_told = false;    // it was told an estimate
    std::uint32_t pages = 0;  // seen
    std::uint32_t generation = 0;
    TimePoint came{};
    TimePoint content{};  // when it last got what it wanted, or came
    waiting::Time issued{};
    waiting::Time earliest{}, latest{};  // of its call, as first told
  };
  // Clients of one tier.
  struct TierWaits {
    std::uint64_t came = 0;
    std::vector<double> waits;
  };
  struct Room {
    explicit Room(const config::WaitingRoom& configured)
        : settings(configured), pace(configured.sessions.most), room(terms(configured)) {}
    static waiting::Terms terms(const config::WaitingRoom& configured);

    const config::WaitingRoom& settings;
    waiting::EntryPace pace;
    waiting::WaitingRoom room;
  };

  static waiting::Time time_of(TimePoint now);
  static waiting::TicketId id_of(const Request& pattern);
  Visitor& visitor_of(const Request& pattern) { return visitors_[pattern.visit]; }
  const Visit& visit_of(const Request& pattern) const {
    return *scenario_.clients[pattern.demand.clients].visit;
  }
  Room* room_of(const Request& pattern) const { return rooms_of_clients_[pattern.demand.clients]; }

  Step go_in(Visitor& visitor, const Request& pattern, std::uint32_t generation, TimePoint now);
  Step come(const Request& pattern, TimePoint now);
  Step join(const Request& pattern, TimePoint now);
  Step poll(const Request& pattern, TimePoint now);
  Step ask_for_page(const Request& pattern, TimePoint now);
  Step rest(Milliseconds pause, TimePoint now);
  Step leave(Visitor& visitor, std::uint64_t Departures::*why);
  void note_call(Visitor& visitor, TimePoint now);
  TierWaits* tier_of(const Request& pattern);

  const Scenario& scenario_;
  bool is_in_use_ = false;
  bool has_tiers_ = false;
  std::map<RouteId, std::unique_ptr<Room>> rooms_;
  std::vector<Room*> rooms_of_clients_;  // null: their route has none
  std::vector<Random> people_;           // by clients: their properties
  Random random_;                        // their actions
  std::deque<Visitor> visitors_;
  VisitorsSummary summary_;
  std::vector<double> waits_;               // seconds, of those who waited and came in
  std::map<std::string, TierWaits> tiers_;  // by name, if clients have one
  std::uint64_t polls_before_ = 0;
  struct {
    double share = 0;  // sum of the shares of sessions in use
    std::size_t ticks = 0;
  } use_;  // while any visitor waited
};

// Whether visitors of the scenario go through a waiting room.
bool has_waiting_room(const Scenario& scenario);
Scenario without_waiting_rooms(Scenario scenario);

}  // namespace spillway::simulate
