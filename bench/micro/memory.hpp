// How much memory the long-lived parts hold, as the allocator counts it.
#pragma once

#include <iosfwd>

namespace spillway::micro {

// Prints the table of sizes.
void print_sizes(std::ostream& out);

}  // namespace spillway::micro
