#!/usr/bin/env python3
"""Checks the recipes in packaging/ and debian/ without their tools: syntax, version, options of CMake, dependencies, and
the files that they name. Debian's package list in scripts/lib.sh is what the dependencies are compared with."""

import ast
import json
import pathlib
import re
import subprocess
import sys

TOP = pathlib.Path(__file__).resolve().parent.parent
mistakes = []


def text(name):
    return (TOP / name).read_text(encoding="utf-8")


def expect(true, message):
    if not true:
        mistakes.append(message)


def found(pattern, name):
    match = re.search(pattern, text(name), re.MULTILINE)
    return match.group(1) if match else None


cmake = text("CMakeLists.txt")
version = re.search(r"project\(skel VERSION ([0-9.]+)", cmake).group(1)
for name, pattern in {
    "CITATION.cff": r"^version: (.*)$",
    "scripts/skel-mpiexec": r'echo "skel-mpiexec (.*)"',
    "debian/changelog": r"^skel \((.*?)\)",
    "packaging/spack/packages/skel/package.py": r'version\("([0-9.]+)"',
    "packaging/vcpkg/skel/vcpkg.json": r'"version": "(.*)"',
    "packaging/conan/conanfile.py": r'^    version = "(.*)"',
    "packaging/conda/meta.yaml": r'set version = "(.*)"',
}.items():
    expect(found(pattern, name) == version, f"{name}: version {found(pattern, name)}, expected {version}")

# Syntax.
for name in ("packaging/spack/packages/skel/package.py", "packaging/conan/conanfile.py"):
    ast.parse(text(name), name)
json.loads(text("packaging/vcpkg/skel/vcpkg.json"))
json.loads(text(".devcontainer/devcontainer.json"))
for name in ("packaging/conda/build.sh", "debian/tests/consumer"):
    subprocess.run(["bash", "-n", str(TOP / name)], check=True)

# Options exist.
options = set(re.findall(r"(?:option\(|set\()(SKEL_\w+|BUILD_SHARED_LIBS)", cmake))
recipes = {
    "debian": ["debian/rules", "debian/control"],
    "spack": ["packaging/spack/packages/skel/package.py"],
    "vcpkg": ["packaging/vcpkg/skel/portfile.cmake", "packaging/vcpkg/skel/vcpkg.json"],
    "conan": ["packaging/conan/conanfile.py"],
    "conda": ["packaging/conda/build.sh", "packaging/conda/meta.yaml"],
}
contents = {recipe: "".join(text(name) for name in names) for recipe, names in recipes.items()}
for recipe, content in contents.items():
    for option in re.findall(r"\b(SKEL_[A-Z_]+|BUILD_SHARED_LIBS)\b", content):
        expect(option in options, f"{recipe}: CMakeLists.txt has no option {option}")

# Dependencies: the name in other recipes, and whether those without programs need it. Debian's own names are compared.
library, programs, neither = "library", "programs", ""
known = {
    "libopenmpi-dev": ("mpi", library),
    "libboost-mpi-dev": ("boost", library),
    "libboost-serialization-dev": ("boost", library),
    "libxxhash-dev": ("xxhash", library),
    "libfmt-dev": ("fmt", library),
    "nlohmann-json3-dev": ("nlohmann.json", library),
    "libeigen3-dev": ("eigen", library),
    "libsodium-dev": ("libsodium", library),
    "libotf2-trace-dev": ("otf2", library),  # off in most recipes
    "libcli11-dev": ("cli11", programs),
    "libpng-dev": ("libpng", programs),
    "libexpat1-dev": ("expat", programs),
    "liblz4-dev": ("lz4", programs),
    "liblzma-dev": ("xz", programs),
    "libnetcdf-dev": ("netcdf", programs),
    "libhdf5-dev": ("hdf5", programs),
    "libopenexr-dev": ("openexr", programs),
    "nettle-dev": ("nettle", programs),
    "zlib1g-dev": ("zlib", programs),
    "libsimgrid-dev": ("simgrid", neither),  # off in most recipes
    "catch2": ("catch2", neither),  # tests only
}
listed = re.search(r"build_packages=\((.*?)\)", text("scripts/lib.sh"), re.DOTALL).group(1).split()
tools = {"g++", "cmake", "ninja-build", "openmpi-bin", "pkg-config"}
for package in listed:
    if package in tools:
        continue
    if package not in known:
        mistakes.append(f"scripts/lib.sh: {package}: add it to the recipes and to scripts/check_packaging.py")
        continue
    word, needed_by = known[package]
    debian = {"libopenmpi-dev": "mpi-default-dev"}.get(package, package)
    expect(package == "catch2" or debian in contents["debian"], f"debian/control: {debian} is missing")
    for recipe, content in contents.items():
        without_programs = recipe in ("vcpkg", "conan")
        if recipe == "debian" or needed_by == neither or (needed_by == programs and without_programs):
            continue
        expect(re.search(word, content, re.IGNORECASE), f"{recipe}: {word} is missing")

# Files that recipes name exist.
for part in ast.literal_eval(re.search(r"^EXPORTED = (.*)$", contents["conan"], re.MULTILINE).group(1)):
    expect(any(TOP.glob(part)), f"conan: no {part}")
for page in re.findall(r"\]\((\S+?)\)", text("packaging/README.md")):
    expect((TOP / "packaging" / page).exists(), f"packaging/README.md: no {page}")

for mistake in mistakes:
    print(mistake, file=sys.stderr)
print(f"{len(contents)} recipes, version {version}, {len(mistakes)} mistakes")
sys.exit(1 if mistakes else 0)
