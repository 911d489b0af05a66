// Which bytes may have appeared where.
//
// At the server:
// * each request is one that a strict reader finds in some client's bytes, with the same method,
//   marks and content; what was not complete there is not complete here;
// * those of one client come in their order, but for those for a shared target;
// * none comes twice, unless it is idempotent and the connection it came on before was closed
//   without a byte of an answer (RFC 9110 section 9.2.2);
// * behind a request that was answered with 101 (Switching Protocols) are the client's bytes as
// they
//   are, and none of them goes on as a request.
// At a client:
// * answers are framed in one way, one for each request at most, in their order; one more of the
//   proxy's own for what is no request; nothing follows the last;
// * the n-th is the proxy's own, free of others' marks, or is what the server sent for the n-th
//   request: its status and its content; one that the server did not complete is seen to be cut
//   off; or, at a shared target, is what the server sent for another request for the same and a
//   cache may keep (stored_answers.hpp);
// * behind 101, where that was asked for, are the server's bytes as they are;
// * a client that stays gets an answer to its first request;
// * where a script keeps every promise (promises.hpp), a client gets the server's answer to each
//   complete request until one closes the connection.
#pragma once

#include "fuzz/connection/script.hpp"
#include "fuzz/connection/world.hpp"

namespace spillway::fuzz {

// broken() unless all of that holds. After World::end(), of the world that played `script`.
void check_both_sides(const World& world, const Script& script);

}  // namespace spillway::fuzz
