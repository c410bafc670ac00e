// Reads one shard of token ids, where it lies in its file.
#pragma once

#include <tx/io/mapped_file.hpp>
#include <tx/io/token_shard_format.hpp>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

namespace tx::io {

// What of a shard is looked at before it is used. The index costs a read of 4 bytes for each text, `all` a read of the file.
enum class shard_check { index, all };

// Takes no memory but the object's own. Whatever the bytes, nothing beyond them is read: a place that the index names is compared with what there is
// once more when it is used, an id with the vocabulary when it is handed out. Const members may be called from several threads.
class token_shard {
 public:
  // Throws io_error, and format_error naming the file and what is wrong with it.
  static token_shard open(std::filesystem::path const& path, shard_check check = shard_check::index) {
    mapped_file file(path);
    token_shard out(file.bytes(), path.string(), check);
    out.file_ = std::move(file);
    return out;
  }
  // Of bytes that live as long as this; `source` stands for the file's name in messages.
  static token_shard parse(std::span<std::byte const> bytes, std::string source = "token shard", shard_check check = shard_check::index) {
    return token_shard(bytes, std::move(source), check);
  }

  token_shard_header const& header() const { return header_; }
  std::string const& source() const { return source_; }
  std::uint64_t ids() const { return header_.ids; }
  std::uint64_t texts() const { return header_.texts; }
  std::uint64_t documents() const { return header_.documents; }

  struct range {
    std::uint64_t begin, end;
    std::uint64_t size() const { return end - begin; }
  };
  // The ids of a text, and the texts of a document. Throw value_error for one that there is not.
  range ids_of(std::uint64_t text) const { return place(text, header_.texts, 0, header_.ids, "text"); }
  range texts_of(std::uint64_t document) const { return place(document, header_.documents, header_.texts, header_.texts, "document"); }

  // The ids of a text behind those that `to` has. Throws format_error, and leaves `to` as it was, where one is none of the vocabulary.
  void append(std::uint64_t text, std::vector<std::int32_t>& to) const {
    auto const [begin, end] = ids_of(text);
    std::size_t const before = to.size();
    to.resize(before + static_cast<std::size_t>(end - begin));
    std::uint32_t most = 0;
    for (std::uint64_t k = begin; k < end; ++k) {
      std::uint32_t const id = id_at(k);
      most = std::max(most, id);
      to[before + static_cast<std::size_t>(k - begin)] = static_cast<std::int32_t>(id);
    }
    if (most < header_.vocabulary) return;
    to.resize(before);
    fail("text " + std::to_string(text) + " has the id " + std::to_string(most) + ", and the vocabulary " + std::to_string(header_.vocabulary));
  }

  // Reads all ids. Throws format_error where they are not what was written.
  void check_ids() const {
    if (crc64_of(bytes_.subspan(sizeof header_, static_cast<std::size_t>(header_.ids * header_.id_bytes))) != header_.ids_sum) fail("the ids are not what their checksum says");
    for (std::uint64_t k = 0; k < header_.ids; ++k)
      if (id_at(k) >= header_.vocabulary) fail("the id " + std::to_string(id_at(k)) + ", and the vocabulary has " + std::to_string(header_.vocabulary));
  }

 private:
  token_shard(std::span<std::byte const> bytes, std::string source, shard_check check) : bytes_(bytes), source_(std::move(source)) {
    if (bytes_.size() < sizeof header_) fail("shorter than a header");
    std::memcpy(&header_, bytes_.data(), sizeof header_);
    check_header();
    check_index();
    if (check == shard_check::all) check_ids();
  }

  [[noreturn]] void fail(std::string const& what) const { throw format_error(source_ + ": " + what + ". FIX: write the shards again, or fetch the file again"); }

  // Sizes first, so that nothing behind is out of bounds, whatever the numbers.
  void check_header() const {
    auto const& h = header_;
    if (h.magic != token_shard_header::right_magic) fail("no shard of token ids");
    if (h.byte_order != token_shard_header::right_order) fail("its numbers are not of the little end first");
    if (h.version != token_shard_header::right_version) fail("version " + std::to_string(h.version) + " of the format; this program reads version " + std::to_string(token_shard_header::right_version));
    if (h.sum != header_sum(h)) fail("the header is not what its checksum says");
    if (h.id_bytes != 2 && h.id_bytes != 4) fail("ids of " + std::to_string(h.id_bytes) + " bytes");
    if (h.vocabulary > most_vocabulary) fail("a vocabulary of " + std::to_string(h.vocabulary));
    if (h.last > 1 || h.nothing != 0) fail("the header has numbers that this version does not write");
    if (std::max({h.ids, h.texts, h.documents}) > most_in_token_shard) fail("more ids, texts or documents than a shard has");
    if (h.file_bytes() != bytes_.size()) fail("a file of " + std::to_string(bytes_.size()) + " bytes, where " + std::to_string(h.file_bytes()) + " belong");
  }

  // Texts have ids and documents texts, all of them, in order.
  void check_index() const {
    if (crc64_of(bytes_.subspan(static_cast<std::size_t>(sizeof header_ + header_.ids * header_.id_bytes))) != header_.index_sum) fail("the index is not what its checksum says");
    std::uint32_t longest = 0;
    auto const rising = [&](std::uint64_t first, std::uint64_t count, std::uint64_t all, char const* what, std::uint32_t* most) {
      std::uint32_t end = 0;
      for (std::uint64_t k = 0; k < count; ++k) {
        std::uint32_t const next = index_at(first + k);
        if (next <= end) fail(std::string(what) + ' ' + std::to_string(k) + " ends before it begins, or is empty");
        if (most != nullptr) *most = std::max(*most, next - end);
        end = next;
      }
      if (end != all) fail("the last " + std::string(what) + " ends at " + std::to_string(end) + " of " + std::to_string(all));
    };
    rising(0, header_.texts, header_.ids, "text", &longest);
    rising(header_.texts, header_.documents, header_.texts, "document", nullptr);
    if (longest != header_.longest) fail("the longest text has " + std::to_string(longest) + " ids, where the header says " + std::to_string(header_.longest));
  }

  // The k-th of `count` ends that begin at `first` in the index.
  range place(std::uint64_t k, std::uint64_t count, std::uint64_t first, std::uint64_t all, char const* what) const {
    if (k >= count) throw value_error(source_ + ": there is no " + what + ' ' + std::to_string(k) + ". FIX: a number below " + std::to_string(count));
    range const r{k == 0 ? 0 : index_at(first + k - 1), index_at(first + k)};
    if (r.begin > r.end || r.end > all) fail("the index has changed since it was checked");
    return r;
  }
  template <class T>
  static T number_at(std::byte const* at) {
    T out;
    std::memcpy(&out, at, sizeof out);
    return out;
  }
  std::uint32_t index_at(std::uint64_t k) const {
    return number_at<std::uint32_t>(bytes_.data() + header_.index_begin() + 4 * k);
  }
  std::uint32_t id_at(std::uint64_t k) const {
    std::byte const* const at = bytes_.data() + sizeof header_ + k * header_.id_bytes;
    if (header_.id_bytes == 4) return number_at<std::uint32_t>(at);
    return number_at<std::uint16_t>(at);
  }

  std::optional<mapped_file> file_;
  std::span<std::byte const> bytes_;
  std::string source_;
  token_shard_header header_;
};

}  // namespace tx::io
