// What is asked so that each status that docs/openapi.yaml names comes once.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "support/message.hpp"

namespace spillway::api {

using Question = std::function<support::Message()>;
using Questions = std::map<std::string, Question>;  // by status: "GET /rooms 200"

}  // namespace spillway::api
