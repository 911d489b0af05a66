#include "proxy/request/body/spill.hpp"

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "proxy/request/context/counted_client.hpp"

namespace spillway::proxy {

namespace {
// One body may take 1/32 of buffer_bytes and 1/8 of temp_file_bytes.
constexpr std::uint64_t kInMemory = 32;
constexpr std::uint64_t kInFiles = 8;
// One client may take a quarter.
constexpr std::uint64_t kClients = 4;
// Stored answers may take, in addition, half of the worker's part.
constexpr std::uint64_t kForAnswers = 2;
}  // namespace

Spill::~Spill() {
  count_answer(-answer_);
  count_memory(-memory_);
  file_.close();
  count_file();
}

// Looked up when the first bytes are spilled, and kept, since the head may be gone later.
const Spill::OfClient& Spill::of_client() {
  if (of_client_.is_known) return of_client_;
  of_client_.is_known = true;
  if (const std::optional<IpAddress> client = counted_client(request_)) {
    of_client_.memory = &services_.memory_of_clients.of(*client);
    of_client_.answers = &services_.answers_of_clients.of(*client);
    of_client_.files = &services_.temp_space.of_clients().of(*client);
  }
  return of_client_;
}

std::uint64_t Spill::memory_of_worker() const {
  return limits().buffer_bytes / request_.generation->generation().metrics.size();
}

bool Spill::has_memory(std::uint64_t bytes) {
  const std::uint64_t in_all = limits().buffer_bytes;
  const std::uint64_t worker = memory_of_worker();
  const auto its = static_cast<std::uint64_t>(memory_);
  const auto all = static_cast<std::uint64_t>(services_.gauges.buffered_bytes.value());
  if (its + bytes > in_all / kInMemory || all + bytes > worker) return false;
  // A quarter of the worker's part, since all connections of a client may be at one worker.
  const traffic::ClientShares::Share* const client = of_client().memory;
  const std::uint64_t clients = std::max(worker / kClients, in_all / kInMemory);
  return client == nullptr || client->taken() + bytes <= clients;
}

bool Spill::reserve(std::uint64_t bytes) {
  if (!has_memory(bytes)) return false;
  count_memory(static_cast<std::int64_t>(bytes));
  return true;
}

bool Spill::has_room_for_answer(std::uint64_t bytes) const {
  const std::uint64_t all = services_.answer_bytes;
  return all == 0 || all + bytes <= memory_of_worker() / kForAnswers;
}

bool Spill::reserve_answer(std::uint64_t bytes) {
  if (!has_room_for_answer(bytes)) return false;
  const traffic::ClientShares::Share* const client = of_client().answers;
  const std::uint64_t its = client != nullptr ? client->taken() : 0;
  if (its != 0 && its + bytes > memory_of_worker() / kClients) return false;
  count_memory(static_cast<std::int64_t>(bytes));
  count_answer(static_cast<std::int64_t>(bytes));
  return true;
}

// `not_for_it`: this body, or its client, would take too much.
Spill::FileRoom Spill::file_room(std::uint64_t bytes) {
  const std::uint64_t in_all = limits().temp_file_bytes;
  const traffic::ClientShares::Share* const client = of_client().files;
  const std::uint64_t clients = client != nullptr ? client->taken() : 0;
  if (file_.space() + bytes > in_all / kInFiles || clients + bytes > in_all / kClients)
    return FileRoom::not_for_it;
  return services_.temp_space.taken() + bytes <= in_all ? FileRoom::some : FileRoom::none;
}

bool Spill::has_file_room(std::uint64_t bytes) {
  return !is_file_unavailable_ && file_room(bytes) == FileRoom::some;
}

bool Spill::find_file_room(std::uint64_t bytes) {
  if (limits().temp_file_bytes == 0 || is_file_unavailable_) return false;
  const FileRoom room = file_room(bytes);
  if (room == FileRoom::not_for_it) give_up_file(services_.gauges.temp_files_over_limit);
  if (room == FileRoom::none) miss_space();
  return room == FileRoom::some;
}

// The limit of all bodies together is reached, not that of this body or its client.
void Spill::miss_space() {
  services_.temp_space.miss(services_.now());
  give_up_file(services_.gauges.temp_files_over_limit);
}

void Spill::give_up_file(observe::Counter& counter) {
  is_file_unavailable_ = true;
  counter.add();
}

void Spill::keep(Block& block, std::size_t from, std::size_t to) {
  const std::size_t size = block.bytes().size();
  if (!has_memory(size) && find_file_room(to - from) &&
      write({block.bytes().data() + from, to - from}))
    return;
  count_memory(static_cast<std::int64_t>(size));
  pieces_.push_back({.block = std::exchange(block, services_.large_blocks.take()),
                     .from = from,
                     .to = to,
                     .is_counted = true});
}

// False: the file could not be created or written.
bool Spill::write(std::string_view bytes) {
  if (!file_) {
    if (const int error = file_.open(limits().temp_file_directory); error != 0) {
      fail_file(error);
      return false;
    }
    services_.gauges.temp_files.add();
  }
  using Status = TempFile::Appended::Status;
  const TempFile::Appended appended = file_.append(bytes, limits().temp_file_bytes);
  if (appended.status != Status::done) {
    appended.status == Status::over_limit ? miss_space() : fail_file(appended.error);
    return false;
  }
  count_file();
  if (is_empty() || pieces_.back().in_file == 0) pieces_.emplace_back();
  pieces_.back().in_file += bytes.size();
  return true;
}

void Spill::fail_file(int error) {
  give_up_file(services_.gauges.temp_files_failed);
  if (!services_.recent.may_log_temp_file(services_.now())) return;
  services_.log.temp_file_failed(limits().temp_file_directory, std::strerror(error));
}

std::string_view Spill::front() {
  Piece& piece = pieces_[first_];
  if (piece.from == piece.to) {
    if (!piece.block) piece.block = services_.large_blocks.take();
    const std::span<char> room = piece.block.bytes();
    const std::size_t most = std::min<std::uint64_t>(room.size(), piece.in_file);
    piece.from = 0;
    piece.to = file_.read(room.first(most));
    piece.in_file -= piece.to;
    count_file();
  }
  return {piece.block.bytes().data() + piece.from, piece.to - piece.from};
}

void Spill::sent(std::size_t bytes) {
  Piece& piece = pieces_[first_];
  piece.from += bytes;
  if (piece.from == piece.to && piece.in_file == 0) drop_first();
}

// Erases the entries of dropped pieces now and then: an endless response would add ever more.
void Spill::drop_first() {
  Piece& piece = pieces_[first_];
  if (piece.is_counted) count_memory(-static_cast<std::int64_t>(piece.block.bytes().size()));
  piece.block.release();
  ++first_;
  if (first_ * 2 < pieces_.size()) return;
  pieces_.erase(pieces_.begin(), pieces_.begin() + static_cast<std::ptrdiff_t>(first_));
  first_ = 0;
  if (pieces_.empty()) file_.close();
}

void Spill::count_memory(std::int64_t bytes) {
  if (bytes == 0) return;
  memory_ += bytes;
  services_.gauges.buffered_bytes.add(bytes);
  if (of_client().memory != nullptr) of_client().memory->add(bytes);
}

void Spill::count_answer(std::int64_t bytes) {
  if (bytes == 0) return;
  answer_ += bytes;
  services_.answer_bytes += static_cast<std::uint64_t>(bytes);
  if (of_client().answers != nullptr) of_client().answers->add(bytes);
}

void Spill::count_file() {
  const auto now = static_cast<std::int64_t>(file_.space());
  const std::int64_t more = now - std::exchange(in_files_, now);
  if (more == 0) return;
  services_.gauges.temp_file_bytes.add(more);
  if (of_client().files != nullptr) of_client().files->add(more);
}

}  // namespace spillway::proxy
