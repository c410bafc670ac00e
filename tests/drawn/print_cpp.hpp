// A drawn program as C++: a function that records its graph, with the words of words.hpp and makers.hpp.
#pragma once

#include "decisions.hpp"

#include <cctype>

namespace drawn {

class cpp_printer {
 public:
  explicit cpp_printer(program const& p) : p_(p) {}

  // `rows` is a parameter of the function if there is a bounded extent.
  std::string run(std::string const& name) {
    text_ = "constexpr void " + name + "(tx::graph& g, [[maybe_unused]] drawn::row_count rows = {" + std::to_string(p_.most) + ", -1}) {\n  using namespace drawn;\n  using namespace drawn::words;\n";
    for (decision const& d : p_.decisions) one(d);
    return text_ + "}\n";
  }
  // What is done with the graph then.
  std::string ending() const {
    finish const& f = p_.end;
    static char const* const modes[] = {"none", "at_once", "clipped", "accumulated", "sharded"};
    auto const yes = [](bool b) { return b ? "true" : "false"; };
    return std::string("drawn::finish{.narrows = ") + yes(f.narrows) + ", .halves = " + std::to_string(f.halves) + ", .mode = drawn::training::" +
           modes[static_cast<int>(f.mode)] + ", .optimizer = " + std::to_string(f.optimizer) + ", .recomputes = " + yes(f.recomputes) +
           ", .shards = " + std::to_string(f.shards) + ", .several_ranks = " + yes(f.several_ranks) + "}";
  }
  static std::string type(dtype t) {
    static char const* const names[] = {"f64", "f32", "bf16", "f16", "i64", "i32", "i16", "i8", "u8", "boolean"};
    return std::string("tx::dtype::") + names[static_cast<int>(t)];
  }

 private:
  static std::string v(int id) { return "v" + std::to_string(id); }
  static std::string body(int id) { return "body" + std::to_string(id); }
  std::string shape_text(numbers const& p) const {
    std::string s = "dims(rows, " + std::to_string(p[6]) + ", {";
    for (int i = 0; i < p[6]; ++i) s += (i > 0 ? ", " : "") + std::to_string(p[static_cast<std::size_t>(i)]);
    return s + "})";
  }
  int count(numbers const& p) const {
    int n = 1;
    for (int i = 0; i < p[6]; ++i) n *= p[static_cast<std::size_t>(i)];
    return n;
  }

  // The text of a line with values for a, b, c and numbers for p[k].
  std::string filled(decision const& d) const {
    std::string const text = makers()[static_cast<std::size_t>(d.line)].text;
    std::string out;
    for (std::size_t i = 0; i < text.size();) {
      if (std::isalpha(static_cast<unsigned char>(text[i])) == 0 && text[i] != '_') {
        out += text[i++];
        continue;
      }
      std::size_t end = i;
      while (end < text.size() && (std::isalnum(static_cast<unsigned char>(text[end])) != 0 || text[end] == '_')) ++end;
      std::string const word = text.substr(i, end - i);
      i = end;
      if (word == "a" || word == "b" || word == "c") {
        out += v(d.in[static_cast<std::size_t>(word[0] - 'a')]);
      } else if (word == "p" && i < text.size() && text[i] == '[') {
        out += std::to_string(d.p[static_cast<std::size_t>(text[i + 1] - '0')]);
        i += 3;
      } else if (word == "p") {
        out += "numbers{";
        for (std::size_t k = 0; k < 6; ++k) out += (k > 0 ? ", " : "") + std::to_string(d.p[k]);
        out += "}";
      } else {
        out += word;
      }
    }
    return out;
  }

