// The first number of a run that is not finite, and the exception that tells of it.
#pragma once

#include <tx/core/error.hpp>
#include <tx/inspect/origin.hpp>

#include <cstdio>
#include <utility>

namespace tx {

struct finite_finding {
  std::string value;    // "nan", "inf" or "-inf"
  std::string op{};     // that made it of finite operands; empty: it came in, or the kernel's rounding alone makes it
  std::string layer{};  // the module of the nearest parameter; empty: there is none
  std::string file{};   // and line that recorded the op, where the model marks lines; see expr/here.hpp
  int line = 0;
  std::string kernel{};                // "matmul + add + gelu"; empty: it came in
  int number = 0, kernels = 0;         // of the kernel, from 1, among those of its program
  step_phase when = step_phase::forward;  // of the op
  int iteration = -1, iterations = 0;  // of the enclosing repeat; -1: there is none
  int part = -1;                       // of a batch in parts; -1: it is whole
};

// Its message tells all of it.
struct not_finite_error : error {
  finite_finding found;
  not_finite_error(std::string const& what, finite_finding f) : error(what), found(std::move(f)) {}
};

namespace exec {

TX_COLD inline std::string text_of(double x) {
  if (is_nan(x)) return "nan";
  char text[32];
  std::snprintf(text, sizeof text, "%.4g", x);
  return text;
}

TX_COLD inline std::string text_of(operand_values const& o) {
  std::string const range = o.count > 1 ? text_of(o.least) + " to " + text_of(o.most) : text_of(o.least);
  if (!o.one) return range;
  return text_of(o.here) + (o.count > 1 ? " (in a row of " + range + ")" : "");
}

// Of many ops the first few.
TX_COLD inline std::string shortened(std::string const& kernel) {
  std::size_t end = std::string::npos, ops = 0;
  for (std::size_t at = kernel.find(" + "); at != std::string::npos; at = kernel.find(" + ", at + 1))
    if (++ops == 6) end = at;
  return ops < 8 ? kernel : kernel.substr(0, end) + " + ... (" + std::to_string(ops + 1) + " ops)";
}

// "nan in the result of div (layer encoder.layer.3, iteration 3 of 12, model.hpp:41), forward kernel 17 of 40: "sub +
// div", row 5, column 2; operands: ..."
TX_COLD inline std::string text_of(finite_finding const& f, std::string const& place,
                                   std::vector<operand_values> const& operands) {
  std::string text =
      f.value + (f.op.empty() ? " in a result of \"" + shortened(f.kernel) + '"' : " in the result of " + f.op);
  std::string around;
  auto const add = [&](std::string const& more) { around += (around.empty() ? "" : ", ") + more; };
  if (!f.layer.empty()) add("layer " + f.layer);
  if (f.iteration >= 0) add("iteration " + std::to_string(f.iteration) + " of " + std::to_string(f.iterations));
  if (f.part >= 0) add("part " + std::to_string(f.part) + " of the batch");
  if (f.line > 0) add(f.file + ':' + std::to_string(f.line));
  if (!around.empty()) text += " (" + around + ")";
  constexpr char const* phases[] = {"forward", "backward", "update"};
  text += std::string(", ") + phases[static_cast<int>(f.when)] + " kernel " + std::to_string(f.number) + " of " +
          std::to_string(f.kernels);
  if (!f.op.empty()) text += ": \"" + shortened(f.kernel) + '"';
  text += ", " + place;
  if (f.op.empty())
    text +=
        "; of its operands plain arithmetic makes a finite number: it is rounding within the kernel, or a sum in "
        "another order";
  for (std::size_t i = 0; i < operands.size(); ++i) text += (i == 0 ? "; operands: " : ", ") + text_of(operands[i]);
  return text;
}

}  // namespace exec
}  // namespace tx
