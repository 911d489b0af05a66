// The texts of a job: the head of its request as it is stored and as it is sent, and the fields of
// its answer.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "http/message/head.hpp"
#include "jobs/job_id.hpp"

namespace spillway::jobs {

// `forwarded`: the head as it would go to the upstream now (http::write_request_head). What
// concerns this connection or this moment is left out: Prefer, Expect, TE, Trailer, Connection, and
// the framing, in whose place comes the Content-Length of the content. Empty if it is no head.
std::string stored_head(std::string_view forwarded, http::Verb method, std::uint64_t content);

// The head of an attempt: the stored one, and `Spillway-Attempt: N`, and `Idempotency-Key: "id"`
// unless the client sent one.
void head_for_attempt(std::string_view stored, const JobId& id, std::uint32_t attempt,
                      std::string& out);

// The end-to-end fields of an answer as lines, without those that frame it.
std::string stored_fields(const http::ResponseHead& head);

}  // namespace spillway::jobs
