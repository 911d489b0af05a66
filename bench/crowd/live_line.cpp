#include "bench/crowd/live_line.hpp"

#include <fmt/format.h>

#include <cmath>

namespace spillway::crowd {
namespace {

std::string number(const std::optional<std::uint64_t>& value) {
  return value ? std::to_string(*value) : "-";
}

}  // namespace

std::string heading() {
  return "the crowd                                                         | site   | waiting "
         "room\n"
         "   s  waiting  inside  entered    gone  at the door  polls/s      |  200/s |  in line  "
         "called  sessions";
}

std::string line(const Second& second) {
  std::string text = fmt::format("{:4.0f} {:8} {:7} {:8} {:7} {:12} {:8}      | {:>6} |",
                                 std::ceil(to_seconds(second.at)), second.heads.waiting,
                                 second.heads.inside, second.entered, second.heads.gone,
                                 second.heads.refused, second.polls, number(second.answered));
  if (!second.room) return text;
  return text + fmt::format(" {:8} {:7} {:9}", second.room->waiting, second.room->processing,
                            second.room->sessions);
}

}  // namespace spillway::crowd
