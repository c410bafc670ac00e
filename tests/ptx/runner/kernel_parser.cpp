#include "kernel_parser.hpp"

#include "fault.hpp"

#include <cctype>

namespace ptx {

namespace {

std::optional<special> special_of(std::string_view name) {
  constexpr std::string_view names[] = {"%tid.x",       "%tid.y",       "%tid.z",       "%ntid.x",     "%ntid.y",
                                        "%ntid.z",      "%ctaid.x",     "%ctaid.y",     "%ctaid.z",    "%nctaid.x",
                                        "%nctaid.y",    "%nctaid.z",    "%laneid",      "%warpid",     "%lanemask_lt",
                                        "%lanemask_le", "%lanemask_gt", "%lanemask_ge", "%lanemask_eq"};
  for (std::size_t k = 0; k < std::size(names); ++k)
    if (names[k] == name) return static_cast<special>(k);
  return {};
}

// Bytes of a number that stands where a register could.
int width_of(spelled const& s, int operand) {
  auto const name = s.name();
  bool const of_bits = name == "shl" || name == "shr" || name == "bfe" || name == "bfi";
  if (of_bits && operand >= (name == "bfi" ? 3 : 2)) return 4;
  if (name == "shfl" || name == "vote" || name == "match" || name == "redux" || name == "bar" || name == "barrier" ||
      name == "cp" || name == "elect")
    return 4;
  if (name == "mad" && s.has("wide") && operand == 3) return 2 * bytes_of(s.type());
  return bytes_of(s.type());
}

}  // namespace

void kernel_parser::refuse(int line, std::string const& text, std::string const& why) const {
  throw unknown(line, text, why);
}

int kernel_parser::room(int bytes) {
  int const at = k_.register_bytes;
  k_.register_bytes += (bytes + 63) / 64 * 64;
  return at;
}

void kernel_parser::body(scanner& in) {
  for (;;) {
    if (in.at_end()) refuse(in.line(), k_.name, "a kernel that does not end");
    if (in.take('{')) {
      scopes_.emplace_back();
      scope_ids_.push_back(++last_scope_);
      continue;
    }
    if (in.take('}')) {
      scopes_.pop_back();
      scope_ids_.pop_back();
      if (scopes_.empty()) break;
      continue;
    }
    if (in.take(';')) continue;
    int const line = in.line();
    std::string const first =
        in.peek() == '@' ? (in.take('@'), "@" + std::string(in.take('!') ? "!" : "") + in.word()) : in.word();
    if (first.empty()) refuse(line, in.rest_of_line(), "neither an instruction nor a declaration");
    if (in.peek() == ':') {
      in.take(':');
      if (!labels_.try_emplace({scope_ids_.back(), first}, static_cast<int>(k_.code.size())).second)
        refuse(line, first, "a label that is there twice");
    } else if (first == ".loc") {
      location(in.rest_of_line());
    } else if (first[0] == '.') {
      declaration(in, first);
    } else if (first[0] == '@') {
      std::string const name = in.word();
      statement(name, in.until(";"), line);
      instruction& i = k_.code.back();
      i.guard_is_negated = first[1] == '!';
      i.guard = register_of(first.substr(i.guard_is_negated ? 2 : 1));
      if (i.guard.at < 0 || i.guard.width != 0) refuse(line, first, "a guard that is no predicate");
      i.text = first + " " + i.text;
    } else {
      statement(first, in.until(";"), line);
    }
  }
  statement("ret", "", in.line());  // for labels at the end
  fill_targets();
  k_.shared_bytes = (k_.shared_bytes + 127) / 128 * 128;
}

// 1 48 5 or 1 48 5, function_name $L__info_string3, inlined_at 2 120 7: file, line, column
void kernel_parser::location(std::string const& text) {
  std::size_t const inlined = text.find("inlined_at ");
  auto const numbers = split(inlined == std::string::npos ? text : text.substr(inlined + 11), ' ');
  if (numbers.size() < 2) refuse(line_, text, "a place that is not known");
  file_ = std::stoi(numbers[0]);
  file_line_ = std::stoi(numbers[1]);
}

// .reg .b32 %r<5>;  .local .align 8 .b8 name[16];  .shared .align 4 .b8 name[64];  .pragma "...";
void kernel_parser::declaration(scanner& in, std::string const& first) {
  int const line = in.line();
  std::string const text = in.until(";");
  if (first == ".pragma") return;
  std::size_t const blank = text.find(' ');
  if (first == ".reg" && blank != std::string::npos) {
    std::string const type = text.substr(1, blank - 1);
    bool const predicate = type == "pred";
    scalar const t = scalar_of(type);
    if (t == scalar::none) refuse(line, text, "registers of this type are not known");
    int const width = predicate ? 0 : std::max(2, bytes_of(t));
    int const stride = predicate ? 4 : width * warp_size;
    for (std::string const& name : split(text.substr(blank), ',')) {
      std::size_t const many = name.find('<');
      int const count = many == std::string::npos ? 1 : std::stoi(name.substr(many + 1));
      scopes_.back()[name.substr(0, many)] = {room(stride * count), stride, width,
                                              many == std::string::npos ? 0 : count};
    }
    return;
  }
  if (first == ".local" || first == ".shared") {
    int alignment = 1, size = 0, count = 1;  // `.align 16 .b8 name[64]` or `.align 1 .u8 name`
    std::string name;
    for (std::string const& part : split(text, ' ')) {
      if (std::isdigit(static_cast<unsigned char>(part[0])) != 0) {
        alignment = std::stoi(part);
      } else if (scalar const t = part[0] == '.' ? scalar_of(std::string_view(part).substr(1)) : scalar::none; t != scalar::none) {
        size = bytes_of(t);
      } else if (part[0] != '.') {
        std::size_t const open = part.find('[');
        name = part.substr(0, open);
        if (open != std::string::npos) count = std::stoi(part.substr(open + 1));
      }
    }
    if (name.empty() || size == 0) refuse(line, text, "a declaration that is not known");
    int& used = first == ".local" ? k_.local_bytes : k_.shared_bytes;
    int const at = (used + alignment - 1) / alignment * alignment;
    (first == ".local" ? local_ : shared_)[name] = at;
    used = at + size * count;
    return;
  }
  refuse(line, first + " " + text, "a declaration that is not known");
}

void kernel_parser::statement(std::string const& first, std::string const& rest, int line) {
  now_ = trimmed(first + " " + rest);
  line_ = line;
  addresses_ = 0;
  std::vector<std::string> operands = split(rest, ',');
  spelled s;
  std::string name = first;
  if (name.substr(0, 4) == "mov." && operands.size() == 2 && (operands[0][0] == '{' || operands[1][0] == '{')) {
    bool const joins = operands[1][0] == '{';
    name.replace(0, 3, joins ? "join" : "split");
    s.operands = static_cast<int>(split(std::string_view(operands[joins ? 1 : 0]).substr(1), ',').size());
  } else {
    s.operands = static_cast<int>(operands.size());
  }
  for (std::size_t at = 0; at <= name.size();) {
    std::size_t const dot = std::min(name.find('.', at), name.size());
    s.parts.push_back(std::string_view(name).substr(at, dot - at));
    at = dot + 1;
  }
  s.two_results = !operands.empty() && operands[0].find('|') != std::string::npos;

  found m;
  for (auto const family :
       {integer_instruction, float_instruction, logic_instruction, comparison, conversion, memory_instruction,
        atomic_instruction, copy_instruction, warp_instruction, matrix_instruction})
    if (!m) m = family(s);
  if (!m) refuse(line, now_, "an instruction that is not known");

  instruction i;
  i.run = m->run;
  i.kind = m->kind;
  i.number = m->number;
  i.all_meet = m->all_meet;
  i.is_constant = m->is_constant;
  i.line = line;
  i.file = file_;
  i.file_line = file_line_;
  i.text = now_;
  if (m->waits) i.wait = k_.waits++;
  if (m->kind == flow::branch) {
    branches_.push_back({static_cast<int>(k_.code.size()), operands.at(0), scope_ids_});
  } else {
    for (std::size_t k = 0; k < operands.size(); ++k) operand(i, s, static_cast<int>(k), operands[k]);
  }
  k_.code.push_back(i);
}

void kernel_parser::operand(instruction& i, spelled const& s, int number, std::string const& text) {
  auto const add = [&](slot at) {
    if (i.count == most_slots) refuse(line_, now_, "too many operands");
    i.slots[static_cast<std::size_t>(i.count++)] = at;
  };
  int const width = width_of(s, number);
  if (text[0] == '[') {
    address(i, text.substr(1, text.size() - 2));
  } else if (text[0] == '{') {
    for (std::string const& part : split(text.substr(1, text.size() - 2), ',')) add(named(part, width));
  } else if (std::size_t const bar = text.find('|'); bar != std::string::npos) {
    add(named(trimmed(text.substr(0, bar)), width));
    add(named(trimmed(text.substr(bar + 1)), 0));
  } else {
    add(named(text, width));
  }
}

void kernel_parser::address(instruction& i, std::string const& text) {
  std::size_t const plus = text.find('+');
  std::string const base = trimmed(text.substr(0, plus));
  std::int64_t offset = 0;
  if (plus != std::string::npos) {
    auto const by = number_of(trimmed(text.substr(plus + 1)));
    if (!by) refuse(line_, now_, "an address that is not known");
    offset = static_cast<std::int64_t>(*by);
  }
  if (addresses_++ == 0)
    i.offset = offset;
  else
    i.second_offset = offset;
  if (i.count == most_slots) refuse(line_, now_, "too many operands");
  i.slots[static_cast<std::size_t>(i.count++)] = named(base, 8);
}

slot kernel_parser::register_of(std::string const& name) const {
  std::size_t digits = name.size();
  while (digits > 0 && std::isdigit(static_cast<unsigned char>(name[digits - 1])) != 0) --digits;
  for (std::size_t s = scopes_.size(); s-- > 0;) {
    if (auto const whole = scopes_[s].find(name); whole != scopes_[s].end() && whole->second.count == 0)
      return {whole->second.at, whole->second.width};
    if (digits == name.size()) continue;
    auto const many = scopes_[s].find(name.substr(0, digits));
    if (many == scopes_[s].end() || many->second.count == 0) continue;
    int const number = std::stoi(name.substr(digits));
    if (number < many->second.count) return {many->second.at + number * many->second.stride, many->second.width};
  }
  return {};
}

slot kernel_parser::named(std::string const& text, int width) {
  if (slot const r = register_of(text); r.at >= 0) return r;
  if (text == "_") return {room(8 * warp_size), 8};
  if (auto const special = special_of(text)) return constant_of({constant::kind::special, *special, {}, {-1, width}});
  if (auto const number = number_of(text)) return constant_of({constant::kind::number, *number, {}, {-1, width}});
  if (auto const p = parameters_.find(text); p != parameters_.end())
    return constant_of({constant::kind::parameter, static_cast<std::uint64_t>(p->second), {}, {-1, width}});
  if (auto const l = local_.find(text); l != local_.end())
    return constant_of({constant::kind::local, static_cast<std::uint64_t>(l->second), {}, {-1, width}});
  if (auto const s = known_.shared.find(text); s != known_.shared.end() && shared_.count(text) == 0) {
    int const at = (k_.shared_bytes + s->second.at - 1) / s->second.at * s->second.at;
    shared_[text] = at;
    k_.shared_bytes = at + s->second.bytes;
  }
  if (auto const s = shared_.find(text); s != shared_.end())
    return constant_of({constant::kind::shared, static_cast<std::uint64_t>(s->second), {}, {-1, width}});
  if (known_.dynamic_shared.count(text) != 0) return constant_of({constant::kind::dynamic_shared, 0, {}, {-1, width}});
  if (known_.variables->count(text) != 0) return constant_of({constant::kind::global, 0, text, {-1, width}});
  refuse(line_, now_, "an operand that is not known, " + text);
}

slot kernel_parser::constant_of(constant c) {
  std::string const key = std::to_string(static_cast<int>(c.what)) + " " + std::to_string(c.bits) + " " +
                          std::to_string(c.to.width) + " " + c.name;
  auto const [at, is_new] = constants_.try_emplace(key);
  if (is_new) {
    c.to.at = room(c.to.width == 0 ? 4 : c.to.width * warp_size);
    at->second = c.to;
    k_.constants.push_back(c);
  }
  return at->second;
}

void kernel_parser::fill_targets() {
  for (auto const& b : branches_) {
    instruction& i = k_.code[static_cast<std::size_t>(b.at)];
    for (std::size_t s = b.scopes.size(); s-- > 0 && i.target < 0;)
      if (auto const to = labels_.find({b.scopes[s], b.label}); to != labels_.end()) i.target = to->second;
    if (i.target < 0) refuse(i.line, i.text, "a label that is not there");
  }
}

}  // namespace ptx
