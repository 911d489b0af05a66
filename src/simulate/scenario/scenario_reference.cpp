#include "simulate/scenario/scenario_reference.hpp"

#include "config/describe/reference_writer.hpp"
#include "simulate/scenario/scenario_description.hpp"

namespace spillway::simulate {

std::string scenario_reference() {
  Scenario prototype;
  config::Dump dump(prototype.config);
  return config::reference_of(prototype, dump);
}

}  // namespace spillway::simulate
