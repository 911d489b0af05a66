// Clients that take what is stored slowly, so that they use all of the store: it goes on storing
// for others.
#include <exception>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "support/event.hpp"
#include "support/raw_client.hpp"
#include "system/faults/meeting.hpp"
#include "system/faults/row.hpp"

namespace spillway::faults {

using namespace support;
using nlohmann::json;

namespace {

// The store has room for these, its tables, and no other that is asked for.
constexpr std::size_t kVastOnes = 6;
constexpr std::size_t kRoomBesides = 3'000'000;
// In the first round.
constexpr std::size_t kSlowReaders = kClients / 4;
constexpr std::size_t kStoringOnes = kClients / 4;
constexpr Milliseconds kUntilStored{20'000};  // slow readers are left alone for some seconds
constexpr Milliseconds kAgain{500};

enum class Reader { slow, storing, as_ever };

Reader reader_of(Client client) {
  if (client.number >= kClients) return Reader::as_ever;
  if (client.place % 4 == 3) return Reader::slow;
  return client.place % 4 == 0 ? Reader::storing : Reader::as_ever;
}

// Asks until the backend is not asked any more.
std::string ask_until_stored(Stand& stand, const std::string& target, std::size_t& requests) {
  const Event never;
  const Deadline deadline(kUntilStored);
  do {
    const std::size_t times = stand.backend.times_asked(target);
    const Outcome outcome = stand.ask(0, {.target = target});
    requests += outcome.requests;
    if (outcome.word != "200") return outcome.word;
    if (stand.backend.times_asked(target) == times) return "stored";
  } while (!never.wait(kAgain) && !deadline.passed());
  return "not stored";
}

struct Reading {
  Meeting vast_stored, begun, others_stored;
};

Outcome read_slowly(Stand& stand, Client client, Reading& reading) {
  Outcome outcome{"held on", 0, {}};
  const std::size_t number = client.place / 4;
  const std::string target = "/cached/vast/" + std::to_string(number % kVastOnes);
  if (number < kVastOnes) {
    const Arrival end(reading.vast_stored);
    const std::string word = ask_until_stored(stand, target, outcome.requests);
    if (word != "stored") throw std::runtime_error(word);
  }
  reading.vast_stored.wait_for(kVastOnes, kUntilStored);
  RawClient reader(stand.port(), 4096);
  reader.send(get(target)).read_bytes(500);
  ++outcome.requests;
  reading.begun.arrive();
  reading.others_stored.wait_for(kStoringOnes, 2 * kUntilStored);
  return outcome;
}

Outcome store(Stand& stand, Client client, Reading& reading) {
  Outcome outcome{"", 0, {}};
  const Arrival end(reading.others_stored);
  if (!reading.begun.wait_for(kSlowReaders, kUntilStored))
    throw std::runtime_error("they are late");
  const std::string target = "/cached/huge/" + std::to_string(client.place);
  outcome.word = ask_until_stored(stand, target, outcome.requests);
  return outcome;
}

Row slow_readers() {
  const auto reading = std::make_shared<Reading>();
  const std::size_t room = kVastOnes * body_of("/cached/vast/0").size() + kRoomBesides;
  const json cache = {
      {"max_bytes", room}, {"max_entry_bytes", room / kVastOnes}, {"serve", "fresh"}};
  const auto is_as_ever = [](Client client) { return reader_of(client) == Reader::as_ever; };
  Row row{.name = "slow readers use all of the store",
          .settings = {.changes = {{"limits", {{"min_rate_bytes", 1}}},
                                   {"default_route", {{"cache", cache}}}}}};
  row.client = [=](Stand& stand, Client client) -> Outcome {
    try {
      switch (reader_of(client)) {
        case Reader::slow: return read_slowly(stand, client, *reading);
        case Reader::storing: return store(stand, client, *reading);
        case Reader::as_ever: break;
      }
    } catch (const std::exception& error) {
      return {"WRONG: " + std::string(error.what()).substr(0, 200)};
    }
    const std::string target = "/good/" + std::to_string(client.number);
    return stand.ask(client.place, {.target = target, .next = target});
  };
  row.allows = [=](Client client, const std::string& word) {
    if (is_as_ever(client)) return word == "200";
    return word == (reader_of(client) == Reader::slow ? "held on" : "stored");
  };
  row.must = "stored";
  // Else they were not in the way.
  row.besides = [](Stand& stand) -> std::string {
    const double cut_off = stand.scrape().sum("spillway_slow_clients_total", "phase=\"answer\"");
    return cut_off > 0 ? "" : "no slow reader was cut off";
  };
  row.at_peers.must_be_seen = false;
  row.at_peers.is_other = [](Client client) { return reader_of(client) != Reader::slow; };
  return row;
}

}  // namespace

std::vector<Row> reading_rows() { return {slow_readers()}; }

}  // namespace spillway::faults
