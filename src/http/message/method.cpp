#include "http/message/method.hpp"

#include <algorithm>
#include <array>

#include "http/field/ascii.hpp"

namespace spillway::http {

bool is_disguised(Verb method, std::string_view name) {
  std::array<char, 16> capitals;  // longer than any standard method that Beast knows
  if (method != Verb::unknown || name.size() > capitals.size()) return false;
  std::transform(name.begin(), name.end(), capitals.begin(), to_upper);
  return boost::beast::http::string_to_verb({capitals.data(), name.size()}) != Verb::unknown;
}

}  // namespace spillway::http
