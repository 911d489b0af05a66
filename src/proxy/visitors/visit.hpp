// Whether a request of a route with a waiting room is a visit, and whether another origin sent it.
#pragma once

#include "http/message/head.hpp"

namespace spillway::proxy {

// Whether a visitor wants to see the page. Pictures, scripts, forms, prefetches and the like are no
// visits: they get no ticket, or one visitor would have many (Fetch Metadata, W3C; Sec-Purpose).
// Nor do they claim a called ticket: the visitor would not see the first response of its session. A
// script of the site that shows that response sends the field Spillway-Enter.
bool is_visit(const http::RequestHead& head);

// A HEAD or a prefetch (Sec-Purpose, Purpose): it makes no ticket, whatever its path.
bool only_looks(const http::RequestHead& head);

// Decided by Sec-Fetch-Site, else by Origin, which has to name the host of Host, or the host that
// the browser requested from a trusted peer (X-Forwarded-Host; RFC 7239 section 5.3): a peer may
// rewrite Host. A request without these fields, as programs send it, counts as same-origin.
bool is_of_another_origin(const http::RequestHead& head, bool is_peer_trusted);

}  // namespace spillway::proxy
