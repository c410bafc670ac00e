// Turns Debian package indexes into query/document pairs.
//
//   Packages        Package, Source, Section, Description-md5
//   Translation-en  Description-md5, Description-en: short description, then the long one
//     -> {train,dev,test}.tsv                   query <tab> document
//     -> {dev,test}.{random,section}.tsv        query <tab> document <tab> label, 1 the true document, 0 another's
//
// The query is the short description, the document the long one, both without the package's own name. One package
// stands for its source, and the split is by source, so that foo, foo-dev and foo-doc never meet across it. The same
// indexes and seed give the same bytes.
#include <tx/io/standard_streams.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace {

using std::string;
using std::string_view;

struct description {
  string brief;
  string detail;
};

struct package {
  string name;
  string section;
  description text;
};

struct pair {
  string source;
  string section;
  string query;
  string document;
};

struct arguments {
  std::vector<string> packages;
  std::vector<string> translations;
  string out;
  std::uint64_t seed = 1;
};

// ---- words ----------------------------------------------------------------------------------------------------------

bool is_space(char c) { return static_cast<unsigned char>(c) <= ' ' || c == '\x7f'; }

// Letters, digits, `_` and every byte of a non-ASCII character.
bool is_word(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
         static_cast<unsigned char>(c) >= 0x80;
}

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

// " a \t b\n" -> "a b"
string squeeze(string_view text) {
  string out;
  for (char const c : text) {
    if (!is_space(c)) {
      out += c;
    } else if (!out.empty() && out.back() != ' ') {
      out += ' ';
    }
  }
  if (!out.empty() && out.back() == ' ') out.pop_back();
  return out;
}

// Blanks every whole-word occurrence of name, in any case.
void erase_word(string& text, string_view name) {
  if (name.empty() || text.size() < name.size()) return;
  auto const same = [](char a, char b) { return lower(a) == lower(b); };
  for (auto at = text.begin();;) {
    at = std::search(at, text.end(), name.begin(), name.end(), same);
    if (at == text.end()) return;
    auto const end = at + static_cast<std::ptrdiff_t>(name.size());
    bool const whole = (at == text.begin() || !is_word(at[-1])) && (end == text.end() || !is_word(*end));
    if (whole) std::fill(at, end, ' ');
    at = whole ? end : at + 1;
  }
}

// The longer name first: erasing `foo` from `foo-utils` would leave half of it.
string without_names(string text, string_view a, string_view b) {
  erase_word(text, a.size() >= b.size() ? a : b);
  erase_word(text, a.size() >= b.size() ? b : a);
  return squeeze(text);
}

bool has_word(string_view text) { return std::any_of(text.begin(), text.end(), is_word); }

std::size_t count_words(string_view text) {
  return text.empty() ? 0 : 1 + static_cast<std::size_t>(std::count(text.begin(), text.end(), ' '));
}

// ---- hashing --------------------------------------------------------------------------------------------------------

std::uint64_t fnv1a(string_view text, std::uint64_t hash) {
  for (char const c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ull;
  return hash;
}

// FNV-1a over the seed's bytes, a purpose and the name; the last steps spread it over all bits.
std::uint64_t draw(std::uint64_t seed, string_view purpose, string_view name) {
  std::uint64_t hash = 0xcbf29ce484222325ull;
  for (int byte = 0; byte < 8; ++byte) hash = (hash ^ ((seed >> (8 * byte)) & 0xff)) * 0x100000001b3ull;
  hash = fnv1a(name, fnv1a(purpose, hash));
  hash = (hash ^ (hash >> 33)) * 0xff51afd7ed558ccdull;
  return hash ^ (hash >> 33);
}

// ---- reading --------------------------------------------------------------------------------------------------------

using stanza = std::map<string, string, std::less<>>;

string_view field(stanza const& fields, string_view name) {
  auto const at = fields.find(name);
  return at == fields.end() ? string_view{} : string_view{at->second};
}

// Calls visit(stanza) for each paragraph of `Key: value` lines; a value keeps its continuation lines, one a line.
template <class Visit>
void each_stanza(string const& path, Visit visit) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw std::runtime_error("cannot read " + path);
  stanza fields;
  string* value = nullptr;
  for (string line; std::getline(in, line);) {
    if (!line.empty() && line.back() == '\r') line.pop_back();
    if (line.empty()) {
      if (!fields.empty()) visit(fields);
      fields.clear();
      value = nullptr;
    } else if (line[0] == ' ' || line[0] == '\t') {
      if (value) *value += '\n' + line;
    } else if (auto const colon = line.find(':'); colon != string::npos) {
      value = &fields[line.substr(0, colon)];
      *value = squeeze(string_view{line}.substr(colon + 1));
    }
  }
  if (in.bad()) throw std::runtime_error("cannot read all of " + path);
  if (!fields.empty()) visit(fields);
}

