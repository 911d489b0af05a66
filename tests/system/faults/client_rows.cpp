// Clients that vanish, at every phase; every fourth stays and has to be served as ever.
#include <nlohmann/json.hpp>

#include "system/faults/leaving.hpp"
#include "system/faults/row.hpp"

namespace spillway::faults {

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
            return ask(stand.port(), client.place / 4,
                       {.target = "/good/" + number, .next = "/good/" + number});
          },
      .allows = [](Client client,
                   const std::string& word) { return word == (stays(client) ? "200" : "gone"); },
      .must = "gone"};
}

// What clients have left behind is at work in the backend all the same: no more of it than there
// are slots.
Row vanish_at_work_in_few_slots() {
  constexpr std::size_t kSlots = 4;
  Row row = vanish(
      Phase::at_work,
      {{"dispatch", {{"concurrency", kSlots}}},
       {"classes",
        {{{"name", "P0"}, {"max_queue", 1000}, {"max_wait_ms", 8000}, {"sla_ms", 10'000}}}}});
  row.name += ", in few slots";
  row.besides = [](Stand& stand) {
    const std::size_t most = stand.backend.most_at_work();
    return most <= kSlots ? std::string() : std::to_string(most) + " were at work at once";
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
  rows.push_back(vanish_at_work_in_few_slots());
  return rows;
}

}  // namespace spillway::faults
