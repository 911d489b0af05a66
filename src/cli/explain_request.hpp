// What `spillway explain` says of fields by which a client asks for something that it may not get:
// a deadline that cannot be read, another protocol.
#pragma once

#include "cli/explain_lines.hpp"
#include "config/config.hpp"
#include "http/head.hpp"
#include "traffic/classify.hpp"

namespace spillway {

// Nothing where each deadline field that came is valid.
void tell_ignored_deadlines(ExplainedLines& lines, const http::RequestHead& head,
                            const traffic::DeadlineFields& valid);

// Nothing without an Upgrade field.
void tell_upgrade(ExplainedLines& lines, const config::Config& config,
                  const http::RequestHead& head, const traffic::Subject& subject);

}  // namespace spillway