// "short\n long,\n folded\n .\n second paragraph" -> {"short", "long, folded second paragraph"}
description parse_description(string_view value) {
  auto const first = std::min(value.find('\n'), value.size());
  string detail;
  for (auto at = first; at < value.size();) {
    auto const end = std::min(value.find('\n', at + 1), value.size());
    string_view const line = value.substr(at + 1, end - at - 1);
    if (line != " .") detail.append(line).push_back(' ');
    at = end;
  }
  return {squeeze(value.substr(0, first)), squeeze(detail)};
}

// Described packages by source; the first index that names a package wins.
std::map<string, std::vector<package>> read_indexes(arguments const& args, std::size_t& total) {
  std::unordered_map<string, description> translated;  // by Description-md5, or by name where there is none
  auto const key = [](stanza const& s) {
    string_view const sum = field(s, "Description-md5");
    return sum.empty() ? "name " + string(field(s, "Package")) : string(sum);
  };
  for (auto const& path : args.translations) {
    each_stanza(path,
                [&](stanza const& s) { translated.emplace(key(s), parse_description(field(s, "Description-en"))); });
  }
  std::map<string, std::vector<package>> sources;
  std::unordered_set<string> seen;
  for (auto const& path : args.packages) {
    each_stanza(path, [&](stanza const& s) {
      string const name(field(s, "Package"));
      if (name.empty() || !seen.insert(name).second) return;
      auto const found = translated.find(key(s));
      auto text = found != translated.end() ? found->second : parse_description(field(s, "Description"));
      if (text.brief.empty() || text.detail.empty()) return;
      string_view source = field(s, "Source");  // "name" or "name (version)"
      source = source.empty() ? string_view{name} : source.substr(0, source.find(' '));
      string_view section = field(s, "Section");  // "area/section" outside main
      section.remove_prefix(section.rfind('/') + 1);
      sources[string(source)].push_back({name, string(section), std::move(text)});
    });
  }
  total = seen.size();
  return sources;
}

// ---- pairs ----------------------------------------------------------------------------------------------------------

// The package named as its source, else the shortest name, else the first in the alphabet.
package const& representative(string const& source, std::vector<package> const& built) {
  auto const rank = [&](package const& p) {
    return std::tuple<bool, std::size_t, string_view>(p.name != source, p.name.size(), p.name);
  };
  return *std::min_element(built.begin(), built.end(), [&](auto const& a, auto const& b) { return rank(a) < rank(b); });
}

struct dropped {
  std::size_t empty = 0;
  std::size_t repeated = 0;
};

std::vector<pair> make_pairs(std::map<string, std::vector<package>> const& sources, dropped& lost) {
  std::vector<pair> pairs;
  std::unordered_set<string> queries, documents;
  for (auto const& [source, built] : sources) {
    auto const& [name, section, text] = representative(source, built);
    pair p{source, section, without_names(text.brief, name, source), without_names(text.detail, name, source)};
    if (!has_word(p.query) || !has_word(p.document)) {
      ++lost.empty;
    } else if (queries.contains(p.query) || documents.contains(p.document)) {
      ++lost.repeated;
    } else {
      queries.insert(p.query);
      documents.insert(p.document);
      pairs.push_back(std::move(p));
    }
  }
  return pairs;
}

// ---- writing --------------------------------------------------------------------------------------------------------

class table {
 public:
  explicit table(std::filesystem::path const& path) : path_(path.string()), out_(path, std::ios::binary) {}
  void row(string_view query, string_view document, string_view label = {}) {
    out_ << query << '\t' << document;
    if (!label.empty()) out_ << '\t' << label;
    out_ << '\n';
  }
  void close() {
    out_.close();
    if (!out_) throw std::runtime_error("cannot write " + path_);
  }

 private:
  string path_;
  std::ofstream out_;
};

// Each pair's own document and one drawn from the candidates; pairs without another candidate are left out.
template <class Candidates>
std::size_t write_negatives(std::filesystem::path const& path, std::vector<pair> const& pairs, std::uint64_t seed,
                            string_view purpose, Candidates candidates) {
  table out(path);
  std::size_t written = 0;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    std::vector<std::size_t> const& others = candidates(pairs[i]);
    if (others.size() < 2) continue;
    auto pick = static_cast<std::size_t>(draw(seed, purpose, pairs[i].source) % (others.size() - 1));
    if (others[pick] >= i) ++pick;  // `others` ascends and holds i: step over it
    out.row(pairs[i].query, pairs[i].document, "1");
    out.row(pairs[i].query, pairs[others[pick]].document, "0");
    ++written;
  }
  out.close();
  return written;
}