  void one(decision const& d) {
    auto const line = [&](std::string const& t) { text_ += "  " + t + "\n"; };
    auto const value = [&](std::string const& t) { line("var const " + v(d.id) + " = " + t + ";"); };
    int const home = d.home;
    if (home != now_) {
      line(home >= 0 ? body(home) + ".enter();" : "g.current = 0;");
      now_ = home;
    }
    switch (d.kind) {
      case what::make: value(filled(d)); break;
      case what::input: value("input(g, " + std::to_string(inputs_++) + ", " + type(d.type) + ", " + shape_text(d.p) + (d.p[7] != 0 ? ", " + std::to_string(d.p[7]) : "") + ")"); break;
      case what::parameter:
      case what::block: {
        int const number = d.kind == what::parameter ? 0 : d.p[7];
        int& next = sizes_[static_cast<std::size_t>(number)];
        value(leaf(number, next, d));
        firsts_.push_back({d.id, number, next});
        next += count(d.p);
        break;
      }
      case what::part:
        for (auto const& [id, number, first] : std::vector(firsts_))
          if (id == d.in[0]) {
            value(leaf(number, first + d.p[7], d));
            firsts_.push_back({d.id, number, first + d.p[7]});
          }
        break;
      case what::open:
        line("repeated " + body(d.id) + "(g, " + std::to_string(d.p[0]) + ", " + (d.p[1] != 0 ? "true" : "false") + ");");
        break;
      case what::carry: value(body(d.in[1]) + ".carry(" + v(d.in[0]) + ")"), order_.push_back({d.in[1], d.id}); break;
      case what::same: value(body(d.in[1]) + ".same(" + v(d.in[0]) + ")"); break;
      case what::slices: value(body(d.in[1]) + ".slices(" + v(d.in[0]) + ")"); break;
      case what::next: next_.push_back({d.in[2], d.in[0]}); break;
      case what::stack: stacks_.push_back({d.in[1], d.id, d.in[0]}); break;
      case what::close: close(d.in[1], line); break;
      case what::result:
        for (auto const& [id, open, k] : places_)
          if (id == d.in[0]) value(body(open) + ".result(" + std::to_string(k) + ")");
        break;
      case what::gradient: {
        std::string leaves;
        for (std::size_t k = 1; k < 4 && d.in[k] >= 0; ++k) leaves += (k > 1 ? ", " : "") + v(d.in[k]);
        line("auto const by" + std::to_string(d.id) + " = gradients_by(" + v(d.in[0]) + ", {" + leaves + "});");
        value("by" + std::to_string(d.id) + "[0]");
        break;
      }
      case what::also: value("by" + std::to_string(d.in[0]) + "[" + std::to_string(d.p[0]) + "]"); break;
      case what::flat: {
        std::string of;
        for (int id : d.in)
          if (id >= 0) of += (of.empty() ? "" : ", ") + v(id);
        value("flat_block(g, {" + of + "}, " + std::to_string(d.p[0]) + ", " + std::to_string(d.p[1]) + ")");
        break;
      }
      case what::out: line("g.outputs.push_back({" + v(d.in[0]) + ".id, tx::output_kind::result, -1});"); break;
      case what::assign: line("g.outputs.push_back({" + v(d.in[0]) + ".id, tx::output_kind::assign, " + v(d.in[1]) + ".id});"); break;
    }
  }
  template <class Line>
  void close(int open, Line const& line) {
    int k = 0;
    for (auto const& [of, carry] : order_) {
      if (of != open) continue;
      for (auto const& [c, value] : next_)
        if (c == carry) line(body(open) + ".next(" + v(value) + ");");
      places_.push_back({carry, open, k++});
    }
    for (auto const& [of, id, value] : stacks_) {
      if (of != open) continue;
      line(body(open) + ".stack(" + v(value) + ");");
      places_.push_back({id, open, k++});
    }
    line(body(open) + ".close();");
  }
  std::string leaf(int number, int first, decision const& d) {
    if (number == 0) return "weights(g, " + std::to_string(first) + ", " + std::to_string(parameters_++) + ", " + type(p_.type) + ", " + shape_text(d.p) + ")";
    return "block(g, " + std::to_string(number) + ", " + std::to_string(first) + ", " + type(p_.type) + ", " + shape_text(d.p) + ")";
  }

  struct pair {
    int first, second;
  };
  struct triple {
    int id, of, k;
  };
  program const& p_;
  std::string text_;
  int inputs_ = 0, parameters_ = 0, now_ = -1;
  std::array<int, 8> sizes_{};
  std::vector<triple> firsts_, stacks_, places_;
  std::vector<pair> order_, next_;
};

inline std::string as_cpp(program const& p, std::string const& name = "recorded") {
  cpp_printer printer(p);
  std::string const text = printer.run(name);
  return text + "// then " + printer.ending() + "\n";
}

}  // namespace drawn
