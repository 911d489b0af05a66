// Messages between proxies through LISTEN and NOTIFY: that there are jobs in a lane, or that a job
// which another proxy holds was cancelled.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "jobs/job.hpp"
#include "store/contract/command.hpp"

namespace spillway::store {

// nullopt: it is too long to be sent.
std::optional<std::string> announcement(const jobs::Lane& lane);
// nullopt: it is from another program or another version.
std::optional<jobs::Lane> read_announcement(std::string_view text);

std::string announcement(const AskedCancel& cancel);
std::optional<AskedCancel> read_cancel(std::string_view text);

}  // namespace spillway::store
