// One kernel's body to instructions.
#pragma once

#include "instructions.hpp"
#include "scanner.hpp"

#include <map>
#include <set>

namespace ptx {

// What a module says before its kernels.
struct symbols {
  std::map<std::string, parameter> shared;  // at: alignment; a kernel gets those that it names
  std::set<std::string> dynamic_shared;
  std::map<std::string, variable> const* variables = nullptr;
};

class kernel_parser {
 public:
  kernel_parser(kernel& k, symbols const& known, std::map<std::string, int> parameters)
      : k_(k), known_(known), parameters_(std::move(parameters)) {
    scopes_.emplace_back();
  }

  void body(scanner& in);  // after its {, up to its }

 private:
  struct registers {
    int at = 0, stride = 0, width = 0, count = 0;
  };

  void declaration(scanner& in, std::string const& first);
  void location(std::string const& text);
  void statement(std::string const& first, std::string const& rest, int line);
  void operand(instruction& i, spelled const& s, int number, std::string const& text);
  void address(instruction& i, std::string const& text);
  slot named(std::string const& text, int width);
  slot register_of(std::string const& name) const;
  slot constant_of(constant c);
  int room(int bytes);
  void fill_targets();
  [[noreturn]] void refuse(int line, std::string const& text, std::string const& why) const;

  kernel& k_;
  symbols const& known_;
  std::map<std::string, int> parameters_;                 // name, bytes from the first one
  std::vector<std::map<std::string, registers>> scopes_;  // %r of %r<5>, or a whole name
  std::map<std::string, int> local_, shared_;             // name, bytes from the beginning
  struct branch {
    int at;  // instruction
    std::string label;
    std::vector<int> scopes;  // around it
  };
  std::vector<int> scope_ids_{0};
  int last_scope_ = 0;
  std::map<std::pair<int, std::string>, int> labels_;  // within a scope
  std::vector<branch> branches_;
  std::map<std::string, slot> constants_;
  int addresses_ = 0;  // of the instruction that is read
  int line_ = 0;
  int file_ = 0, file_line_ = 0;  // of C++
  std::string now_;
};

}  // namespace ptx
