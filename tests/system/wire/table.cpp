#include "system/wire/table.hpp"

#include <atomic>
#include <exception>
#include <thread>

#include "system/wire/play.hpp"

namespace spillway::conformance {

std::vector<Column> play_all(const std::vector<Case>& cases, const std::vector<Subject>& subjects) {
  std::vector<Column> columns(subjects.size(), Column(cases.size()));
  std::vector<std::atomic<std::size_t>> next(subjects.size());
  std::vector<std::thread> players;
  for (std::size_t s = 0; s < subjects.size(); ++s) {
    for (const Lane& lane : subjects[s].lanes) {
      players.emplace_back([&, s, lane] {
        for (std::size_t n = next[s]++; n < cases.size(); n = next[s]++) {
          const std::uint16_t port = cases[n].is_trusted() ? lane.trusting_port : lane.port;
          try {
            columns[s][n] =
                cases[n].wrong_with(play(cases[n], port, *lane.backend, subjects[s].patience));
          } catch (const std::exception& exception) {
            columns[s][n] = exception.what();
          }
        }
      });
    }
  }
  for (std::thread& player : players) player.join();
  return columns;
}

std::string printed(const std::vector<Case>& cases, const std::vector<Subject>& subjects,
                    const std::vector<Column>& columns) {
  std::vector<support::HeldRow> rows;
  for (const Case& each : cases)
    rows.push_back({each.sentence(), each.section(), each.level(), each.reason()});
  std::vector<support::HeldColumn> held;
  for (std::size_t i = 0; i < subjects.size(); ++i) held.push_back({subjects[i].name, columns[i]});
  return support::held_table(rows, held);
}

}  // namespace spillway::conformance
