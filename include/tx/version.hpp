// The version of these headers, for the preprocessor; CMake reads it here too. See CHANGELOG.md for what changed.
#pragma once

#define TX_VERSION_MAJOR 0
#define TX_VERSION_MINOR 1
#define TX_VERSION_PATCH 0

// TX_VERSION >= TX_MAKE_VERSION(0, 1, 0)
#define TX_MAKE_VERSION(major, minor, patch) ((major)*1000000 + (minor)*1000 + (patch))
#define TX_VERSION TX_MAKE_VERSION(TX_VERSION_MAJOR, TX_VERSION_MINOR, TX_VERSION_PATCH)
