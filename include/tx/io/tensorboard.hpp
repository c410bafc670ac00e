// Metrics for TensorBoard: an event file of scalars, which it finds in its --logdir or below and reads while it grows.
//
// The file is made of TFRecords (tensorflow.org, "TFRecord and tf.train.Example"): length, masked CRC-32C of the
// length, data, masked CRC-32C of the data. The data are messages `Event` (tensorflow/core/util/event.proto) that hold
// a `Summary` of tags and numbers (tensorflow/core/framework/summary.proto).
#pragma once

#include <tx/io/crc32c.hpp>
#include <tx/io/files.hpp>
#include <tx/io/metric.hpp>
#include <tx/io/protobuf.hpp>

#include <chrono>
#include <functional>
#include <initializer_list>

namespace tx::io {

// A checksum of bytes that hold checksums themselves is masked, by the same document.
constexpr std::uint32_t masked_crc32c(std::string_view bytes) {
  std::uint32_t const sum = crc32c_of(bytes);
  return ((sum >> 15) | (sum << 17)) + 0xa282ead8u;
}

inline std::string tf_record(std::string_view data) {
  std::string record;
  detail::append_little_endian(record, static_cast<std::uint64_t>(data.size()));
  detail::append_little_endian(record, masked_crc32c(record));
  record += data;
  detail::append_little_endian(record, masked_crc32c(data));
  return record;
}

struct event_file_options {
  // Of a run that goes on from a saved state: what earlier files of the folder say of this step and later is forgotten.
  std::optional<std::int64_t> resumed_at{};
  std::string host{};                 // in the file's name; empty: this machine's
  std::function<double()> now = [] {  // seconds since 1970
    return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
  };
};

// A new file FOLDER/events.out.tfevents.SECONDS.HOST, with .1, .2, ... behind it where that exists. A write is one
// record, whole or not there; texts are left out, as they are no scalars. Not for several threads at once. Throws
// io_error when it cannot be created or written, value_error for a key used twice in a write.
class event_file {
 public:
  explicit event_file(std::filesystem::path const& folder, event_file_options options = {})
      : options_(std::move(options)), file_(create(folder)) {
    protobuf_message first = event();
    first.text(3, "brain.Event:2");  // file_version
    append(first);
    if (!options_.resumed_at) return;
    protobuf_message session;
    session.integer(1, 1);  // status: START
    protobuf_message resumed = event();
    resumed.integer(2, *options_.resumed_at);
    resumed.message(7, session);  // session_log
    append(resumed);
  }

  void write(std::int64_t step, std::span<metric const> values) {
    check_keys(values);
    protobuf_message summary;
    for (metric const& m : values) {
      if (!m.number) continue;
      protobuf_message value;
      value.text(1, valid_utf8(m.key));                // tag
      value.number(2, static_cast<float>(*m.number));  // simple_value
      summary.message(1, value);
    }
    if (summary.bytes().empty()) return;
    protobuf_message e = event();
    e.integer(2, step);
    e.message(5, summary);
    append(e);
  }
  void write(std::int64_t step, std::initializer_list<metric> values) {
    write(step, std::span(values.begin(), values.size()));
  }

  std::filesystem::path const& path() const { return file_.path(); }

 private:
  protobuf_message event() const {
    protobuf_message e;
    e.number(1, options_.now());  // wall_time
    return e;
  }

  file_handle create(std::filesystem::path const& folder) const {
    ensure_directory(folder);
    std::string host = options_.host;
    if (host.empty()) {
      char name[256] = "localhost";
      if (::gethostname(name, sizeof name - 1) == 0) host = name;
    }
    std::ranges::replace(host, '/', '-');
    auto const seconds = static_cast<std::int64_t>(options_.now());
    std::string const name = "events.out.tfevents." + std::to_string(seconds) + '.' + host;
    for (int attempt = 0;; ++attempt) {
      auto path = folder / (attempt == 0 ? name : name + '.' + std::to_string(attempt));
      int const fd = file_handle::try_open(path, O_WRONLY | O_CREAT | O_EXCL | O_APPEND);
      if (fd >= 0) return file_handle(std::move(path), fd);
      if (errno != EEXIST) throw_io_error("create", path, errno);
    }
  }

  // Readers stop at a record that was cut short, so what a full disk took of one is taken back.
  void append(protobuf_message const& e) {
    std::string const record = tf_record(e.bytes());
    try {
      file_.write_all(std::as_bytes(std::span(record)));
    } catch (...) {
      [[maybe_unused]] int const ignored = ::ftruncate(file_.get(), size_);
      throw;
    }
    size_ += static_cast<off_t>(record.size());
  }

  event_file_options options_;
  file_handle file_;
  off_t size_ = 0;
};

}  // namespace tx::io
