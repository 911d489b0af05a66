// Requests whose clients leave at once while the backend works on for longer than its routes have
// been seen to take: Spillway gives their slots back after that, so that others come in, and yet no
// more than twice `concurrency` are at work.
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>

#include "support/event.hpp"
#include "support/raw_client.hpp"
#include "system/faults/row.hpp"

namespace spillway::faults {

using namespace support;
using nlohmann::json;

namespace {

// The rounds: requests are short, one at a time, so that this is learned; then long. In those that
// follow they are short again.
constexpr std::size_t kShortOnes = 0, kLongOnes = 1;
// A slot is given back after two seconds at the earliest: twice in this time.
constexpr Milliseconds kLasts{5000};
constexpr Milliseconds kComesEvery{700};  // of each client that leaves
constexpr Milliseconds kStays{20};
constexpr std::size_t kCap = 4;
// Of each turn of the clients another: what the former one has been seen to take holds for it
// alone.
constexpr std::size_t kRoutes = 8;

std::size_t round_of(Client client) { return client.number / kClients; }

// Every fourth asks as ever, once the long requests are over; so do all in other rounds.
bool leaves(Client client) { return round_of(client) == kLongOnes && client.place % 4 != 0; }

struct Abandoned {
  std::string name;
  std::size_t routes = 1;
  json changes = json::object();
  std::string not_at_peers = {};
  // What a client that leaves has sent, for a target.
  std::function<std::string(const std::string& target)> request = [](const std::string& target) {
    return get(target);
  };
};

std::string target_on(std::size_t route, Client client) {
  return "/good/" + std::to_string(route) + "/" + std::to_string(client.number);
}

Outcome come_and_leave(Stand& stand, Client client, const Abandoned& abandoned, const Event& over) {
  Outcome outcome{"gone", 0, {}};
  over.wait(kComesEvery * client.place / kClients);
  try {
    do {
      RawClient leaver(stand.port());
      leaver.try_send(abandoned.request(target_on(outcome.requests % abandoned.routes, client)));
      leaver.has_bytes(kStays);
      ++outcome.requests;
    } while (!over.wait(kComesEvery));
  } catch (const std::exception& error) {
    outcome.word = "WRONG: " + std::string(error.what()).substr(0, 200);
  }
  return outcome;
}

Outcome ask_each_route(Stand& stand, Client client, std::size_t routes) {
  Outcome all{"200", 0, {}};
  for (std::size_t n = 0; n < routes; ++n) {
    const std::string target = target_on(n, client);
    const Outcome outcome = stand.ask(0, {.target = target, .next = target});
    all.requests += outcome.requests;
    if (outcome.word != "200") all.word = outcome.word;
  }
  return all;
}

Row row_of_abandoned(const Abandoned& abandoned) {
  const auto over = std::make_shared<Event>();
  const auto one_at_a_time = std::make_shared<std::mutex>();
  Row row{.name = abandoned.name, .settings = {.changes = abandoned.changes}};
  row.settings.changes["dispatch"]["concurrency"] = kCap;
  row.settings.changes["workers"] = 1;  // each learns for itself how long requests take
  for (std::size_t n = 0; n < abandoned.routes && abandoned.routes > 1; ++n)
    row.settings.routes.push_back("/good/" + std::to_string(n) + "/**");
  row.client = [=](Stand& stand, Client client) {
    if (leaves(client)) return come_and_leave(stand, client, abandoned, *over);
    std::unique_lock lock(*one_at_a_time, std::defer_lock);
    if (round_of(client) == kShortOnes) lock.lock();
    if (round_of(client) == kLongOnes) over->wait();
    return ask_each_route(stand, client, abandoned.routes);
  };
  row.allows = [](Client client, const std::string& word) {
    return word == (leaves(client) ? "gone" : "200");
  };
  row.must = "gone";
  row.meanwhile = [over](Stand& stand, std::size_t round, const std::function<bool()>&) {
    if (round != kLongOnes) return;
    const Event never;
    stand.backend.always("works-on");
    never.wait(kLasts);
    stand.backend.always("");
    stand.backend.end_work();
    never.wait(100ms);  // until it has answered them
    over->set();
  };
  row.at_backends = [](Stand& stand) -> std::string {
    const std::size_t most = stand.backend.most_at_work();
    if (most <= 2 * stand.slots()) return {};
    return std::to_string(most) + " at work at once with " + std::to_string(stand.slots()) +
           " slots";
  };
  // Else the requests were too short, or too few came.
  row.besides = [](Stand& stand) -> std::string {
    return stand.backend.most_at_work() > stand.slots() ? "" : "no slot was given back early";
  };
  row.at_peers = {.not_because = abandoned.not_at_peers,
                  .first_round = kLongOnes,
                  .is_other = [](Client client) { return !leaves(client); },
                  .adjust = [](Wanted& wanted) { wanted.finishes_abandoned = true; }};
  return row;
}

Row announcing_less() {
  Row row = row_of_abandoned(
      {.name = "requests that announce less are abandoned",
       .routes = kRoutes,
       .changes = {{"overload",
                    {{"regulate", false},
                     {"tick_ms", 20},
                     {"cooldown_ms", 60'000},
                     {"enter", {{"inflight_ratio", 0.5}}},
                     {"exit", {{"inflight_ratio", 0.1}}},
                     {"rules", {{"P0", {{"strategy", "degrade"}, {"mode", "skip_downstream"}}}}}}}},
       .not_at_peers = "Spillway's field"});
  row.besides = [given_back = row.besides](Stand& stand) -> std::string {
    const bool is_seen = stand.scrape().sum("spillway_degraded_total") > 0;
    return is_seen ? given_back(stand) : "none was degraded";
  };
  return row;
}

}  // namespace

std::vector<Row> abandoned_rows() {
  return {row_of_abandoned(
              {.name = "long requests on several routes are abandoned", .routes = kRoutes}),
          row_of_abandoned(
              {.name = "unfinished uploads are abandoned",
               .changes = {{"default_route", {{"request_buffering", "off"}}}},
               .request =
                   [](const std::string& target) {
                     return "POST " + target +
                            " HTTP/1.1\r\nHost: a.example\r\nContent-Length: 1000000\r\n\r\n" +
                            std::string(70'000, 'x');
                   }}),
          announcing_less()};
}

}  // namespace spillway::faults
