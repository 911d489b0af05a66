// What receives the load: a proxy with one of the configurations in bench/peers, or the bare
// backend.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace spillway::bench {

enum class Program : std::uint8_t { none, nginx, haproxy, spillway };

struct Contender {
  std::string_view name;  // as in result lines
  Program program = Program::none;
  std::string_view configuration;  // its file in bench/peers
  bool protects = true;  // false: the backend's queue may grow beyond the patience of clients
};

// nullptr: there is no such contender.
const Contender* find_contender(std::string_view name);

struct ProgramPaths {
  std::string spillway, nginx, haproxy;
};

// The command that runs it in the foreground with the configuration `file`; `folder` is for what it
// writes. Empty for the bare backend.
std::vector<std::string> command_of(const Contender& contender, const ProgramPaths& paths,
                                    const std::string& file, const std::string& folder);

}  // namespace spillway::bench
