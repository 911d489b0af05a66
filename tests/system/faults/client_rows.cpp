// Clients that vanish, at every phase; every fourth stays and has to be served as ever.
#include <exception>
#include <nlohmann/json.hpp>
#include <utility>

#include "support/raw_client.hpp"
#include "system/faults/leaving.hpp"
#include "system/faults/row.hpp"

namespace spillway::faults {

using namespace support;

namespace {

bool stays(Client client) { return client.place % 4 == 0; }

Row vanish(Phase phase, nlohmann::json changes = nlohmann::json::object()) {
  return {
      .name = "clients vanish " + name_of(phase),
      .settings = {.changes = std::move(changes)},
      .client =
          [phase](Stand& stand, Client client) {
            if (!stays(client)) return leave(stand, phase, client.number);
            const std::string number = std::to_string(client.number);
            return stand.ask(client.place / 4,
                             {.target = "/good/" + number, .next = "/good/" + number});
          },
      .allows = [](Client client,
                   const std::string& word) { return word == (stays(client) ? "200" : "gone"); },
      .must = "gone",
      .at_peers = {.is_other = stays}};
}

// What clients have left behind is at work in the backend all the same: no more of it than there
// are slots.
Row in_few_slots(Row row) {
  constexpr std::size_t kSlots = 4;
  row.settings.changes = {
      {"dispatch", {{"concurrency", kSlots}}},
      {"classes",
       {{{"name", "P0"}, {"max_queue", 1000}, {"max_wait_ms", 8000}, {"sla_ms", 10'000}}}}};
  row.name += ", in few slots";
  row.at_backends = [](Stand& stand) {
    const std::size_t most = stand.backend.most_at_work();
    if (most <= stand.slots()) return std::string();
    return std::to_string(most) + " at work at once with " + std::to_string(stand.slots()) +
           " slots";
  };
  row.at_peers.adjust = [](Wanted& wanted) { wanted.finishes_abandoned = true; };
  return row;
}

// They do not leave, but wait for too short a time.
Row short_deadlines(const std::string& deadline) {
  Row row = vanish(Phase::at_work);
  row.name = "clients wait for " + deadline;
  row.client = [vanishing = row.client, deadline](Stand& stand, Client client) -> Outcome {
    if (stays(client)) return vanishing(stand, client);
    try {
      RawClient asking(stand.port());
      const std::string target = "/slow/" + std::to_string(client.number);
      const Message answer = asking.ask(get(target, "X-Request-Deadline: " + deadline + "\r\n"));
      return {std::to_string(answer.status()), 1, answer.body};
    } catch (const std::exception& error) {
      return {"WRONG: " + std::string(error.what()), 1, {}};
    }
  };
  row.allows = [](Client client, const std::string& word) {
    return stays(client) ? word == "200" : word == "503" || word == "504";
  };
  row.must = "504";
  row.at_peers.not_because = "Spillway's field";
  return row;
}

// Their deadlines have passed when they ask. What alerts on P0 go by does not count them.
Row passed_deadlines() {
  Row row = short_deadlines("0ms");
  row.must = "503";
  row.besides = [](Stand& stand) -> std::string {
    const Scrape scrape = stand.scrape();
    const std::string_view first = "class=\"P0\"";
    if (scrape.sum("spillway_errors_total", "DEADLINE_EXPIRED") == 0) return "none is counted";
    if (scrape.sum("spillway_denied_total", first) != 0) return "P0 was denied something";
    return scrape.sum("spillway_deadline_miss_total", first) == 0 ? "" : "P0 missed a deadline";
  };
  return row;
}

}  // namespace

std::vector<Row> client_rows() {
  std::vector<Row> rows;
  for (const Phase phase :
       {Phase::in_head, Phase::in_small_body, Phase::before_continue, Phase::awaiting_head,
        Phase::at_work, Phase::in_answer, Phase::between_requests, Phase::in_pipeline}) {
    rows.push_back(vanish(phase));
  }
  // Otherwise these bodies are read before a slot is taken.
  const nlohmann::json streams = {{"default_route", {{"request_buffering", "off"}}}};
  rows.push_back(vanish(Phase::in_large_body, streams));
  rows.push_back(vanish(Phase::in_chunk, streams));
  rows.push_back(vanish(Phase::in_queue, {{"dispatch", {{"concurrency", 4}}}}));
  rows.push_back(in_few_slots(vanish(Phase::at_work)));
  rows.push_back(in_few_slots(short_deadlines("15ms")));
  rows.push_back(passed_deadlines());
  return rows;
}

}  // namespace spillway::faults
