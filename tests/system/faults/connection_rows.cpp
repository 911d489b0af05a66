// A backend that cannot be reached, or half of one.
#include <nlohmann/json.hpp>
#include <system_error>

#include "support/scripted_peer.hpp"
#include "system/faults/row.hpp"

namespace spillway::faults {

using nlohmann::json;

namespace {

Outcome ask_both(Stand& stand, Client client) {
  const std::string number = std::to_string(client.number);
  return stand.ask(client.place, {.target = "/good/" + number, .next = "/sound/" + number});
}

Row unreachable(const std::string& name, const std::string& server, std::shared_ptr<void> needs,
                const std::string& word) {
  return {.name = name,
          .settings = {.changes = {{"app", {{"connect_timeout_ms", 300}}}}, .servers = {server}},
          .client = ask_both,
          .allows = any_of({word}),
          .must = word,
          .afterwards = "/sound/0",
          .needs = std::move(needs)};
}

// Two of four servers end in the middle of the second round. Who had just been sent there may hear
// of it; none later does.
Row half_die() {
  return {.name = "half of four servers die",
          .settings = {.more_backends = 3},
          .client = ask_both,
          .allows =
              [](Client client, const std::string& word) {
                const bool were_dying = client.number / kClients == 1;
                return word == "200" ||
                       (were_dying && (word == "502" || word == "aborted" || word == "504"));
              },
          .must = "200",
          .meanwhile =
              [](Stand& stand, std::size_t round, const std::function<bool()>&) {
                if (round == 0) return;
                while (stand.more.size() > 1) {
                  const std::uint16_t port = stand.more.back()->port();
                  stand.more.pop_back();
                  try {
                    stand.dead.push_back(std::make_unique<support::RefusingPort>(port));
                  } catch (const std::system_error&) {  // another process was quicker
                  }
                }
              },
          .at_backends = [](Stand& stand) -> std::string {
            return stand.more.size() == 1 ? "" : "they did not die";
          },
          .at_peers = {.rounds = 3}};
}

}  // namespace

std::vector<Row> connection_rows() {
  const auto refusing = std::make_shared<support::RefusingPort>();
  const auto silent = std::make_shared<support::SilentPort>();
  return {unreachable("refuses connections", refusing->address(), refusing, "502"),
          unreachable("stalls at connect", silent->address(), silent, "504"), half_die()};
}

}  // namespace spillway::faults
