// Prints the admin listener's replies about deferred requests to a terminal. Texts from clients are
// printed without control characters.
#pragma once

#include <iosfwd>
#include <nlohmann/json.hpp>

namespace spillway {

void print_jobs_heading(std::ostream& out);
void print_job_row(std::ostream& out, const nlohmann::json& job);
void print_inspected_job(std::ostream& out, const nlohmann::json& job);

}  // namespace spillway
