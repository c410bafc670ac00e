"""Checks packaging/ without vcpkg and Conan: usage is recipes.py SOURCE WORK [CMAKE-ARGUMENT...]. WORK is emptied first.

The port is run by CMake with vcpkg's functions replaced by what they do for this port; the Conan recipe's own methods run over
stand-ins for the few helpers that they call. Both must package the headers, the CMake package and the license, under the version
that version.hpp states.
"""

import fnmatch
import itertools
import importlib.util
import json
import pathlib
import shutil
import subprocess
import sys
import types

source, work = (pathlib.Path(p).resolve() for p in sys.argv[1:3])
arguments = ["-DCMAKE_BUILD_TYPE=Release", *sys.argv[3:]]
packaging = source / "packaging"


def run(*command):
    said = subprocess.run([str(c) for c in command], capture_output=True, text=True)
    if said.returncode != 0:
        sys.exit(f"recipes.py: {' '.join(map(str, command))} failed:\n{said.stdout}{said.stderr}")


def expect(found, wanted, what):
    if found != wanted:
        sys.exit(f"recipes.py: {what}: found {found!r}, wanted {wanted!r}")


def expect_files(folder, *names):
    for name in names:
        if not (folder / name).is_file():
            sys.exit(f"recipes.py: {folder} lacks {name}")


def stated_version():
    defined = dict(line.split()[1:3] for line in (source / "include/tx/version.hpp").read_text().splitlines() if line.startswith("#define TX_VERSION_"))
    return ".".join(defined["TX_VERSION_" + part] for part in ("MAJOR", "MINOR", "PATCH"))


def check_vcpkg():
    expect(json.loads((packaging / "vcpkg/vcpkg.json").read_text())["version-semver"], stated_version(), "vcpkg.json's version")
    package = work / "vcpkg"
    run("cmake", f"-DPORT_FILE={packaging / 'vcpkg/portfile.cmake'}", f"-DCURRENT_PACKAGES_DIR={package}", f"-DBUILD={work / 'vcpkg_build'}",
        f"-DARGUMENTS={';'.join(arguments)}", "-P", source / "tests/package/vcpkg.cmake")
    expect_files(package, "include/tx/tx.hpp", "include/tx/all.hpp", "share/tx/txConfig.cmake", "share/tx/TxFlags.cmake", "share/tx/copyright", "share/tx/usage")
    expect(sorted(p.name for p in package.iterdir()), ["include", "share"], "folders of the port")


def copy(_, pattern, src, dst):
    src, dst = pathlib.Path(src), pathlib.Path(dst)
    # What the pattern names at the top alone: other tests make and delete files in build/ meanwhile.
    for file in itertools.chain.from_iterable([top, *top.rglob("*")] for top in src.glob(pattern.split("/")[0])):
        name = file.relative_to(src).as_posix()
        if file.is_file() and fnmatch.fnmatch(name, pattern):
            (dst / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(file, dst / name)


class Helper:
    """Stands in for CMakeDeps and CMakeToolchain (which hand over cache variables) and for CMake."""

    cache = {}

    def __init__(self, recipe):
        self.recipe, self.cache_variables = recipe, Helper.cache

    def generate(self):
        pass

    def configure(self):
        run("cmake", "-S", self.recipe.source_folder, "-B", self.recipe.build_folder, *arguments,
            *(f"-D{name}={'ON' if value else 'OFF'}" for name, value in Helper.cache.items()))

    def install(self):
        run("cmake", "--install", self.recipe.build_folder, "--prefix", self.recipe.package_folder)


def stand_ins():
    def module(name, **members):
        sys.modules[name] = types.ModuleType(name)
        vars(sys.modules[name]).update(members)

    recipe = type("ConanFile", (), {})
    module("conan", ConanFile=recipe)
    module("conan.errors", ConanInvalidConfiguration=Exception)
    module("conan.tools")
    module("conan.tools.build", check_min_cppstd=None, can_run=None)
    module("conan.tools.cmake", CMake=Helper, CMakeDeps=Helper, CMakeToolchain=Helper, cmake_layout=None)
    module("conan.tools.files", copy=copy, load=lambda _, path: pathlib.Path(path).read_text(), rmdir=lambda _, path: shutil.rmtree(path))


def load_class(path, name):
    sys.dont_write_bytecode = True
    spec = importlib.util.spec_from_file_location(path.parent.name, path)
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return getattr(loaded, name)


def check_conan():
    stand_ins()
    load_class(packaging / "conan/test_package/conanfile.py", "TxTestConan")
    recipe = load_class(packaging / "conan/conanfile.py", "TxConan")()
    recipe.recipe_folder = str(packaging / "conan")
    recipe.export_sources_folder = recipe.source_folder = str(work / "conan_sources")
    recipe.build_folder, recipe.package_folder = str(work / "conan_build"), str(work / "conan")
    recipe.cpp_info = types.SimpleNamespace(set_property=lambda *_: None)
    recipe.set_version()
    expect(recipe.version, stated_version(), "the Conan recipe's version")
    for step in (recipe.export_sources, recipe.generate, recipe.build, recipe.package, recipe.package_info):
        step()
    package = work / "conan"
    expect_files(package, "include/tx/tx.hpp", "include/tx/all.hpp", "licenses/LICENSE", f"{recipe.cpp_info.builddirs[0]}/txConfig.cmake")


shutil.rmtree(work, ignore_errors=True)
work.mkdir(parents=True)
check_vcpkg()
check_conan()
print("recipes: all checks passed")
