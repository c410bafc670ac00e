// The ids of documents in files of any size: a line is a text, an empty line ends a document, and so does the end of a file.
#pragma once

#include <tx/io/mapped_file.hpp>
#include <tx/io/utf8.hpp>
#include <tx/io/work_ahead.hpp>
#include <tx/text/lines.hpp>
#include <tx/text/tokenizer.hpp>

#include <algorithm>

namespace tx::text {

namespace detail {

inline constexpr std::size_t piece_bytes = std::size_t{1} << 18;  // of a file, which one thread makes ids of at a time

// Texts of a piece of a file, one after the other.
struct piece_ids {
  std::vector<std::int32_t> ids;
  std::vector<std::size_t> ends;       // of each text, in ids
  std::vector<std::size_t> documents;  // how many texts stand before each end of a document
};

// From `begin` to the end of a line.
inline std::string_view piece_at(std::string_view text, std::size_t begin, std::size_t bytes) {
  std::size_t const end = text.size() - begin <= bytes ? std::string_view::npos : text.find('\n', begin + bytes - 1);
  return text.substr(begin, end == std::string_view::npos ? end : end + 1 - begin);
}

}  // namespace detail

// Calls add(ids) for each text that has any and end_document() behind each document, in the order of the files, whatever the number of threads (0: as many as
// the machine runs at once). What has no ids is an empty line. Of the files no more is in memory than the system chooses to keep. Throws io_error, and
// format_error naming the line for what is not UTF-8.
template <class Add, class End>
void for_each_document(std::span<std::string const> files, tokenizer const& words, std::size_t threads, Add&& add, End&& end_document) {
  if (threads == 0) threads = std::max(1u, std::thread::hardware_concurrency());
  for (std::string const& name : files) {
    io::mapped_file const file(name);
    std::string_view const text = file.text();
    auto const code = [&](std::string_view piece, detail::piece_ids& to) {
      auto const part = piece.data() == text.data() ? part_of_file::first : part_of_file::later;
      to.ids.clear(), to.ends.clear(), to.documents.clear();
      for_each_line(
          piece,
          [&](std::string_view line, std::size_t number) {
            if (!io::is_utf8(line))
              throw format_error(name + ':' + std::to_string(static_cast<std::size_t>(std::count(text.data(), piece.data(), '\n')) + number) + ": not UTF-8");
            auto const ids = words.ids_of(line);
            if (ids.empty()) {
              to.documents.push_back(to.ends.size());
              return;
            }
            to.ids.insert(to.ids.end(), ids.begin(), ids.end());
            to.ends.push_back(to.ids.size());
          },
          part);
    };
    std::size_t next = 0;
    io::work_ahead<std::string_view, detail::piece_ids> pieces(
        [&]() -> std::optional<std::string_view> {
          if (next == text.size()) return std::nullopt;
          auto const piece = detail::piece_at(text, next, detail::piece_bytes);
          next += piece.size();
          return piece;
        },
        code, {.threads = threads, .ahead = 2 * threads});
    bool open = false;  // a document has texts and no end
    auto const end = [&] {
      if (std::exchange(open, false)) end_document();
    };
    while (detail::piece_ids const* const p = pieces.next()) {
      std::size_t begin = 0, documents = 0;
      for (std::size_t k = 0; k <= p->ends.size(); ++k) {
        for (; documents < p->documents.size() && p->documents[documents] == k; ++documents) end();
        if (k == p->ends.size()) break;
        add(std::span<std::int32_t const>(p->ids).subspan(begin, p->ends[k] - begin));
        begin = p->ends[k];
        open = true;
      }
    }
    end();
  }
}

}  // namespace tx::text
