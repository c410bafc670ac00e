#include "options.hpp"

#include <tx/core/error.hpp>

#include <algorithm>
#include <charconv>
#include <concepts>
#include <limits>
#include <numeric>

namespace command_line {
namespace {

// Levenshtein's distance.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0]++;
    for (std::size_t j = 0; j < b.size(); ++j) {
      std::size_t const replaced = diagonal + (a[i] != b[j] ? 1 : 0);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, diagonal + 1});
    }
  }
  return row.back();
}

template <class T>
std::string told(T x) {
  char digits[32];
  return {digits, std::to_chars(digits, digits + sizeof digits, x).ptr};
}

template <class T>
T parsed(std::string_view name, std::string const& text, T least, T most) {
  T value{};
  auto const [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  // Written so that NaN fails too.
  if (code != std::errc{} || end != text.data() + text.size() || !(value >= least && value <= most))
    throw tx::value_error("--" + std::string(name) + ": '" + text + "' is no " + (std::integral<T> ? "whole " : "") + "number " + (most < std::numeric_limits<T>::max() ? "from " + told(least) + " to " + told(most) : "from " + told(least) + " on"));
  return value;
}

}  // namespace

std::string suggestion(std::string_view word, std::span<std::string_view const> known) {
  std::string_view best;
  std::size_t least = std::max<std::size_t>(3, word.size() / 2);  // farther than this is no slip
  for (std::string_view const k : known) {
    std::size_t const d = k.starts_with(word) && !word.empty() ? 1 : distance(word, k);
    if (d < least) {
      least = d;
      best = k;
    }
  }
  return best.empty() ? "" : ", did you mean " + std::string(best) + "?";
}

options::options(std::span<std::string const> arguments, std::span<option const> known) {
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    std::string_view const word = arguments[i];
    if (!word.starts_with("--"))
      throw tx::value_error("'" + arguments[i] + "' is no option; options begin with --, see --help");
    std::size_t const equals = word.find('=');
    std::string_view const name = word.substr(2, equals == std::string_view::npos ? equals : equals - 2);
    auto const at = std::ranges::find(known, name, &option::name);
    if (at == known.end()) {
      std::vector<std::string_view> names;
      for (auto const& k : known) names.push_back(k.name);
      std::string near = suggestion(name, names);
      if (std::size_t const mean = near.find("mean "); mean != std::string::npos) near.insert(mean + 5, "--");
      throw tx::value_error("unknown option --" + std::string(name) + (near.empty() ? "; see --help" : near));
    }
    auto& values = values_[std::string(name)];
    if (!values.empty() && !at->several)
      throw tx::value_error("--" + std::string(name) + " is given twice. FIX: give it once");
    if (at->value.empty()) {
      if (equals != std::string_view::npos) throw tx::value_error("--" + std::string(name) + " takes no value");
      values.emplace_back();
    } else if (equals != std::string_view::npos) {
      values.emplace_back(word.substr(equals + 1));
    } else if (++i < arguments.size()) {
      values.push_back(arguments[i]);
    } else {
      throw tx::value_error("--" + std::string(name) + " needs a value: " + std::string(at->value));
    }
  }
}

std::vector<std::string> const& options::all(std::string_view name) const {
  auto const at = values_.find(name);
  if (at == values_.end()) throw tx::value_error("--" + std::string(name) + " is missing; see --help");
  return at->second;
}

std::string const& options::text(std::string_view name) const { return all(name).back(); }

std::int64_t options::integer(std::string_view name, std::int64_t otherwise, std::int64_t least,
                              std::int64_t most) const {
  return has(name) ? parsed(name, text(name), least, most) : otherwise;
}

double options::number(std::string_view name, double otherwise, double least, double most) const {
  return has(name) ? parsed(name, text(name), least, most) : otherwise;
}

std::string help_text(std::string_view usage, std::span<option const> known) {
  std::string out(usage);
  std::size_t width = 0;
  for (auto const& k : known) width = std::max(width, k.name.size() + k.value.size() + 3);
  for (auto const& k : known) {
    std::string left = "--" + std::string(k.name) + (k.value.empty() ? "" : " ") + std::string(k.value);
    left.resize(width, ' ');
    out += "  " + left + "  " + k.help + '\n';
  }
  return out;
}

}  // namespace command_line
