#include "config/describe/reference.hpp"

#include "config/defaults.hpp"
#include "config/describe/reference_writer.hpp"

namespace spillway::config {

std::string reference_table() {
  Config prototype = defaults(default_classes().size());
  Dump dump(prototype);
  return reference_of(prototype, dump);
}

}  // namespace spillway::config
