#include "suite.hpp"

namespace spillway::micro {

std::string size_name(std::size_t size) {
  std::size_t rest = size;
  int power = 0;
  for (; rest >= 10 && rest % 10 == 0; rest /= 10) ++power;
  return rest == 1 && power > 1 ? "10^" + std::to_string(power) : std::to_string(size);
}

}  // namespace spillway::micro
