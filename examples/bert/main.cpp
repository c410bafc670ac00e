#include "commands.hpp"

#include <vector>

int main(int argc, char** argv) {
  std::vector<std::string> const arguments(argv + (argc > 0), argv + argc);
  return bert::run_program(arguments);
}
