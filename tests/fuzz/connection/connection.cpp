// Any script of clients and a server at both ends of the proxy: each byte appears only where it may
// (oracle.hpp), and nothing is left in the end.
#include "fuzz/connection/oracle.hpp"
#include "fuzz/connection/script.hpp"
#include "fuzz/connection/world.hpp"
#include "fuzz/targets.hpp"

namespace spillway::fuzz {

void connection(std::string_view input) {
  const Script script = parse_script(input);
  World world;
  world.play(script);
  world.end();
  check_both_sides(world, script);
}

}  // namespace spillway::fuzz
