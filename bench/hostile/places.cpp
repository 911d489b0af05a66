#include "bench/hostile/places.hpp"

#include <stdexcept>
#include <string_view>

namespace spillway::hostile {
namespace {

// The line that begins so, or the first one before which there is none.
void set_line(std::string& text, std::string_view line, const std::string& value,
              std::string_view after) {
  const std::string start = "\n" + std::string(line);
  std::size_t begin = text.find(start);
  std::size_t end = begin;
  if (begin == std::string::npos) {
    begin = text.find("\n" + std::string(after));
    if (begin == std::string::npos)
      throw std::invalid_argument("no line begins with " + std::string(after));
    end = begin = text.find('\n', begin + 1);
  } else {
    end = text.find('\n', begin + 1);
  }
  text.replace(begin, end - begin, start + value);
}

}  // namespace

std::string with_places(bench::Program program, std::string text, std::size_t clients) {
  using bench::Program;
  const std::string number = std::to_string(clients);
  switch (program) {
    case Program::spillway:
      set_line(text, "  \"limits\": ", "{ \"connections\": " + number + " },", "{");
      break;
    case Program::haproxy: set_line(text, "  maxconn ", number, "global"); break;
    case Program::nginx:
      set_line(text, "events ",
               "{ worker_connections " + std::to_string(clients + kBesideClients) + "; }",
               "error_log");
      break;
    case Program::none: break;
  }
  return text;
}

}  // namespace spillway::hostile
