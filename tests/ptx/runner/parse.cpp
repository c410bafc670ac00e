#include "parse.hpp"

#include "fault.hpp"
#include "kernel_parser.hpp"

namespace ptx {

namespace {

int aligned(int x, int to) { return (x + to - 1) / to * to; }

// `.param .align 8 .b8 name[624]` or `.param .u64 name`
struct declared {
  scalar type = scalar::none;
  int alignment = 1;
  std::string name;
  int count = -1;  // of an array; -1: it is none; 0: as many as a launch asks for
};

declared declaration_of(std::string const& text, int line) {
  declared d;
  bool alignment_next = false, explicitly = false;
  for (std::string const& part : split(text, ' ')) {
    if (alignment_next) {
      d.alignment = std::stoi(part);
      explicitly = true;
      alignment_next = false;
    } else if (part == ".align") {
      alignment_next = true;
    } else if (part[0] == '.') {
      if (scalar const t = scalar_of(std::string_view(part).substr(1)); t != scalar::none) d.type = t;
    } else {
      std::size_t const open = part.find('[');
      d.name = part.substr(0, open);
      if (open != std::string::npos) d.count = part[open + 1] == ']' ? 0 : std::stoi(part.substr(open + 1));
    }
  }
  if (d.type == scalar::none || d.name.empty()) throw unknown(line, text, "a declaration that is not known");
  if (!explicitly) d.alignment = bytes_of(d.type);
  return d;
}

class module_parser {
 public:
  explicit module_parser(std::string_view text) : in_(text) { known_.variables = &m_.variables; }

  module result() {
    while (!in_.at_end()) {
      int const line = in_.line();
      std::string const first = in_.word();
      if (first == ".target") {
        m_.target = in_.word();
        in_.rest_of_line();
      } else if (first == ".version" || first == ".address_size") {
        in_.rest_of_line();
      } else if (first == ".file") {  // 1 "/path/of.hpp"
        std::string const text = in_.rest_of_line();
        std::size_t const open = text.find('"');
        m_.files[std::stoi(text)] = text.substr(open + 1, text.find('"', open + 1) - open - 1);
      } else if (first == ".section") {
        in_.skip_block();
      } else if (first == ".visible" || first == ".weak" || first == ".extern" || first == ".common") {
        continue;
      } else if (first == ".entry") {
        entry();
      } else if (first == ".func") {
        throw unknown(line, in_.rest_of_line(), "functions that are called are not known");
      } else if (first == ".shared" || first == ".global" || first == ".const") {
        variable_of(first);
      } else {
        throw unknown(line, first + " " + in_.rest_of_line(), "a directive that is not known");
      }
    }
    return std::move(m_);
  }

 private:
  void variable_of(std::string const& space) {
    int const line = in_.line();
    std::string const text = in_.until(";");
    std::size_t const equals = text.find('=');
    declared const d = declaration_of(trimmed(text.substr(0, equals)), line);
    int const size = bytes_of(d.type);
    if (space == ".shared") {
      if (d.count == 0)
        known_.dynamic_shared.insert(d.name);
      else
        known_.shared[d.name] = {d.alignment, size * std::max(1, d.count)};
      return;
    }
    variable v{d.alignment, std::vector<std::byte>(static_cast<std::size_t>(size * std::max(1, d.count)))};
    if (equals != std::string::npos) {
      std::string values = trimmed(text.substr(equals + 1));
      if (values[0] == '{') values = values.substr(1, values.size() - 2);
      std::size_t at = 0;
      for (std::string const& value : split(values, ',')) {
        auto const bits = number_of(value);
        if (!bits) throw unknown(line, d.name + " = " + value, "a value that is no number");
        if (at + static_cast<std::size_t>(size) > v.bytes.size())
          throw unknown(line, d.name, "more numbers than there is room for");
        std::memcpy(v.bytes.data() + at, &*bits, static_cast<std::size_t>(size));
        at += static_cast<std::size_t>(size);
      }
    }
    m_.variables[d.name] = std::move(v);
  }

  // NAME( parameters ) directives { body }
  void entry() {
    kernel k;
    k.name = in_.word();
    std::map<std::string, int> parameters;
    int at = 0;
    if (in_.take('(')) {
      int const line = in_.line();
      for (std::string const& text : split(in_.until(")"), ',')) {
        declared const d = declaration_of(text, line);
        at = aligned(at, d.alignment);
        int const bytes = bytes_of(d.type) * std::max(1, d.count);
        parameters[d.name] = at;
        k.parameters.push_back({at, bytes});
        at += bytes;
      }
    }
    while (in_.peek() != '{') {
      std::string const directive = in_.word();
      std::string const values = in_.rest_of_line();
      int product = 1;
      for (std::string const& n : split(values, ',')) product *= std::max(1, std::atoi(n.c_str()));
      if (directive == ".maxntid") {
        k.most_threads = product;
      } else if (directive == ".reqntid") {
        k.required_threads = product;
      } else if (directive != ".minnctapersm") {
        throw unknown(in_.line(), directive + " " + values, "a directive that is not known");
      }
    }
    in_.take('{');
    kernel_parser(k, known_, std::move(parameters)).body(in_);
    m_.kernels[k.name] = std::move(k);
  }

  scanner in_;
  module m_;
  symbols known_;
};

}  // namespace

module parse(std::string_view text) { return module_parser(text).result(); }

}  // namespace ptx
