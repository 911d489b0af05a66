// Explains request fields that may be ignored: deadlines and Upgrade.
#pragma once

#include "cli/explain/explain_lines.hpp"
#include "config/config.hpp"
#include "http/message/head.hpp"
#include "traffic/classify/classify.hpp"

namespace spillway {

// Deadline fields that are present but invalid.
void tell_ignored_deadlines(ExplainedLines& lines, const http::RequestHead& head,
                            const traffic::DeadlineFields& valid);

// Who it is to the waiting room of its route; says nothing of a route without one.
void tell_visitor(ExplainedLines& lines, const config::Config& config,
                  const http::RequestHead& head, const traffic::Classifier& classifier,
                  const traffic::Peer& peer, const traffic::Classification& classification);

// The Upgrade field, if there is one.
void tell_upgrade(ExplainedLines& lines, const config::Config& config,
                  const http::RequestHead& head, const traffic::Classification& classification);

}  // namespace spillway
