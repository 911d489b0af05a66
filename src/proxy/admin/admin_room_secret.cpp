// The secret of visitors' tokens, one for all waiting rooms. It is never shown.
#include "jobs/time_text.hpp"
#include "proxy/admin/admin_rooms.hpp"

namespace spillway::proxy {

namespace beast_http = boost::beast::http;
using beast_http::status;

namespace {

nlohmann::ordered_json report_of(const waiting::TokenSecrets& secrets, waiting::Time now) {
  nlohmann::ordered_json members{
      {"number", secrets.number}, {"signs_from", nullptr}, {"former_until", nullptr}};
  if (secrets.number > 1) members["signs_from"] = jobs::to_text(secrets.since);
  if (secrets.accepts_former(now)) members["former_until"] = jobs::to_text(secrets.former_until());
  return members;
}

AdminResponse answer_to(const SecretReply& reply, waiting::Time now) {
  switch (reply.result) {
    case SecretResult::replaced: return json_page(report_of(reply.secrets, now));
    case SecretResult::under_way:
      return admin_problem(status::conflict,
                           "the former secret is accepted until " +
                               jobs::to_text(reply.secrets.former_until()) +
                               "; before that the secret can only be replaced at once");
    case SecretResult::not_written:
      return admin_problem(status::service_unavailable,
                           "the secret could not be written down; nothing has changed");
    case SecretResult::not_answered: break;
  }
  return admin_problem(status::service_unavailable,
                       "the store of waiting rooms does not answer; it may have been done");
}

}  // namespace

AdminResponse AdminRooms::secret(const AdminRequest& request, const RoomsPath& path,
                                 const std::string& client) const {
  const waiting::Time now = std::chrono::floor<Milliseconds>(std::chrono::system_clock::now());
  if (path.kind == RoomsPath::Kind::secret)
    return is_reading(request) ? json_page(report_of(source_.secrets(), now))
                               : wrong_method("GET, HEAD");
  if (auto refusal = refusal_of_change(request)) return std::move(*refusal);
  const auto read = read_replacement(request.body());
  if (const auto* const wrong = std::get_if<std::string>(&read))
    return admin_problem(status::bad_request, *wrong);
  return answer_to(source_.replace_secret(std::get<waiting::Replacement>(read), client), now);
}

}  // namespace spillway::proxy
