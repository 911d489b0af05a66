#include "system/faults/at_peers.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <numeric>
#include <thread>

namespace spillway::faults {

namespace {

// Rows at a time of each: they wait for most of it.
constexpr std::size_t kAtATime = 2;
constexpr std::size_t kMostOfAWord = 60;

// A word fit for a cell: on one line, and the same for bodies of any size.
std::string in_cell(std::string word) {
  if (word == "hangs") {
    return "nothing within " + std::to_string(kPatienceWithPeers.count() / 1000) + " s";
  }
  const std::string wrong = "WRONG: ";
  const std::size_t after = word.find(" bytes that are not its own");
  if (word.starts_with(wrong) && after != std::string::npos) word = wrong + word.substr(after + 1);
  for (char& c : word) {
    if (static_cast<unsigned char>(c) < ' ' || c == '|') c = ' ';
  }
  return word.substr(0, kMostOfAWord);
}

std::size_t sum(const PeerResult::Words& words) {
  return std::accumulate(words.begin(), words.end(), std::size_t{0},
                         [](std::size_t before, const auto& each) { return before + each.second; });
}

// Most often first.
std::string in_cell(const PeerResult::Words& words) {
  PeerResult::Words merged;
  for (const auto& [word, times] : words) merged[in_cell(word)] += times;
  std::vector<std::pair<std::string, std::size_t>> all(merged.begin(), merged.end());
  std::ranges::stable_sort(all, std::ranges::greater{},
                           [](const auto& each) { return each.second; });
  std::string text;
  for (const auto& [word, times] : all) {
    text += (text.empty() ? "" : ", ") + word + " x " + std::to_string(times);
  }
  return text;
}

// What is lost for a moment is no harm that lasts.
std::string word_at_last(Stand& stand, const std::string& target) {
  constexpr int kTimes = 3;
  std::string word;
  for (int n = 0; n < kTimes && word != "200"; ++n) {
    word = stand.ask(0, {.target = target, .next = target}).word;
  }
  return word;
}

void play_rounds(const Row& row, Stand& stand, PeerResult& result) {
  const AtPeers& at_peers = row.at_peers;
  bool is_seen = row.must.empty() || !at_peers.must_be_seen;
  for (std::size_t n = 0; n < at_peers.rounds; ++n) {
    std::vector<Seen> round = play_round(row, stand, at_peers.first_round + n);
    for (Seen& seen : round) {
      seen.is_allowed =
          seen.is_allowed || (at_peers.allows && at_peers.allows(seen.client, seen.outcome.word));
    }
    add(round, at_peers.is_other, result);
    is_seen = is_seen || std::ranges::any_of(round, [&](const Seen& seen) {
                return seen.outcome.word == row.must;
              });
  }
  const auto besides = [&](std::string what) {
    if (!what.empty()) result.besides.push_back(std::move(what));
  };
  if (!is_seen) besides(row.must + " not seen");
  if (row.at_backends) besides(row.at_backends(stand));
  for (const std::string& target : {row.afterwards, std::string("/sound/1")}) {
    const std::string word = word_at_last(stand, target);
    if (word != "200") besides("afterwards " + target + ": " + in_cell(word));
  }
  result.requests = stand.requests();
}

}  // namespace

void add(const std::vector<Seen>& round, const std::function<bool(Client)>& is_other,
         PeerResult& result) {
  for (const Seen& seen : round) {
    const bool is_of_others = is_other && is_other(seen.client);
    ++result.clients;
    result.others += is_of_others;
    if (!seen.is_allowed) ++(is_of_others ? result.lost : result.amiss)[seen.outcome.word];
  }
}

std::string cell(const PeerResult& result) {
  if (!result.was_played()) return "- (" + result.not_because + ")";
  const std::string others =
      "others lose " + std::to_string(sum(result.lost)) + " of " + std::to_string(result.others);
  if (result.holds()) return result.others == 0 ? "holds" : "holds (" + others + ")";
  std::vector<std::string> parts;
  if (result.others > 0) {
    parts.push_back(others);
    if (!result.lost.empty()) parts.back() += ": " + in_cell(result.lost);
  }
  if (!result.amiss.empty()) {
    parts.push_back(in_cell(result.amiss) + " of " +
                    std::to_string(result.clients - result.others));
  }
  for (const std::string& each : result.besides) parts.push_back(in_cell(each));
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : "; ") + part;
  return text;
}

PeerResult play_at(Peer peer, const Row& row) {
  PeerResult result{.not_because = row.at_peers.not_because};
  if (!result.was_played()) return result;
  try {
    Wanted wants = wanted(row.settings.changes);
    if (row.at_peers.adjust) row.at_peers.adjust(wants);
    Stand stand(row.settings, peer, wants);
    play_rounds(row, stand, result);
  } catch (const std::exception& error) {
    result.besides.emplace_back(error.what());
  }
  return result;
}

std::vector<std::vector<PeerResult>> play_at_peers(
    Rows rows, const std::function<bool(const std::string&)>& is_wanted) {
  std::vector<std::vector<PeerResult>> results(std::size(kPeers));
  std::vector<std::vector<Row>> theirs(std::size(kPeers));
  std::vector<std::atomic<std::size_t>> next(std::size(kPeers));
  std::vector<std::thread> players;
  for (std::size_t p = 0; p < std::size(kPeers); ++p) {
    theirs[p] = rows();
    std::erase_if(theirs[p], [&](const Row& row) { return !is_wanted(row.name); });
    results[p].resize(theirs[p].size());
    for (std::size_t n = 0; n < kAtATime; ++n) {
      players.emplace_back([&, p] {
        for (std::size_t at = next[p]++; at < theirs[p].size(); at = next[p]++) {
          results[p][at] = play_at(kPeers[p], theirs[p][at]);
        }
      });
    }
  }
  for (std::thread& player : players) player.join();
  return results;
}

}  // namespace spillway::faults
