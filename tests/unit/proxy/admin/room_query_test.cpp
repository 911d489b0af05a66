#include "proxy/admin/room_query.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>

namespace spillway::proxy {
namespace {

const std::string kTicket = "00112233445566778899aabbccddeeff";

template <class Read>
std::string refused(const Read& read) {
  const auto* const text = std::get_if<std::string>(&read);
  return text == nullptr ? "" : *text;
}

std::string refused_query(std::string_view query) { return refused(read_tickets_query(query)); }

}  // namespace

TEST_CASE("the pages of waiting rooms are told by their paths") {
  using Kind = RoomsPath::Kind;
  CHECK(read_rooms_path("/rooms")->kind == Kind::rooms);
  CHECK(read_rooms_path("/rooms/sale")->kind == Kind::room);
  CHECK(read_rooms_path("/rooms/sale")->room == "sale");
  CHECK(read_rooms_path("/rooms/sale/tickets")->kind == Kind::tickets);
  CHECK(read_rooms_path("/rooms/sale/tickets/" + kTicket)->kind == Kind::ticket);
  const std::string move = "/rooms/sale/tickets/" + kTicket + "/move";
  CHECK(read_rooms_path(move)->kind == Kind::move);
  CHECK(to_text(read_rooms_path(move)->ticket) == kTicket);
  const std::string call = "/rooms/sale/tickets/" + kTicket + "/call";
  CHECK(read_rooms_path(call)->kind == Kind::call_one);
  CHECK(to_text(read_rooms_path(call)->ticket) == kTicket);
  CHECK(read_rooms_path("/rooms/sale/call")->kind == Kind::call);
  CHECK(read_rooms_path("/rooms/tickets/message")->kind == Kind::message);
  for (const std::string path :
       {std::string("/rooms/"), std::string("/rooms//open"), std::string("/rooms/sale/"),
        std::string("/rooms/sale/none"), std::string("/rooms/sale/open/1"),
        std::string("/rooms/sale/tickets/x"), "/rooms/sale/call/" + kTicket, move + "/x",
        call + "/", "/rooms/sale/tickets/" + kTicket + "/",
        "/rooms/sale/tickets/" + kTicket + "/cancel", std::string("/roomsale"), std::string("/")}) {
    CAPTURE(path);
    CHECK_FALSE(read_rooms_path(path));
  }
  CHECK(is_rooms_path("/rooms/x/y"));
  CHECK_FALSE(is_rooms_path("/roomsale"));
}

TEST_CASE("a listing has a status, a tier, a type or a user, a limit and a page") {
  const auto listing = std::get<TicketsListing>(read_tickets_query("status=processing&limit=200"));
  CHECK(listing.status == waiting::TicketState::processing);
  CHECK(listing.limit == 200);
  CHECK(std::get<TicketsListing>(read_tickets_query("")).limit == kUsualTickets);
  CHECK(std::get<TicketsListing>(read_tickets_query("tier=vip")).tier == "vip");
  CHECK(refused_query("tier=vip&status=fulfilled") == "\"tier\" is for those in line");
  CHECK(refused_query("limit=0") == "\"limit\" must be a whole number from 1 to 200");
  CHECK(refused_query("limit=201") != "");
  CHECK(refused_query("limit=1x") != "");
  CHECK(refused_query("status=gone") ==
        "\"status\" must be one of: waiting, processing, fulfilled, ended");
  CHECK(std::get<TicketsListing>(read_tickets_query("status=ended")).is_of_ended);
  CHECK_FALSE(listing.is_of_ended);
  CHECK(refused_query("tier=vip&status=ended") == "\"tier\" is for those in line");
  CHECK(std::get<TicketsListing>(read_tickets_query("user=ann%40a.org")).user == "ann@a.org");
  CHECK(std::get<TicketsListing>(read_tickets_query("user=7&status=fulfilled&limit=3")).user ==
        "7");
  for (const std::string& more :
       {std::string("tier=vip"), std::string("status=ended"), "after=1795464000123.0." + kTicket}) {
    CAPTURE(more);
    CHECK(refused_query("user=7&" + more) ==
          "\"user\" goes with \"type\" and \"limit\", and with a \"status\" other than ended");
  }
  CHECK(std::get<TicketsListing>(read_tickets_query("type=camera&tier=vip")).type == "camera");
  CHECK(std::get<TicketsListing>(read_tickets_query("type=camera&status=fulfilled")).type);
  CHECK(refused_query("type=camera&status=ended") ==
        "\"type\" is for those in line, and for sessions");
  const auto both = std::get<TicketsListing>(read_tickets_query("type=camera&user=7"));
  CHECK(both.type == "camera");
  CHECK(both.user == "7");
  CHECK(refused_query("colour=red") == "\"colour\" is not known here");
  CHECK(refused_query("limit=1&limit=2") == "\"limit\" is given twice");
}

TEST_CASE("a page goes on where the last one ended") {
  waiting::WaitingRoom::Report last;
  last.id = *waiting::parse_ticket_id(kTicket);
  last.view.joined = waiting::Time(Milliseconds(1'795'464'000'123));
  last.view.priority = 255;
  const std::string cursor = cursor_of(last);
  const auto line = std::get<TicketsListing>(read_tickets_query("after=" + cursor));
  REQUIRE(line.after);
  CHECK(line.after->id == last.id);
  CHECK(line.after->joined == last.view.joined);
  CHECK(line.after->priority == 255);
  CHECK(line.after->lane == 0);
  last.lane = 7;
  const auto other = std::get<TicketsListing>(read_tickets_query("after=" + cursor_of(last)));
  REQUIRE(other.after);
  CHECK(other.after->lane == 7);
  CHECK(other.after->id == last.id);
  const auto inside = std::get<TicketsListing>(
      read_tickets_query("after=" + cursor_of(waiting::Slot{300}) + "&status=fulfilled"));
  CHECK(inside.from == 300);
  const auto ended =
      std::get<TicketsListing>(read_tickets_query("after=" + kTicket + "&status=ended"));
  CHECK(ended.before == last.id);
  const std::string wrong = "\"after\" must be \"next\" of a page with the same \"status\"";
  CHECK(refused_query("after=300") == wrong);
  CHECK(refused_query("after=300&status=ended") == wrong);
  CHECK(refused_query("status=fulfilled&after=" + cursor) == wrong);
  CHECK(refused_query("after=." + kTicket) == wrong);
  CHECK(refused_query("after=1." + kTicket) == wrong);
  CHECK(refused_query("after=1.256." + kTicket) == wrong);
  CHECK(refused_query("after=1.0." + kTicket + ".x") == wrong);
  CHECK(refused_query("after=1.0." + kTicket + ".1.1") == wrong);
  CHECK(refused_query("after=") == wrong);
}

TEST_CASE("a call says how many, at most 50, and whether to go on") {
  const auto none = std::get<CallOrder>(read_call(""));
  CHECK(none.count == 1);
  CHECK_FALSE(none.continues_on_error);
  const auto some = std::get<CallOrder>(read_call(R"({"count":50,"continue_on_error":true})"));
  CHECK(some.count == 50);
  CHECK(some.continues_on_error);
  CHECK(refused(read_call(R"({"count":51})")) == "\"count\" must be a whole number from 1 to 50");
  CHECK(refused(read_call(R"({"count":0})")) != "");
  CHECK(refused(read_call(R"({"count":-1})")) != "");
  CHECK(refused(read_call(R"({"count":1.5})")) != "");
  CHECK(refused(read_call(R"({"continue_on_error":1})")) != "");
  CHECK(some.type.empty());
  CHECK(std::get<CallOrder>(read_call(R"({"type":"camera"})")).type == "camera");
  CHECK(refused(read_call(R"({"type":""})")) == "\"type\" must be the name of a type of resource");
  CHECK(refused(read_call(R"({"type":1})")) != "");
  CHECK(refused(read_call(R"({"colour":1})")) == "\"colour\" is not known here");
  CHECK(refused(read_call(R"({"count":1,"count":2})")) == "a member is given twice");
  CHECK(refused(read_call("[]")) == "the body is not a JSON object");
  CHECK(refused(read_call("{")) == "the body is not JSON");
}

TEST_CASE("a message has at most 300 characters, whatever their bytes, and may end the room") {
  std::string wide;
  for (int n = 0; n < 300; ++n) wide += "ü";
  const auto told = std::get<MessageOrder>(read_message(R"({"text":")" + wide + R"("})"));
  CHECK(told.text == wide);
  CHECK_FALSE(told.ends);
  CHECK(refused(read_message(R"({"text":")" + wide + R"(x"})")) ==
        "\"text\" must be a text of at most 300 characters");
  CHECK(std::get<MessageOrder>(read_message(R"({"ends":true})")).ends == true);
  CHECK(std::get<MessageOrder>(read_message(R"({"text":"","ends":false})")).text == "");
  CHECK(refused(read_message("{}")) == "\"text\", \"ends\" or both are needed");
  CHECK(refused(read_message(R"({"text":7})")) != "");
  CHECK(refused(read_message(R"({"ends":"yes"})")) != "");
  CHECK(refused(read_message(R"({"texts":""})")) == "\"texts\" is not known here");
}

TEST_CASE("a move is to the front or to a place") {
  CHECK(std::get<std::size_t>(read_move(R"({"to":"front"})")) == 0);
  CHECK(std::get<std::size_t>(read_move(R"({"to":1})")) == 0);
  CHECK(std::get<std::size_t>(read_move(R"({"to":7})")) == 6);
  for (const char* const body :
       {"{}", R"({"to":0})", R"({"to":-3})", R"({"to":"back"})", R"({"to":1.5})", R"({"to":null})",
        R"({"to":99999999999})", R"({"to":"front","more":1})", ""}) {
    CAPTURE(body);
    CHECK(refused(read_move(body)) != "");
  }
}

TEST_CASE("a cancel may have a reason of at most 200 characters") {
  using Reason = std::optional<std::string>;
  CHECK(std::get<Reason>(read_cancel_query("")) == std::nullopt);
  CHECK(std::get<Reason>(read_cancel_query("reason=no%20show")) == "no show");
  CHECK(refused(read_cancel_query("reason=" + std::string(201, 'x'))) ==
        "\"reason\" must be a text of at most 200 characters");
  CHECK(refused(read_cancel_query("why=x")) == "\"why\" is not known here");
}

}  // namespace spillway::proxy
