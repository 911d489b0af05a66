// Whether clients and server of a script do nothing but what the proxy has to serve.
#pragma once

#include "fuzz/connection/script.hpp"

namespace spillway::fuzz {

// Every message is right, every answer comes whole and at once, each client reads and stays, and
// less time passes than the shortest timeout of the world. So the proxy has no reason to answer a
// complete request itself. Where a message is unusual but right, the script may count as faulty:
// what is asked of the others is asked without exception.
bool keeps_every_promise(const Script& script);

}  // namespace spillway::fuzz
