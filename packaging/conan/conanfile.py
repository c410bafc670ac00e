"""Conan 2 recipe: headers, and the CMake package that tx installs itself (limits of the compiler, tx_add_program)."""

import os

from conan import ConanFile
from conan.errors import ConanInvalidConfiguration
from conan.tools.build import check_min_cppstd
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout
from conan.tools.files import copy, load, rmdir

required_conan_version = ">=2.0"


class TxConan(ConanFile):
    name = "tx"
    description = "Tensors and automatic differentiation whose training step is built while C++ compiles"
    license = "Apache-2.0"
    topics = ("tensor", "autodiff", "machine-learning", "constexpr", "header-only")
    package_type = "header-library"
    settings = "os", "arch", "compiler", "build_type"

    def set_version(self):
        numbers = {}
        for line in load(self, os.path.join(self.recipe_folder, "..", "..", "include", "tx", "version.hpp")).splitlines():
            words = line.split()
            if len(words) == 3 and words[1].startswith("TX_VERSION_"):
                numbers[words[1].removeprefix("TX_VERSION_")] = words[2]
        self.version = "{MAJOR}.{MINOR}.{PATCH}".format(**numbers)

    def export_sources(self):
        root = os.path.join(self.recipe_folder, "..", "..")
        for pattern in ("CMakeLists.txt", "LICENSE", "cmake/*", "include/*"):
            copy(self, pattern, root, self.export_sources_folder)

    def layout(self):
        cmake_layout(self)

    def requirements(self):
        self.requires("eigen/3.4.0", transitive_headers=True)
        self.requires("nlohmann_json/3.11.3", transitive_headers=True)

    def validate(self):
        check_min_cppstd(self, 20)
        if self.settings.os == "Windows":
            raise ConanInvalidConfiguration("tx needs GCC or clang on Linux or another Unix")

    def package_id(self):
        self.info.clear()  # one package for all settings

    def generate(self):
        CMakeDeps(self).generate()
        toolchain = CMakeToolchain(self)
        toolchain.cache_variables["TX_BUILD_PROGRAMS"] = False
        toolchain.cache_variables["TX_INSTALL"] = True
        toolchain.generate()

    def build(self):
        CMake(self).configure()

    def package(self):
        CMake(self).install()
        copy(self, "LICENSE", self.source_folder, os.path.join(self.package_folder, "licenses"))
        rmdir(self, os.path.join(self.package_folder, "share", "licenses"))

    def package_info(self):
        # find_package(tx) is to find the package's own file: it sets flags that a generated one would not know.
        self.cpp_info.set_property("cmake_find_mode", "none")
        self.cpp_info.builddirs = [os.path.join("share", "cmake", "tx")]
        self.cpp_info.bindirs = []
        self.cpp_info.libdirs = []
