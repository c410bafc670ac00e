// Reads a folder of shards of token ids as one row of texts, and of documents.
#pragma once

#include <tx/io/token_shard.hpp>

namespace tx::io {

//   auto const shards = tx::io::token_shards::open("shards");
//   for (std::uint64_t k = 0; k < shards.texts(); ++k) shards.append(k, ids);
//
// Takes memory for each shard, not for what is in it. Const members may be called from several threads.
class token_shards {
 public:
  // Throws io_error, and format_error where a file is damaged or the files are not all of one set.
  static token_shards open(std::filesystem::path const& folder, shard_check check = shard_check::index) {
    token_shards out;
    for (auto const& path : files_in(folder)) out.take(token_shard::open(path, check));
    if (out.shards_.back().header().last == 0)
      throw format_error(folder.string() + ": the set ends with " + token_shard_name(out.shards_.size() - 1) + ", which is not its last shard. FIX: the shards behind it, or write the set again");
    return out;
  }

  std::uint64_t ids() const { return ids_; }
  std::uint64_t texts() const { return first_text_.back(); }
  std::uint64_t documents() const { return first_document_.back(); }
  std::uint32_t longest() const { return longest_; }  // ids of the longest text
  std::uint32_t vocabulary() const { return shards_.back().header().vocabulary; }
  std::uint64_t tokenizer() const { return shards_.back().header().tokenizer; }
  // Of all that there is: another set has another one.
  std::uint64_t fingerprint() const { return shards_.back().header().sum; }
  std::vector<token_shard> const& all() const { return shards_; }

  // Each throws value_error for a text or a document that there is not, and what token_shard throws.
  std::uint64_t length_of(std::uint64_t text) const {
    auto const [shard, at] = found(first_text_, text, "text");
    return shard->ids_of(at).size();
  }
  void append(std::uint64_t text, std::vector<std::int32_t>& to) const {
    auto const [shard, at] = found(first_text_, text, "text");
    shard->append(at, to);
  }
  // The texts of a document.
  std::vector<std::vector<std::int32_t>> document(std::uint64_t number) const {
    auto const [shard, at] = found(first_document_, number, "document");
    auto const [begin, end] = shard->texts_of(at);
    std::vector<std::vector<std::int32_t>> out(static_cast<std::size_t>(end - begin));
    for (std::uint64_t k = begin; k < end; ++k) shard->append(k, out[static_cast<std::size_t>(k - begin)]);
    return out;
  }

 private:
  token_shards() = default;

  // By their numbers: names have more digits from 100,000 on.
  static std::vector<std::filesystem::path> files_in(std::filesystem::path const& folder) {
    std::vector<std::filesystem::path> all;
    std::error_code code;
    for (std::filesystem::directory_iterator at(folder, code), end; !code && at != end; at.increment(code))
      if (is_token_shard_name(at->path().filename().string())) all.push_back(at->path());
    if (code) throw_io_error("read", folder, code.value());
    if (all.empty()) throw format_error(folder.string() + " has no shards of token ids. FIX: a folder that token_shard_writer has written");
    std::ranges::sort(all, {}, [](std::filesystem::path const& p) {
      std::string name = p.filename().string();
      return std::pair(name.size(), std::move(name));
    });
    return all;
  }

  void take(token_shard shard) {
    auto const& h = shard.header();
    std::string wrong;
    if (h.number != shards_.size()) wrong = "shard " + std::to_string(h.number) + " where shard " + std::to_string(shards_.size()) + " belongs";
    else if (!shards_.empty() && shards_.back().header().last != 0) wrong = "there is a shard behind the last one";
    else if (h.before != (shards_.empty() ? 0 : shards_.back().header().sum)) wrong = "a shard of another set than the one before";
    else if (!shards_.empty() && (h.tokenizer != tokenizer() || h.vocabulary != vocabulary())) wrong = "ids of another tokenizer than those before";
    if (!wrong.empty()) throw format_error(shard.source() + ": " + wrong + ". FIX: all shards of one set and no others in a folder");
    ids_ += h.ids;
    longest_ = std::max(longest_, h.longest);
    first_text_.push_back(first_text_.back() + h.texts);
    first_document_.push_back(first_document_.back() + h.documents);
    shards_.push_back(std::move(shard));
  }

  struct place {
    token_shard const* shard;
    std::uint64_t at;
  };
  place found(std::vector<std::uint64_t> const& firsts, std::uint64_t number, char const* what) const {
    if (number >= firsts.back()) throw value_error(std::string("token_shards: there is no ") + what + ' ' + std::to_string(number) + ". FIX: a number below " + std::to_string(firsts.back()));
    auto const behind = std::ranges::upper_bound(firsts, number);
    auto const k = static_cast<std::size_t>(behind - firsts.begin()) - 1;
    return {&shards_[k], number - firsts[k]};
  }

  std::vector<token_shard> shards_;
  std::vector<std::uint64_t> first_text_{0}, first_document_{0};  // of each shard, and how many there are
  std::uint64_t ids_ = 0;
  std::uint32_t longest_ = 0;
};

}  // namespace tx::io
