#pragma once

// Squares of three numbers, by a compiled program.
void squares(float const* x, float* result);
