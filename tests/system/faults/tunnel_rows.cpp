// Tunnels and event streams: what a backend does wrong in them, clients that vanish from them, more
// than there are places for.
#include <nlohmann/json.hpp>

#include "system/faults/row.hpp"
#include "system/faults/tunnelling.hpp"

namespace spillway::faults {

using nlohmann::json;

namespace {

using Words = std::vector<std::string>;

const json kShortSilence = {{"limits", {{"tunnel_idle_timeout_ms", 300}}}};

std::string target_of(const std::string& what, Client client) {
  return "/" + what + "/" + std::to_string(client.number);
}

Row tunnels(const std::string& fault, const Words& words, const json& changes = json::object()) {
  return {.name = fault,
          .settings = {.changes = changes},
          .client =
              [fault](Stand& stand, Client client) {
                return tunnel(stand.port(), target_of(fault, client), client.number);
              },
          .allows = any_of(words),
          .must = words.front()};
}

Row events(const std::string& fault, const Words& words, const json& changes = json::object()) {
  Row row = tunnels(fault, words, changes);
  row.client = [fault](Stand& stand, Client client) {
    return listen_to_events(stand.port(), target_of(fault, client), client.number, Until::end);
  };
  return row;
}

// Every fourth stays and is served.
Row vanish_from_tunnels() {
  Row row = tunnels("clients vanish in a tunnel", {"gone"});
  row.client = [](Stand& stand, Client client) {
    return tunnel(stand.port(), target_of("tunnel", client), client.number, client.place % 4 != 0);
  };
  row.allows = [](Client client, const std::string& word) {
    return word == (client.place % 4 == 0 ? "echoed" : "gone");
  };
  return row;
}

Row vanish_from_events() {
  Row row = events("clients vanish in an event stream", {"event"});
  // Who says no more still listens, until both have been silent for long.
  row.settings.changes = kShortSilence;
  row.client = [](Stand& stand, Client client) {
    return listen_to_events(stand.port(), target_of("events", client), client.number, Until::event);
  };
  return row;
}

// Others, where one of two servers closes each stream at once: when the first have lost one by it,
// none does.
Row close_at_once() {
  Row row = events("events-end", {"aborted"});
  row.name = "one of two servers closes event streams at once";
  return beside_one_that("events-close", std::move(row), "ended", {"aborted"});
}

// Places for a quarter of them.
Row too_many() {
  Row row = tunnels("more tunnels than places", {"503", "echoed"}, {{"limits", {{"tunnels", 16}}}});
  row.client = [](Stand& stand, Client client) {
    return tunnel(stand.port(), target_of("tunnel", client), client.number);
  };
  row.at_peers.rounds = kRounds;  // in one of them no client may see it
  row.besides = [](Stand& stand) -> std::string {
    const double refused = stand.scrape().sum("spillway_tunnels_total", "refused");
    return refused > 0 ? "" : "none was counted as refused";
  };
  return row;
}

}  // namespace

std::vector<Row> tunnel_rows() {
  return {tunnels("tunnel-stays-half-switched", {"502"}),
          tunnels("tunnel-of-another-kind", {"502"}),
          tunnels("tunnel-closes", {"ended", "broken"}),
          tunnels("tunnel-resets", {"ended", "broken"}),
          tunnels("tunnel-stalls", {"ended", "broken"}, kShortSilence),
          events("events-close", {"aborted"}),
          events("events-reset", {"aborted"}),
          close_at_once(),
          vanish_from_tunnels(),
          vanish_from_events(),
          too_many()};
}

}  // namespace spillway::faults
