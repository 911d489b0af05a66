// A backend that does wrong what it can: each fault asked for in all ways at once.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "system/faults/row.hpp"

namespace spillway::faults {

using nlohmann::json;

namespace {

using Words = std::vector<std::string>;

bool is_among(const Words& words, const std::string& word) {
  return std::ranges::find(words, word) != words.end();
}

bool is_head(std::size_t way) { return method_of(way) == "HEAD"; }

// Each client asks for what the backend does wrong, and then for something good. Of another backend
// where this one has a short time to answer: on a busy machine a good answer may take as long.
Row asks(const std::string& fault, Words words, Words words_to_head = {}, json changes = {}) {
  const std::string target = "/" + fault + "/";
  const bool is_hurried = changes.contains("app") && changes["app"].contains("response_timeout_ms");
  const std::string next = is_hurried ? "/sound/" : "/good/";
  return {.name = fault,
          .settings = {.changes = changes.is_null() ? json::object() : changes},
          .client =
              [target, next](Stand& stand, Client client) {
                const std::string number = std::to_string(client.number);
                return stand.ask(client.place, {.target = target + number, .next = next + number});
              },
          .allows =
              [words, words_to_head](Client client, const std::string& word) {
                return is_among(words, word) ||
                       (is_head(client.place) && is_among(words_to_head, word));
              },
          .must = words.front(),
          .at_backends = [target](Stand& stand) -> std::string {
            for (std::size_t n = 0; n < kRounds * kClients; ++n) {
              const std::string one = target + std::to_string(n);
              if (!is_idempotent(n) && stand.backend.times_asked(one) > 1) {
                return one + " was sent " + std::to_string(stand.backend.times_asked(one)) +
                       " times though it is a POST";
              }
            }
            return {};
          }};
}

json with_response_timeout(int milliseconds) {
  return {{"app", {{"response_timeout_ms", milliseconds}}}};
}

// With a budget for all of them: what may be sent again is, and only that.
Row fails_once() {
  const json retries = {{"budget_ratio", 2}, {"budget_per_second", 100'000}};
  Row row = asks("resets-first-time", {"200"}, {}, {{"app", {{"retries", retries}}}});
  row.allows = [](Client client, const std::string& word) {
    const std::size_t way = client.place % kWays;
    return word == (is_idempotent(way) && way != 5 ? "200" : "502");
  };
  // Who keeps a large body may send it again.
  row.at_peers.allows = [](Client client, const std::string& word) {
    return client.place % kWays == 5 && word == "200";
  };
  return row;
}

// Requests that may fail by a connection that went stale: those that must not be sent twice, or
// whose body is gone by then.
Row goes_stale(const std::string& fault) {
  Row row = asks(fault, {"200"});
  row.allows = [](Client client, const std::string& word) {
    const std::size_t way = client.place % kWays;
    return word == "200" || (word == "502" && (!is_idempotent(way) || way == 5));
  };
  return row;
}

// The same by one of two servers: what breaks after the head of an answer counts as well, and one
// of them is left out.
Row ejects(const std::string& fault, Words words, Words words_to_head) {
  Row row = asks(fault, std::move(words), std::move(words_to_head), with_response_timeout(1000));
  row.name += "-of-two";
  row.settings.more_backends = 1;
  row.settings.changes["app"]["ejection"] = {{"consecutive_failures", 1}};
  row.besides = [](Stand& stand) -> std::string {
    const double ejections = stand.scrape().sum("spillway_server_ejections_total");
    return ejections == 0 ? "no server was ejected" : "";
  };
  return row;
}

// Others, who ask for nothing but what is good, where one of two servers does this to all of them:
// once the first have lost an answer by it, none does. The time is one that a busy machine keeps.
Row breaks_for_others(const std::string& fault) {
  const bool is_waited_for = fault.starts_with("stalls");
  Row row = asks("good", {"200"}, {}, with_response_timeout(is_waited_for ? 2000 : 10'000));
  row.name = "one of two servers " + fault;
  return beside_one_that(fault, std::move(row), "200", {"aborted", "502", "504"});
}

// The same where it is the only one: its circuit opens, and what comes then is refused at once.
Row opens_the_circuit(const std::string& fault) {
  Row row = asks(fault, {"503", "aborted", "502", "504"}, {"200"}, with_response_timeout(1000));
  row.name += "-opens-circuit";
  row.settings.changes["app"]["circuit_breaker"] = {
      {"consecutive_failures", 3}, {"open_ms", 600'000}, {"max_open_ms", 600'000}};
  row.afterwards = "/sound/0";
  row.besides = [](Stand& stand) -> std::string {
    const Scrape scrape = stand.scrape();
    if (scrape.sum("spillway_server_circuit_open", "upstream=\"app\"") == 0)
      return "no circuit is open";
    if (scrape.sum("spillway_server_circuit_open", "upstream=\"sound\"") != 0)
      return "a circuit of the sound server is open";
    return {};
  };
  return row;
}

}  // namespace

std::vector<Row> backend_rows() {
  // A head that is lost is 502; after it the client has been promised a body.
  const Words lost{"502"};
  const Words late{"504"};
  const Words lost_or_aborted{"502", "aborted"};
  const Words late_or_aborted{"aborted", "504"};
  const Words fine{"200"};
  std::vector<Row> rows{
      asks("resets-at-once", lost),
      asks("resets-before-head", lost),
      fails_once(),
      asks("resets-in-head", lost),
      asks("resets-after-head", {"aborted", "502"}, fine),
      asks("resets-in-body", {"aborted", "502"}, fine),
      asks("closes-before-head", lost),
      asks("closes-in-head", lost),
      asks("truncates-length", {"aborted", "502"}, fine),
      asks("truncates-chunk", {"aborted", "502"}, fine),
      asks("truncates-trailer", {"aborted", "502"}, fine),
      asks("stalls-before-head", late, {}, with_response_timeout(1000)),
      asks("stalls-in-head", late, {}, with_response_timeout(1000)),
      asks("stalls-in-body", late_or_aborted, fine, with_response_timeout(1000)),
      asks("stalls-in-chunk", late_or_aborted, fine, with_response_timeout(1000)),
      asks("stalls-in-trailer", late_or_aborted, fine, with_response_timeout(1000)),
      asks("trickles-in-head", late, {}, with_response_timeout(1000)),
      asks("trickles-interim", late, {}, with_response_timeout(1000)),
      asks("garbage-no-http", lost),
      asks("garbage-status", lost),
      asks("garbage-length", lost),
      asks("garbage-two-lengths", lost),
      asks("garbage-nul", lost),
      asks("garbage-chunk", lost_or_aborted, fine),
      asks("answers-twice", fine),
      goes_stale("closes-after-answer"),
      goes_stale("closes-stale"),
      goes_stale("resets-stale"),
      asks("answers-early-goes-on", fine),
      goes_stale("answers-early-closes"),
      asks("answers-early-resets", {"200", "502", "aborted"}),
      asks("floods-many-fields", lost),
      asks("floods-one-field", lost),
      asks("floods-interim", lost),
      asks("floods-trailer", {"502", "aborted"}, fine),
      asks("floods-chunk-size", {"502", "aborted"}, fine),
  };
  Row in_request =
      asks("stalls-in-request", late, {},
           {{"app", {{"response_timeout_ms", 300}}}, {"limits", {{"idle_timeout_ms", 600}}}});
  in_request.client = [](Stand& stand, Client client) {
    const std::string number = std::to_string(client.number);
    return stand.ask(client.place, {.target = "/stalls-in-request/" + number, .body = 8'000'000});
  };
  rows.push_back(std::move(in_request));
  for (const char* const fault :
       {"resets-in-body", "truncates-length", "truncates-chunk", "truncates-trailer",
        "stalls-in-body", "stalls-in-chunk", "stalls-in-trailer", "resets-after-head"})
    rows.push_back(ejects(fault, {"aborted", "502", "504"}, fine));
  for (const char* const fault : {"garbage-chunk", "floods-trailer", "floods-chunk-size"})
    rows.push_back(ejects(fault, {"502", "aborted"}, fine));
  rows.push_back(opens_the_circuit("truncates-length"));
  for (const char* const fault : {"truncates-length", "stalls-in-body", "truncates-trailer"})
    rows.push_back(breaks_for_others(fault));
  return rows;
}

}  // namespace spillway::faults
