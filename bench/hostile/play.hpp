// Plays one cell: a fresh backend, a fresh contender before it, honest requests and the attack.
#pragma once

#include <string>

#include "bench/hostile/cell.hpp"
#include "bench/hostile/result.hpp"

namespace spillway::hostile {

struct Stage {
  bench::ProgramPaths programs;
  std::string configurations;  // the folder with the contenders' files
  std::string work;            // a folder for what they write, which others may read
  bool pinned = true;          // the proxy has a core, all else another
  bool late_is_fine = false;   // on a busy machine: figures although the load was late
  bool (*stopped)() = [] { return false; };  // true: end as soon as possible
};

// A cell that cannot be played or says nothing has a failure. Throws std::exception only for what
// ails the benchmark itself, such as a folder that cannot be written.
Result play(const Cell& cell, const Stage& stage);

}  // namespace spillway::hostile
