// Parameters that may not be written are to be filled from a file.
// expect: tx::io::load_parameters: the parameters are constant. FIX: spans of elements that may be written
#include <tx/io/parameters.hpp>

struct parameter {
  std::string name;
  std::vector<std::int64_t> shape;
  std::span<float const> data;
};
void load(std::vector<parameter> const& all) { tx::io::load_parameters("file", all); }