struct quantiles {
  std::size_t median = 0, high = 0;
};

quantiles word_quantiles(std::vector<pair> const& pairs, string pair::*text) {
  std::vector<std::size_t> counts;
  for (auto const& p : pairs) counts.push_back(count_words(p.*text));
  std::sort(counts.begin(), counts.end());
  if (counts.empty()) return {};
  return {counts[(counts.size() - 1) / 2], counts[(counts.size() - 1) * 95 / 100]};
}

void write_split(arguments const& args, string const& name, std::vector<pair> const& pairs, bool negatives) {
  std::filesystem::path const dir(args.out);
  table out(dir / (name + ".tsv"));
  std::uint64_t digest = 0xcbf29ce484222325ull;
  for (auto const& p : pairs) {
    out.row(p.query, p.document);
    digest = fnv1a(p.document, fnv1a(p.query, digest));
  }
  out.close();
  auto const query = word_quantiles(pairs, &pair::query);
  auto const document = word_quantiles(pairs, &pair::document);
  std::printf(
      "%-5s %6zu pairs   query words median %zu, p95 %zu   document words median %zu, p95 %zu   digest %016llx\n",
      name.c_str(), pairs.size(), query.median, query.high, document.median, document.high,
      static_cast<unsigned long long>(digest));
  if (!negatives) return;

  std::vector<std::size_t> all;
  std::map<string, std::vector<std::size_t>> sections;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    all.push_back(i);
    sections[pairs[i].section].push_back(i);
  }
  using indexes = std::vector<std::size_t> const&;
  auto const random = write_negatives(dir / (name + ".random.tsv"), pairs, args.seed, "random",
                                      [&](pair const&) -> indexes { return all; });
  auto const section = write_negatives(dir / (name + ".section.tsv"), pairs, args.seed, "section",
                                       [&](pair const& p) -> indexes { return sections[p.section]; });
  std::printf("%-5s %6zu with a random negative, %zu with one of the same section\n", "", random, section);
}

// ---- program --------------------------------------------------------------------------------------------------------

constexpr char const usage[] =
    "usage: twinbert_data --packages FILE... --translations FILE... --out DIR [--seed N]\n"
    "Writes train.tsv, dev.tsv, test.tsv (query, document) and {dev,test}.{random,section}.tsv (query, document, "
    "label).\n";

arguments parse(int argc, char** argv) {
  arguments args;
  string option;
  for (int i = 1; i < argc; ++i) {
    string const word = argv[i];
    if (word.starts_with("--")) {
      option = word;
    } else if (option == "--packages") {
      args.packages.push_back(word);
    } else if (option == "--translations") {
      args.translations.push_back(word);
    } else if (option == "--out") {
      args.out = word;
    } else if (option == "--seed") {
      char* end = nullptr;
      args.seed = std::strtoull(word.c_str(), &end, 10);
      if (*end != '\0') throw std::runtime_error("--seed takes a number, not " + word);
    } else {
      throw std::runtime_error("unknown argument " + (option.empty() ? word : option));
    }
  }
  if (args.packages.empty() || args.out.empty()) throw std::runtime_error(usage);
  return args;
}

void run(arguments const& args) {
  std::size_t total = 0;
  auto const sources = read_indexes(args, total);
  if (sources.empty())
    throw std::runtime_error("no package with a description: are these Packages and Translation files?");
  dropped lost;
  auto pairs = make_pairs(sources, lost);
  std::array<std::vector<pair>, 3> splits;  // of ten shares, eight, one and one
  for (auto& p : pairs) {
    auto const share = draw(args.seed, "split", p.source) % 10;
    splits[share < 8 ? 0 : share - 7].push_back(std::move(p));
  }
  std::printf("%zu packages of %zu described sources; dropped %zu empty and %zu repeated; %zu pairs\n", total,
              sources.size(), lost.empty, lost.repeated, pairs.size());
  std::filesystem::create_directories(args.out);
  write_split(args, "train", splits[0], false);
  write_split(args, "dev", splits[1], true);
  write_split(args, "test", splits[2], true);
}

}  // namespace

int main(int argc, char** argv) try {
  tx::io::open_standard_streams();
  run(parse(argc, argv));
} catch (std::exception const& e) {
  std::fprintf(stderr, "twinbert_data: %s\n", e.what());
  return 1;
}
