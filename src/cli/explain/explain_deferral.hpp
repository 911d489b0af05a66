// Explains what goes before the overload rule: a path that Spillway answers itself, a waiting room,
// and deferral.
#pragma once

#include "cli/explain/explain_rule.hpp"

namespace spillway {

// Whether Spillway itself answers the request: below own_path, for jobs and waiting rooms.
bool is_own_request(const config::Config& config, const http::RequestHead& head,
                    const traffic::Classification& classification);
void tell_own_request(ExplainedLines& lines, const config::Config& config);

// When visitors of its route wait; says nothing of a route without a waiting room.
void tell_waiting_room(ExplainedLines& lines, const RuledRequest& request);

// Whether a request is deferred before it is tried, whatever the state of its upstream.
enum class Deferral { none, before_it_is_tried, in_place_of_refusals };
Deferral tell_deferral(ExplainedLines& lines, const RuledRequest& request);
// The verdict on one that is deferred before it is tried.
void tell_deferred(ExplainedLines& lines, const RuledRequest& request);

}  // namespace spillway
