// Clients that hold what they do not pay for: every fourth is none of them, and is served as ever
// while the others are at it.
#include <exception>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "support/event.hpp"
#include "support/raw_client.hpp"
#include "system/faults/meeting.hpp"
#include "system/faults/row.hpp"

namespace spillway::faults {

using namespace support;
using nlohmann::json;

namespace {

// Of a round.
constexpr std::size_t kGood = kClients / 4;
constexpr std::size_t kGreedy = kClients - kGood;

bool is_good(Client client) { return client.place % 4 == 0; }

struct Meetings {
  Meeting in_place;  // the greedy
  Meeting answered;  // the good
};

enum class At { proxy, admin };

struct Greed {
  std::string name;
  json changes = json::object();
  std::optional<std::size_t> requests = 1;  // that the proxy counts; none: it depends
  int receive_buffer = 0;
  At at = At::proxy;
  std::size_t connections = 1;   // of each
  std::string must = "held on";  // "put out": looked for at the end
  // What it does at first, what is due to it within its patience; and then again and again, about
  // three times a second.
  std::function<void(RawClient&, const std::string& number, Milliseconds patience)> begins;
  std::function<void(RawClient&)> goes_on = [](RawClient&) {};
};

Outcome be_greedy(Stand& stand, Client client, const Greed& greed, Meetings& meetings) {
  Outcome outcome{"held on", greed.requests.value_or(0), {}};
  Arrival in_place(meetings.in_place);
  const std::uint16_t port = greed.at == At::proxy ? stand.port() : stand.proxy().admin_port();
  std::vector<RawClient> greedy;
  try {
    for (std::size_t n = 0; n < greed.connections; ++n) {
      greed.begins(greedy.emplace_back(port, greed.receive_buffer), std::to_string(client.number),
                   stand.patience());
    }
    in_place.arrive();
    const Deadline deadline;  // the good ones wait for less at NGINX and HAProxy
    while (!meetings.answered.wait_for(rounds_begun(client) * kGood, 300ms) && !deadline.passed()) {
      for (RawClient& each : greedy) greed.goes_on(each);
    }
    for (RawClient& each : greedy) {
      greed.goes_on(each);  // takes what came with the end
      if (greed.must == "put out" && each.is_closed(0ms)) outcome.word = "put out";
    }
  } catch (const std::exception& error) {
    outcome = {"put out", outcome.requests, error.what()};
  }
  return outcome;
}

// A page that needs no token, and the one that is scraped.
void ask_the_admin(Stand& stand, Outcome& outcome) {
  for (const std::string page : {"/readyz", "/metrics"}) {
    const std::string request = "GET " + page + " HTTP/1.1\r\nHost: localhost\r\n\r\n";
    try {
      const int status = RawClient(stand.proxy().admin_port()).ask(request).status();
      if (status != 200) outcome.word = "WRONG: " + page + ": " + std::to_string(status);
    } catch (const std::exception& error) {
      outcome = {"WRONG: " + page, outcome.requests, error.what()};
    }
  }
}

// As a word, "late" where the greedy had not come before it asked. At NGINX and HAProxy some of
// them may never come in where others do: that is no fault of the row.
Outcome be_good(Stand& stand, Client client, const Greed& greed, Meetings& meetings) {
  const Milliseconds patience = stand.is_spillway() ? 3 * stand.patience() : stand.patience();
  const bool all_there = meetings.in_place.wait_for(rounds_begun(client) * kGreedy, patience);
  const std::string number = std::to_string(client.number);
  Outcome outcome =
      stand.ask(client.place / 4, {.target = "/good/" + number, .next = "/good/" + number});
  if (greed.at == At::admin) ask_the_admin(stand, outcome);
  meetings.answered.arrive();
  if (!all_there && stand.is_spillway()) outcome.word = "WRONG: the others were late";
  return outcome;
}

Row row_of(Greed greed) {
  const auto meetings = std::make_shared<Meetings>();
  return {.name = greed.name,
          .settings = {.changes = greed.changes},
          .client =
              [greed, meetings](Stand& stand, Client client) {
                return is_good(client) ? be_good(stand, client, greed, *meetings)
                                       : be_greedy(stand, client, greed, *meetings);
              },
          .allows =
              [](Client client, const std::string& word) {
                return is_good(client) ? word == "200" : word == "held on" || word == "put out";
              },
          .must = greed.must,
          .is_counted = greed.requests.has_value(),
          // Who puts the greedy out at once does well.
          .at_peers = {.not_because = greed.at == At::admin ? "Spillway's admin listener" : "",
                       .must_be_seen = false,
                       .is_other = is_good}};
}

// More connections than the admin listener has, without a token: scrapes and probes get through.
std::vector<Row> rows_at_the_admin() {
  const std::string head = " /metrics HTTP/1.1\r\nHost: localhost\r\n";
  std::vector<Row> rows;
  const auto fill_it = [&](const std::string& who, const std::string& bytes,
                           const std::string& must = "put out") {
    rows.push_back(row_of({.name = who + " fill the admin listener",
                           .requests = 0,
                           .receive_buffer = 4096,
                           .at = At::admin,
                           .connections = 2,
                           .must = must,
                           .begins = [bytes](RawClient& client, const std::string&, Milliseconds) {
                             if (!bytes.empty()) client.send(bytes);
                           }}));
  };
  fill_it("silent connections", "");
  fill_it("slow heads", "GET" + head);
  fill_it("bodies that do not come", "POST" + head + "Content-Length: 60000\r\n\r\n");
  std::string scrapes;
  for (int n = 0; n < 40; ++n) scrapes += "GET" + head + "\r\n";
  fill_it("responses that are not taken", scrapes, "held on");
  return rows;
}

// Fewer than there are greedy clients: held, they would be missed.
const json kFewSlots = {{"dispatch", {{"concurrency", 4}}}};

json with_patient_queue(json changes) {
  changes["classes"] = json::array(
      {{{"name", "P0"}, {"max_queue", 1000}, {"max_wait_ms", 8000}, {"sla_ms", 10'000}}});
  return changes;
}

// Each asks again and again, and comes back when it is told to leave, until every one of the round
// has been served. None of them is idle for long enough to be put out.
Row more_clients_than_places() {
  const auto served = std::make_shared<Meeting>();
  return {
      .name = "more clients than places take turns",
      .settings = {.changes = {{"limits", {{"connections", kGreedy}}}}},
      .client = [served](Stand& stand, Client client) -> Outcome {
        Outcome outcome{"200", 0, {}};
        Arrival once_served(*served);
        std::optional<RawClient> asking;
        const Deadline deadline(stand.patience());
        const std::string request = get("/good/" + std::to_string(client.number));
        try {
          do {
            if (!asking) asking.emplace(stand.port());
            const Message answer = asking->send(request).read_response(
                Expected::response, Milliseconds{deadline.left()});
            ++outcome.requests;
            if (answer.status() != 200) outcome.word = std::to_string(answer.status());
            if (answer.field("Connection") == "close") asking.reset();
            once_served.arrive();
          } while (!served->wait_for(rounds_begun(client) * kClients, 20ms) && !deadline.passed());
        } catch (const std::exception& error) {
          const bool has_waited = deadline.passed() && outcome.requests == 0;
          outcome.word = has_waited ? "not served" : "WRONG: a request is lost";
          outcome.detail = error.what();
        }
        return outcome;
      },
      .allows = any_of({"200"}),
      .must = "200",
      .at_peers = {.is_other = [](Client) { return true; }}};
}

}  // namespace

std::vector<Row> greedy_rows() {
  const std::string upload = "POST /good/";
  const std::string host = " HTTP/1.1\r\nHost: a.example\r\n";
  std::vector<Row> rows;
  const auto expect_and_fall_silent = [&](const std::string& what, const std::string& framing,
                                          const std::string& begun) {
    rows.push_back(row_of(
        {.name = "clients expect 100 " + what + "and fall silent",
         .changes = kFewSlots,
         .begins = [=](RawClient& client, const std::string& number, Milliseconds patience) {
           client.send(upload + number + host + framing + "\r\nExpect: 100-continue\r\n\r\n");
           client.read_head(patience);
           client.send(begun);
         }}));
  };
  expect_and_fall_silent("", "Content-Length: 1", "");
  expect_and_fall_silent("for chunks ", "Transfer-Encoding: chunked", "");
  expect_and_fall_silent("for chunks, begin one ", "Transfer-Encoding: chunked", "5\r\nab");
  expect_and_fall_silent("for 1 MB ", "Content-Length: 1000000", "");
  rows.push_back(
      row_of({.name = "clients upload at 300 B/s",
              .changes = kFewSlots,
              .begins =
                  [=](RawClient& client, const std::string& number, Milliseconds) {
                    client.send(upload + number + host + "Content-Length: 1000000\r\n\r\n" +
                                std::string(70'000, 'b'));
                  },
              .goes_on = [](RawClient& client) { client.send(std::string(100, 'b')); }}));
  rows.push_back(
      row_of({.name = "clients take their answers at 300 B/s",
              .changes = with_patient_queue(kFewSlots),
              .receive_buffer = 4096,
              .begins =
                  [](RawClient& client, const std::string& number, Milliseconds patience) {
                    client.send(get("/huge/" + number));
                    client.read_bytes(500, patience);
                  },
              .goes_on = [](RawClient& client) { client.read_bytes(100); }}));
  rows.push_back(row_of({.name = "silent connections fill the house",
                         .changes = {{"limits", {{"connections", kGreedy / 2}}}},
                         .requests = 0,
                         .begins = [](RawClient&, const std::string&, Milliseconds) {}}));
  rows.push_back(row_of(
      {.name = "slow heads fill the house",
       .changes = {{"limits", {{"connections", kGreedy / 2}, {"header_timeout_ms", 60'000}}}},
       .requests = std::nullopt,
       .begins = [=](RawClient& client, const std::string& number, Milliseconds) {
         client.send(upload + number + host);
       }}));
  // Some of them leave with a response.
  rows.push_back(row_of({.name = "busy keep-alive connections fill the house",
                         .changes = {{"limits", {{"connections", kGreedy / 2}}}},
                         .requests = std::nullopt,
                         .must = "put out",
                         .begins = [](RawClient& client, const std::string& number,
                                      Milliseconds) { client.send(get("/good/" + number)); },
                         .goes_on =
                             [](RawClient& client) {
                               while (client.has_bytes(0ms)) client.read_response();
                               client.try_send(get("/good/again"));
                             }}));
  rows.push_back(more_clients_than_places());
  const auto fill_the_house = [&](const std::string& who, const std::string& start,
                                  const std::string& lines) {
    rows.push_back(
        row_of({.name = who + " fill the house",
                // No rate and no silence ends them.
                .changes = {{"limits", {{"connections", kGreedy / 2}, {"min_rate_bytes", 0}}}},
                .requests = std::nullopt,
                .begins = [=](RawClient& client, const std::string& number, Milliseconds) {
                  client.send(start + number + host + lines);
                }}));
  };
  fill_the_house("answered requests whose bodies do not come", "OPTIONS /good/",
                 "Max-Forwards: 0\r\nContent-Length: 60000\r\n\r\n");
  fill_the_house("bodies that do not come", upload, "Content-Length: 1\r\n\r\n");
  for (Row& row : rows_at_the_admin()) rows.push_back(std::move(row));
  return rows;
}

}  // namespace spillway::faults
