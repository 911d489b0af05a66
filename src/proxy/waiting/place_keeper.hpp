// Stores the changes of waiting rooms, so that places, passes and sessions survive the process,
// even kill -9. One thread, a few times a second; no visitor waits for it. Changes that it could
// not store in time are in the visitors' own tokens (waiting/place/recovery.hpp).
//
// Thread-safe except open(), start() and stop().
#pragma once

#include <condition_variable>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "proxy/waiting/secret_request.hpp"
#include "proxy/waiting/shared_waiting_room.hpp"
#include "store/contract/place_store.hpp"

namespace spillway::proxy {

// Deletes the places in this file, for a process without waiting rooms.
std::optional<store::Failure> forget_places(const std::filesystem::path& file);

class PlaceKeeper {
 public:
  using OnFailure = std::function<void(const store::Failure&)>;

  // `on_failure` is called on the keeper's thread when writes begin to fail.
  PlaceKeeper(std::shared_ptr<VisitorContext> context, OnFailure on_failure)
      : context_(std::move(context)), on_failure_(std::move(on_failure)) {}
  ~PlaceKeeper() { stop(); }
  PlaceKeeper(const PlaceKeeper&) = delete;
  PlaceKeeper& operator=(const PlaceKeeper&) = delete;

  // Restores these waiting rooms, and stores them from now on. Call it before any visitor has come.
  std::optional<store::Failure> open(const std::filesystem::path& file, const WaitingRooms& rooms);
  bool is_open() const { return store_ != nullptr; }
  // A reload: the places of other waiting rooms are deleted.
  void keep(const WaitingRooms& rooms);
  void start();
  // Writes what has changed, and ends the thread.
  void stop();
  // For the admin thread, which waits for the reply.
  SecretReply replace_secret(const waiting::SecretChange& change) {
    return requests_.put(change)->wait(SecretRequests::kPatience);
  }

 private:
  void run();
  bool is_failing() const { return context_->keeping.load() == PlaceKeeping::fails; }
  void write();
  void keep_secrets(TimePoint now);
  void set_back(store::PlacesRead& read, TimePoint now);
  waiting::Time as_of(waiting::Time now) const;
  void gather(SharedWaitingRoom& room, TimePoint now, bool with_uses);

  const std::shared_ptr<VisitorContext> context_;
  const OnFailure on_failure_;
  std::unique_ptr<store::PlaceStore> store_;
  SecretRequests requests_;
  std::vector<store::PlaceChanges> unwritten_;            // only its thread uses these six
  waiting::Time gathered_{};                              // when collecting them began
  waiting::Time used_until_{};                            // the same, including uses of sessions
  std::map<std::string, std::uint64_t> gathered_orders_;  // Orders::changes, by room
  waiting::Time written_{};                               // all changes before this are stored
  bool is_last_ = false;                                  // it writes for the last time
  // Visitors may bring what the former process could not store until then. The file keeps the time
  // of that process's end, so that a second crash before that loses nothing either.
  struct {
    waiting::Time until{};
    waiting::Time written{};
  } recovery_;

  std::mutex mutex_;  // guards the members below
  std::condition_variable wake_;
  WaitingRooms rooms_;
  std::vector<std::string> removed_;
  bool is_stopping_ = false;
  std::thread thread_;
};

}  // namespace spillway::proxy
