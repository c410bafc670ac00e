// Writes texts of token ids as a set of shards in a folder.
#pragma once

#include <tx/io/run_lock.hpp>
#include <tx/io/token_shard_format.hpp>

namespace tx::io {

struct token_shard_options {
  std::uint64_t vocabulary = 0;                           // ids are below it; up to 65,536 they take 2 bytes each, else 4
  std::uint64_t tokenizer = 0;                            // text::tokenizer_fingerprint, or what else tells these ids from others
  std::uint64_t shard_bytes = std::uint64_t{256} << 20;  // of ids, after which a shard ends, with the document that is being written; held in memory
};

//   tx::io::token_shard_writer out("shards", {.vocabulary = 30'522});
//   out.add(ids); out.add(more); out.end_document();
//   out.finish();
//
// A shard appears under its name complete, or not at all, when the next one begins, and the last one in finish(): a folder whose writer was stopped is no set,
// which token_shards says. Documents are not divided. What the files have depends on the texts and options alone.
class token_shard_writer {
 public:
  // The folder is made. Throws io_error where another process writes there, value_error where it has shards, or for no vocabulary.
  token_shard_writer(std::filesystem::path folder, token_shard_options const& o) : folder_((ensure_directory(folder), std::move(folder))), lock_(folder_), options_(o) {
    if (o.vocabulary == 0 || o.vocabulary > most_vocabulary)
      throw value_error("token_shard_writer: a vocabulary of " + std::to_string(o.vocabulary) + ". FIX: of 1 to " + std::to_string(most_vocabulary) + " ids");
    std::error_code code;
    for (std::filesystem::directory_iterator at(folder_, code), end; !code && at != end; at.increment(code))
      if (is_token_shard_name(at->path().filename().string()))
        throw value_error(folder_.string() + " has shards already. FIX: another folder, or remove them");
    if (code) throw_io_error("read", folder_, code.value());
    header_.id_bytes = o.vocabulary <= vocabulary_of_two_bytes ? 2 : 4;
    header_.vocabulary = static_cast<std::uint32_t>(o.vocabulary);
    header_.tokenizer = o.tokenizer;
  }

  // A text of the document that is being written. Throws value_error for one without ids, for an id that is none of the vocabulary, and for a document that no
  // shard has room for.
  void add(std::span<std::int32_t const> text) {
    check_open();
    if (text.empty()) throw value_error("token_shard_writer: a text without ids. FIX: leave it out");
    for (std::int32_t const id : text)
      if (id < 0 || static_cast<std::uint64_t>(id) >= options_.vocabulary)
        throw value_error("token_shard_writer: the id " + std::to_string(id) + ", and the vocabulary has " + std::to_string(options_.vocabulary) + ". FIX: the vocabulary of the tokenizer");
    if (text.size() > most_in_token_shard - header_.ids)
      throw value_error("token_shard_writer: a document of more ids than a shard has room for. FIX: end_document() before it has " + std::to_string(most_in_token_shard));
    if (full()) write(false);
    std::size_t at = ids_.size();
    ids_.resize(at + text.size() * header_.id_bytes);
    for (std::int32_t const id : text) {
      std::memcpy(ids_.data() + at, &id, header_.id_bytes);  // of the little end first
      at += header_.id_bytes;
    }
    header_.ids += text.size();
    header_.longest = std::max(header_.longest, static_cast<std::uint32_t>(text.size()));
    texts_.push_back(static_cast<std::uint32_t>(header_.ids));
  }
  // One without texts is none.
  void end_document() {
    if (texts_.size() > (documents_.empty() ? 0 : documents_.back())) documents_.push_back(static_cast<std::uint32_t>(texts_.size()));
  }

  // Writes what is left. Without it there is no set. May be called again where it has thrown.
  void finish() {
    check_open();
    end_document();
    write(true);
  }

 private:
  void check_open() const {
    if (header_.last != 0) throw value_error(folder_.string() + ": the set of shards is finished. FIX: all texts before finish()");
  }
  // With whole documents alone, so that the next one begins with the next shard.
  bool full() const { return ids_.size() >= options_.shard_bytes && !documents_.empty() && documents_.back() == texts_.size(); }

  void write(bool last) {
    token_shard_header header = header_;
    header.ids_sum = crc64_of(ids_);
    header.last = last ? 1 : 0;
    header.texts = texts_.size();
    header.documents = documents_.size();
    std::array<std::byte, 4> const zeros{};
    auto const filled = std::span(zeros).first(static_cast<std::size_t>(header.index_begin() - sizeof header) - ids_.size());
    crc64 index;
    index.add(filled);
    for (auto const* ends : {&texts_, &documents_}) index.add(std::as_bytes(std::span(*ends)));
    header.index_sum = index.value();
    header.sum = header_sum(header);
    atomic_file file(folder_ / token_shard_name(header.number));
    file.write(std::as_bytes(std::span(&header, 1)));
    file.write(ids_);
    file.write(filled);
    for (auto const* ends : {&texts_, &documents_}) file.write(std::as_bytes(std::span(*ends)));
    file.commit();
    header_ = header;
    begin_next();
  }
  void begin_next() {
    header_.before = header_.sum;
    ++header_.number;
    header_.ids = header_.longest = 0;
    ids_.clear();
    texts_.clear();
    documents_.clear();
  }

  std::filesystem::path folder_;
  run_lock lock_;
  token_shard_options options_;
  token_shard_header header_;  // of the shard that is being gathered
  std::vector<std::byte> ids_;
  std::vector<std::uint32_t> texts_, documents_;
};

}  // namespace tx::io
