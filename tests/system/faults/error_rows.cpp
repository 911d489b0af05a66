// Clients that ask for what fails, while others ask for what is sound on the same route. Where they
// are one address or one network, its errors are not the upstream's, and no other is refused.
#include <atomic>
#include <exception>
#include <memory>
#include <nlohmann/json.hpp>

#include "support/event.hpp"
#include "support/raw_client.hpp"
#include "system/faults/meeting.hpp"
#include "system/faults/row.hpp"

namespace spillway::faults {

using namespace support;
using nlohmann::json;

namespace {

// Many, each time from a new address, as a new tenant and for a new path: no single source explains
// the errors, so that requests are refused for them, until it is seen that this does not help. All
// of them have their class by a field: a route that fails alone would be told apart, and none be
// refused.

// The rounds: until a request is refused; until refusing is given up; those that must lose none.
constexpr std::size_t kUntilRefused = 0, kUntilGivenUp = 1;
// Refusing is tried for 14 s, and all are let in for 6 s to compare.
constexpr Milliseconds kUntilSeen{60'000};
constexpr Milliseconds kPace{100};
constexpr std::size_t kTimes = 8;  // that a sound client asks in a round that must lose none
// Reached by all, but no more once enough of P1 is refused: then refusing seems to help.
constexpr double kErrorRate = 0.16;

enum class Kind { failing, p0, p1, p2 };
// Fewer than a fifth ask for what fails.
constexpr std::size_t kFailing = 12;
Kind kind_of(Client client) {
  if (client.place < kFailing) return Kind::failing;
  if (client.place < 42) return Kind::p0;
  return client.place < 56 ? Kind::p1 : Kind::p2;
}

// What clients of a row know of one another.
struct Course {
  std::atomic<bool> refused = false;   // a sound request of P1
  std::atomic<bool> given_up = false;  // SHEDDING_DOES_NOT_HELP was said
  std::atomic<std::size_t> sound_done = 0;
  std::atomic<std::size_t> asked = 0;  // for a new address each time
  bool waits_until_given_up = true;
};

bool goes_on(const Course& course, Client client, const Outcome& outcome) {
  const std::size_t round = client.number / kClients;
  if (round == kUntilRefused) return !course.refused;
  if (round == kUntilGivenUp) return course.waits_until_given_up && !course.given_up;
  if (kind_of(client) != Kind::failing) return outcome.requests < kTimes;
  return course.sound_done < (round - kUntilGivenUp) * (kClients - kFailing);
}

std::string address_of(std::size_t number) {
  return "127." + std::to_string(1 + number / 62'500 % 250) + "." +
         std::to_string(number / 250 % 250) + "." + std::to_string(1 + number % 250);
}

int status_of_next(Stand& stand, Client client, Course& course) {
  const std::size_t new_one = ++course.asked;
  const std::string number = std::to_string(new_one);
  const Kind kind = kind_of(client);
  std::string lines = "Connection: close\r\nX-Tenant: t" + number + "\r\n";
  if (kind == Kind::p0) lines += "X-Priority: 100\r\n";
  if (kind == Kind::p2) lines += "X-Priority: 0\r\n";
  RawClient asking(stand.port(), 0, address_of(new_one).c_str());
  return asking.ask(get((kind == Kind::failing ? "/failing/" : "/good/") + number, lines)).status();
}

// As a word, of a sound client "refused" if it was at least once.
Outcome ask_for_long(Stand& stand, Client client, Course& course) {
  const bool is_sound = kind_of(client) != Kind::failing;
  Outcome outcome{is_sound ? "200" : "500", 0, {}};
  const Event never;
  const Deadline deadline(kUntilSeen);
  try {
    do {
      const int status = status_of_next(stand, client, course);
      ++outcome.requests;
      if (is_sound && status == 503) outcome.word = "refused";
      if (is_sound && status != 200 && status != 503) outcome.word = std::to_string(status);
      if (kind_of(client) == Kind::p1 && status == 503) course.refused = true;
      never.wait(kPace);
    } while (goes_on(course, client, outcome) && !deadline.passed());
  } catch (const std::exception& error) {
    outcome.word = "WRONG: " + std::string(error.what()).substr(0, 200);
  }
  if (deadline.passed()) outcome.word = "WRONG: it did not come";
  if (is_sound && client.number / kClients > kUntilGivenUp) ++course.sound_done;
  return outcome;
}

json state_of_upstream(Stand& stand) {
  RawClient admin(stand.proxy().admin_port());
  return json::parse(
      admin.ask("GET /state HTTP/1.1\r\nHost: localhost\r\n\r\n").body)["upstreams"][0];
}

json settings(bool regulates) {
  const auto class_named = [](const char* name) -> json {
    return {{"name", name}, {"sla_ms", 60'000}, {"max_wait_ms", 60'000}};
  };
  // Only errors are judged: what a busy machine does to the other signals is no fault here.
  return {{"trusted_peers", {"127.0.0.0/8"}},
          {"trusted_headers", {{"priority", "X-Priority"}, {"tenant", "X-Tenant"}}},
          {"classes", {class_named("P0"), class_named("P1"), class_named("P2")}},
          {"default_route", {{"class", "P1"}}},
          {"overload",
           {{"regulate", regulates},
            {"enter",
             {{"error_rate", kErrorRate},
              {"inflight_ratio", 1.0},
              {"queue_ratio", 1.0},
              {"queue_wait_p95_ms", 60'000},
              {"latency_p95_ratio", 1000.0},
              {"event_loop_lag_ms", 60'000}}},
            {"exit", {{"error_rate", kErrorRate / 2}}}}}};
}

// P0 is refused nothing, ever; the others only until refusing was given up.
bool may_end_with(Client client, const std::string& word) {
  switch (kind_of(client)) {
    case Kind::failing: return word == "500";
    case Kind::p0: return word == "200";
    case Kind::p1:
    case Kind::p2: break;
  }
  const bool may_be_refused = client.number / kClients <= kUntilGivenUp;
  return word == "200" || (may_be_refused && word == "refused");
}

Row many_ask_for_what_fails(bool regulates) {
  const auto course = std::make_shared<Course>();
  course->waits_until_given_up = regulates;
  Row row{.name = "many clients ask for what fails",
          .settings = {.changes = settings(regulates)},
          .client = [course](Stand& stand,
                             Client client) { return ask_for_long(stand, client, *course); },
          .allows = may_end_with,
          .must = "refused",
          .at_peers = {.first_round = kUntilGivenUp + 1,
                       .must_be_seen = false,
                       .is_other = [](Client client) { return kind_of(client) != Kind::failing; }}};
  // The errors still go on: refusals have not ended for lack of them.
  const auto seen_failing = std::make_shared<std::atomic<bool>>(true);
  row.meanwhile = [course, seen_failing](Stand& stand, std::size_t round,
                                         const std::function<bool()>& at_it) {
    if (!stand.is_spillway()) return;  // the others refuse nothing for errors
    const Event never;
    bool fails = false;
    while (at_it()) {
      const json upstream = state_of_upstream(stand);
      if (upstream["reason"] == "SHEDDING_DOES_NOT_HELP") course->given_up = true;
      const json& rate = upstream["signals"]["error_rate"]["value"];
      fails = fails || (rate.is_number() && rate.get<double>() >= kErrorRate);
      never.wait(kPace);
    }
    if (round > kUntilGivenUp && !fails) *seen_failing = false;
  };
  row.besides = [seen_failing](Stand&) -> std::string {
    return *seen_failing ? "" : "the errors ended before refusing was given up";
  };
  return row;
}

// Where those that ask for what fails come from.
enum class From {
  one_address,
  one_network,  // of 24 bits: each time from another address, for another path
};

// How many of all requests fail.
enum class Part { one_of_four, four_of_five };

bool asks_for_what_fails(Client client, Part part) {
  return part == Part::one_of_four ? client.place % 4 == 3 : client.place % 5 != 4;
}

std::size_t number_of_others(Part part) {
  std::size_t others = 0;
  for (std::size_t n = 0; n < kClients; ++n) others += !asks_for_what_fails({n, n}, part);
  return others;
}

// What one client, or the clients of one network, ask for, and get while they are not refused.
struct Failing {
  std::string name;
  std::string path;
  std::string must;
  std::string refused;
  json changes;
  From from = From::one_address;
  Part part = Part::one_of_four;
};

std::string ask_for_failing(Stand& stand, const Failing& failing, Client client, std::size_t time) {
  const bool is_network = failing.from == From::one_network;
  const std::size_t number = client.number + (is_network ? 1000 * time : 0);
  const std::string address =
      is_network ? "127.0.7." + std::to_string(1 + number % 250) : "127.0.0.2";
  RawClient asking(stand.port(), 0, address.c_str());
  const std::string request = get(failing.path + std::to_string(number), "Connection: close\r\n");
  return std::to_string(asking.ask(request).status());
}

// Some ask for what fails while the others, each of another network, ask for what is sound. They
// may be refused, the others may not.
Row some_ask_for(const Failing& failing) {
  constexpr std::size_t kGoodTimes = 50;
  constexpr Milliseconds kShortPace{20};
  const std::size_t others = number_of_others(failing.part);
  const auto fails = [part = failing.part](Client client) {
    return asks_for_what_fails(client, part);
  };
  const auto begun = std::make_shared<Meeting>();
  const auto answered = std::make_shared<Meeting>();
  const auto is_over = [=](Client client, Milliseconds within) {
    return answered->wait_for((rounds_begun(client) - 1) * others + 1, within);
  };
  // Answers since all were there. The others wait where too few of them fail, on a slow machine.
  const auto failed = std::make_shared<std::atomic<std::size_t>>(0);
  const auto succeeded = std::make_shared<std::atomic<std::size_t>>(0);
  const auto await_failures = [=, part = failing.part](Client client) {
    const Deadline deadline;
    while (part == Part::four_of_five && *failed < 4 * *succeeded && !deadline.passed() &&
           !is_over(client, kShortPace)) {
    }
  };
  const auto ask_for_200 = [=](RawClient& asking, Client client, Outcome& outcome) {
    const Event never;
    while (outcome.requests < kGoodTimes) {
      const Message answer =
          asking.ask(get("/good/" + std::to_string(3 * client.number)));  // short
      ++outcome.requests;
      outcome.word = std::to_string(answer.status());
      outcome.detail = answer.body;
      if (outcome.requests == kGoodTimes / 4) begun->arrive();
      if (outcome.word != "200") return;
      never.wait(kShortPace);
      if (outcome.requests < kGoodTimes / 4) continue;
      ++*succeeded;
      await_failures(client);
    }
  };
  // At the pace of the others, until the first of them is done.
  const auto ask_meanwhile = [=](Stand& stand, Client client, Outcome& outcome) {
    begun->wait_for(rounds_begun(client) * others, kPatience);
    while (!is_over(client, kShortPace)) {
      outcome.word = ask_for_failing(stand, failing, client, outcome.requests);
      ++outcome.requests;
      ++*failed;
    }
  };
  return {.name = failing.name,
          .settings = {.changes = failing.changes},
          .client = [=, must = failing.must](Stand& stand, Client client) -> Outcome {
            Outcome outcome{must, 0, {}};
            try {
              if (fails(client)) {
                ask_meanwhile(stand, client, outcome);
                return outcome;
              }
              const std::string address = "127.0." + std::to_string(100 + client.place) + ".1";
              RawClient asking(stand.port(), 0, address.c_str());
              const Arrival end(*answered);
              ask_for_200(asking, client, outcome);
            } catch (const std::exception& error) {
              outcome.word = "WRONG: " + std::string(error.what()).substr(0, 200);
            }
            return outcome;
          },
          .allows =
              [=, must = failing.must, refused = failing.refused](Client client,
                                                                  const std::string& word) {
                return fails(client) ? word == must || word == refused : word == "200";
              },
          .must = failing.must,
          .at_peers = {.is_other = [fails](Client client) { return !fails(client); }}};
}

// Only errors are judged, soon, and a burst refuses all of P1: the lag of a busy machine is no
// fault here.
Row some_ask_for_what_fails(const std::string& who, From from, Part part = Part::one_of_four) {
  return some_ask_for({.name = who + " for what fails" +
                               (part == Part::four_of_five ? ", of five requests four" : ""),
                       .path = "/failing/",
                       .must = "500",
                       .refused = "429",
                       .changes = {{"classes", json::array({{{"name", "P0"}},
                                                            {{"name", "P1"}, {"sla_ms", 60'000}}})},
                                   {"default_route", {{"class", "P1"}}},
                                   {"overload",
                                    {{"regulate", false},
                                     {"tick_ms", 20},
                                     {"window_ms", 400},
                                     {"enter",
                                      {{"error_rate", 0.05},
                                       {"event_loop_lag_ms", 60'000},
                                       {"latency_p95_ratio", 1000.0}}},
                                     {"exit", {{"error_rate", 0.02}}}}}},
                       .from = from,
                       .part = part});
}

Row one_breaks_the_backend() {
  json changes = {{"overload", {{"enter", {{"event_loop_lag_ms", 60'000}}}}}};
  changes["app"]["circuit_breaker"] = {{"consecutive_failures", 5}, {"min_samples", 20}};
  return some_ask_for({.name = "one client's requests end without a response",
                       .path = "/resets-before-head/",
                       .must = "502",
                       .refused = "429",
                       .changes = changes});
}

}  // namespace

std::vector<Row> error_rows() {
  return {some_ask_for_what_fails("one client asks", From::one_address),
          some_ask_for_what_fails("one client asks", From::one_address, Part::four_of_five),
          some_ask_for_what_fails("clients of one network ask", From::one_network),
          one_breaks_the_backend(), many_ask_for_what_fails(true)};
}

Row refused_for_errors_that_stay() { return many_ask_for_what_fails(false); }

}  // namespace spillway::faults
