#include "simulate/plot.hpp"

namespace spillway::simulate {

std::string plot(const Recording&, const Recording*) {
  return R"(<svg xmlns="http://www.w3.org/2000/svg" width="1200" height="100"/>)";
}

}  // namespace spillway::simulate
