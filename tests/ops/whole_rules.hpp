// What tests of `whole` ops teach the interpreter with.
#pragma once

#include "../nn/evaluate.hpp"
