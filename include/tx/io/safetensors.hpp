// The safetensors format: names, types, shapes and bytes of tensors in one file.
#pragma once

#include <tx/io/safetensors_format.hpp>
#include <tx/io/safetensors_reader.hpp>
#include <tx/io/safetensors_writer.hpp>
