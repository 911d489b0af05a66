// The texts of a job: the head of its request as stored and as sent, and the fields of its
// answer.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "http/message/head.hpp"
#include "jobs/job_id.hpp"

namespace spillway::jobs {

// `forwarded`: the head as it would go to the upstream now (http::write_request_head). Fields about
// this connection or this moment are left out: Prefer, Expect, TE, Trailer, Connection, and the
// framing, which is replaced by the Content-Length of the content. Empty if it is not a head.
std::string stored_head(std::string_view forwarded, http::Verb method, std::uint64_t content);

// The head of an attempt: the stored head, plus `Spillway-Attempt: N`, and `Idempotency-Key: "id"`
// unless the client sent one.
void head_for_attempt(std::string_view stored, const JobId& id, std::uint32_t attempt,
                      std::string& out);

// The end-to-end fields of an answer as lines, without the framing fields.
std::string stored_fields(const http::ResponseHead& head);

}  // namespace spillway::jobs
