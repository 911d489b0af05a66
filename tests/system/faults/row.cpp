#include "system/faults/row.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <exception>
#include <thread>
#include <utility>

#include "support/event.hpp"
#include "support/places.hpp"
#include "support/raw_client.hpp"

namespace spillway::faults {

using namespace support;

namespace {

// What it keeps for later grows up to the most that was needed at once, so that memory may grow in
// some rounds. In the last two it grows by no more than this: 4 KiB lost by each request are more.
constexpr long kMostGrowthKib = 512;
constexpr std::size_t kMostRounds = 12;
// It ends as soon as no client is there any more.
constexpr Milliseconds kUntilEnded{8000};

std::string in_words(const Seen& seen) {
  const std::size_t place = seen.client.place;
  return method_of(place) + " (way " + std::to_string(place % kWays) + ") saw " +
         seen.outcome.word + " " + seen.outcome.detail;
}

long memory_kib(Stand& stand) { return static_cast<long>(stand.proxy().memory() / 1024); }

// With a sanitizer what is freed stays in quarantine for a while.
const bool kMeasuresMemory = !support::is_sanitized();

// The proxy goes on as if nothing had been, and ends as it should.
std::string wrong_afterwards(const Row& row, Stand& stand) {
  for (const std::string& target : {row.afterwards, std::string("/sound/1")}) {
    const Outcome outcome = stand.ask(0, {.target = target, .next = target});
    if (outcome.word != "200") return "afterwards " + target + ": " + outcome.word;
  }
  stand.proxy().process().signal(SIGTERM);
  const auto exit_code = stand.proxy().process().wait(kUntilEnded);
  if (!exit_code) return "it does not end";
  if (*exit_code == 0) return {};
  return "exit code " + std::to_string(*exit_code) + ": " + stand.proxy().process().err();
}

// As many at once as the rows bring, so that what the proxy keeps for later is there already.
void warm_up(Stand& stand) {
  std::vector<std::thread> threads;
  for (std::size_t n = 0; n < kClients + kClients / 4; ++n) {
    threads.emplace_back([&stand, n] {
      stand.ask(n, {.target = "/sound/" + std::to_string(n)});
      stand.ask(4 + n % 2, {.target = "/sound/slow/" + std::to_string(n)});
    });
  }
  for (std::thread& thread : threads) thread.join();
}

void play_on(Stand& stand, const Row& row, Result& result) {
  warm_up(stand);
  stand.left_over();
  const double ended_before = stand.ended();
  std::size_t requests = 0;
  std::vector<long> memory;
  const auto trouble = [&result](std::string what) {
    if (!what.empty()) result.troubles.push_back(std::move(what));
  };
  for (std::size_t n = 0; n < kMostRounds; ++n) {
    for (const Seen& seen : play_round(row, stand, n)) {
      ++result.outcomes[seen.outcome.word];
      requests += seen.outcome.requests;
      if (!seen.is_allowed) trouble(in_words(seen));
    }
    trouble(stand.left_over());
    memory.push_back(memory_kib(stand));
    if (n + 1 < kRounds) continue;
    result.grown_kib = memory[n] - memory[n - 2];
    if (!kMeasuresMemory || result.grown_kib <= kMostGrowthKib) break;
  }
  if (kMeasuresMemory && result.grown_kib > kMostGrowthKib) {
    trouble("memory still grows, by " + std::to_string(result.grown_kib) + " KiB in two rounds");
  }
  const double counted = stand.ended() - ended_before;
  if (row.is_counted && counted != static_cast<double>(requests)) {
    trouble(std::to_string(requests) + " requests, " +
            std::to_string(static_cast<std::size_t>(counted)) + " counted");
  }
  if (!row.must.empty() && !result.outcomes.contains(row.must))
    trouble("no client saw " + row.must);
  if (row.at_backends) trouble(row.at_backends(stand));
  if (row.besides) trouble(row.besides(stand));
  trouble(wrong_afterwards(row, stand));
}

}  // namespace

std::vector<Seen> play_round(const Row& row, Stand& stand, std::size_t number) {
  std::vector<Seen> all(kClients);
  std::atomic<std::size_t> at_it = kClients;
  std::vector<std::thread> threads;
  for (std::size_t place = 0; place < kClients; ++place) {
    threads.emplace_back([&, place] {
      const Client client{number * kClients + place, place};
      const Outcome outcome = row.client(stand, client);
      all[place] = {client, outcome, row.allows(client, outcome.word)};
      --at_it;
    });
  }
  if (row.meanwhile) row.meanwhile(stand, number, [&] { return at_it > 0; });
  for (std::thread& thread : threads) thread.join();
  return all;
}

Result play(const Row& row) {
  Result result;
  const auto begin = std::chrono::steady_clock::now();
  Stand stand(row.settings);
  try {
    play_on(stand, row, result);
  } catch (const std::exception& error) {  // it does not answer its operator any more
    const auto exit_code = stand.proxy().process().wait(Milliseconds{500});
    result.troubles.push_back(std::string(error.what()) + ", exit code " +
                              std::to_string(exit_code.value_or(-1)) + ": " +
                              stand.proxy().process().err());
  }
  result.milliseconds = std::chrono::duration_cast<std::chrono::milliseconds>(
                            std::chrono::steady_clock::now() - begin)
                            .count();
  return result;
}

Row beside_one_that(const std::string& fault, Row row, const std::string& good,
                    std::vector<std::string> at_first) {
  const auto is_later = [](Client client) { return client.number >= kClients; };
  row.settings.more_backends = 1;
  row.settings.last_always = fault;
  row.settings.changes["app"]["ejection"] = {{"consecutive_failures", 1}, {"base_ms", 300'000}};
  row.allows = [=, words = std::move(at_first)](Client client, const std::string& word) {
    return word == good || (!is_later(client) && std::ranges::find(words, word) != words.end());
  };
  row.besides = [](Stand& stand) -> std::string {
    const double ejections = stand.scrape().sum("spillway_server_ejections_total");
    return ejections == 1 ? "" : "not one server was ejected";
  };
  row.at_peers.rounds = 2;
  row.at_peers.is_other = is_later;
  return row;
}

std::function<bool(Client, const std::string&)> any_of(std::vector<std::string> words) {
  return [words = std::move(words)](Client, const std::string& word) {
    return std::ranges::find(words, word) != words.end();
  };
}

std::string printed(const std::vector<Row>& rows, const std::vector<Result>& results,
                    const std::vector<PeerColumn>& others) {
  std::string text = "| fault | clients | outcomes | left over | memory KiB | ms |";
  std::string line = "| --- | --- | --- | --- | --- | --- |";
  for (const PeerColumn& column : others) {
    text += " " + column.name + " |";
    line += " --- |";
  }
  text += "\n" + line + "\n";
  for (std::size_t n = 0; n < rows.size(); ++n) {
    const Result& result = results[n];
    std::string outcomes;
    std::size_t clients = 0;
    for (const auto& [word, times] : result.outcomes) {
      clients += times;
      outcomes += (outcomes.empty() ? "" : ", ") + word + " x " + std::to_string(times);
    }
    text += "| " + rows[n].name + " | " + std::to_string(clients) + " | " + outcomes + " | " +
            (result.troubles.empty() ? "nothing" : "TROUBLE") + " | " +
            (result.grown_kib > 0 ? "+" : "") + std::to_string(result.grown_kib) + " | " +
            std::to_string(result.milliseconds) + " |";
    for (const PeerColumn& column : others) text += " " + column.cells[n] + " |";
    text += "\n";
  }
  for (std::size_t n = 0; n < rows.size(); ++n) {
    for (const std::string& trouble : results[n].troubles) {
      text += "\n* " + rows[n].name + ": " + trouble;
    }
  }
  return text;
}

}  // namespace spillway::faults
