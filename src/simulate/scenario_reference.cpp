#include "simulate/scenario_reference.hpp"

#include "config/reference_writer.hpp"
#include "simulate/scenario_description.hpp"

namespace spillway::simulate {

std::string scenario_reference() {
  Scenario prototype;
  config::Dump dump(prototype.config);
  return config::reference_of(prototype, dump);
}

}  // namespace spillway::simulate
