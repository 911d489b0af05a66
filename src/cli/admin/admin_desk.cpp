#include "cli/admin/admin_desk.hpp"

#include <algorithm>

#include "cli/terminal/terminal_text.hpp"
#include "config/file/document.hpp"
#include "http/field/ascii.hpp"

namespace spillway {

namespace {

using nlohmann::json;

constexpr std::size_t kMaxToken = 4096;

// The first line of the file; nullopt if it cannot be read or does not contain a token.
std::optional<std::string> token_of(const std::string& path) {
  const config::FileText file = config::read_file(path, kMaxToken);
  if (!file.text) return std::nullopt;
  const std::string token(http::trim(file.text->substr(0, file.text->find_first_of("\r\n"))));
  const auto is_visible = [](char c) { return c > 0x20 && c < 0x7f; };
  if (token.empty() || token.size() > kMaxToken ||
      !std::all_of(token.begin(), token.end(), is_visible)) {
    return std::nullopt;
  }
  return token;
}

}  // namespace

std::optional<AdminDesk> AdminDesk::open(const AdminOptions& options, std::ostream& err) {
  const std::optional<AdminUrl> url = parse_admin_url(options.admin);
  if (!url) {
    err << "error: --admin must be a URL as http://127.0.0.1:9090\n";
    return std::nullopt;
  }
  std::string token;
  if (!options.token_file.empty()) {
    auto read = token_of(options.token_file);
    if (!read) {
      err << "error: " << options.token_file << " cannot be read, or its first line is no token\n";
      return std::nullopt;
    }
    token = std::move(*read);
  }
  return AdminDesk(AdminClient(*url, std::move(token)), options.json, err);
}

std::optional<json> AdminDesk::understood(const AdminReply& reply) {
  json body = json::parse(reply.body, nullptr, false);
  if (reply.status == 200 && body.is_object()) return body;
  std::string problem = reply.problem;
  if (reply.status != 0) {
    problem = reply.status == 200 ? "this is not Spillway's admin listener"
                                  : "the admin listener answers " + std::to_string(reply.status);
    if (body.is_object() && body.contains("detail") && body["detail"].is_string())
      problem += ": " + member(body, "detail");
  }
  outcome_ = reply.status == 400 ? AdminOutcome::bad_usage : AdminOutcome::failed;
  err_ << "error: " << problem << '\n';
  return std::nullopt;
}

AdminReply AdminDesk::post(const std::string& path, const json& body) const {
  return client_.post(path, body.dump(-1, ' ', false, json::error_handler_t::replace));
}

}  // namespace spillway
