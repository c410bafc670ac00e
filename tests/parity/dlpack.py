"""dlpack.py LIBRARY: numpy takes a parameter of tx's by DLPack, and tx arrays of numpy's. 77: there is no numpy that can."""
import ctypes
import gc
import sys

try:
    import numpy
    numpy.from_dlpack
except (ImportError, AttributeError) as reason:
    print("skipped:", reason)
    sys.exit(77)

library = ctypes.PyDLL(sys.argv[1])  # deleters of numpy's need the interpreter's lock
python = ctypes.pythonapi
capsule_new, capsule_pointer, capsule_name = python.PyCapsule_New, python.PyCapsule_GetPointer, python.PyCapsule_GetName
capsule_rename = python.PyCapsule_SetName
capsule_new.restype, capsule_new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
capsule_pointer.restype, capsule_pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
capsule_name.restype, capsule_name.argtypes = ctypes.c_char_p, [ctypes.py_object]
capsule_rename.argtypes = [ctypes.py_object, ctypes.c_char_p]
for lend in (library.lend_weight, library.lend_weight_versioned):
    lend.restype = ctypes.c_void_p
for take in (library.take_tensor, library.take_tensor_versioned):
    take.restype, take.argtypes = ctypes.c_char_p, [ctypes.c_void_p, ctypes.c_void_p]

PLAIN, VERSIONED = b"dltensor", b"dltensor_versioned"
USED = {PLAIN: b"used_dltensor", VERSIONED: b"used_dltensor_versioned"}


class Lent:
    """What numpy.from_dlpack asks a tensor."""

    def __init__(self, name):
        self.name = name

    def __dlpack_device__(self):
        return (1, 0)

    def __dlpack__(self, **_):
        lend = library.lend_weight_versioned if self.name == VERSIONED else library.lend_weight
        return capsule_new(lend(), self.name, None)


def check_lent(name):
    before = library.blocks_alive()
    array = numpy.from_dlpack(Lent(name))
    assert library.blocks_alive() == before + 1
    assert array.shape == (3, 4) and array.dtype == numpy.float32, array
    assert (array == numpy.arange(12, dtype=numpy.float32).reshape(3, 4)).all(), array
    column = array[:, 1]
    del array
    gc.collect()
    assert library.blocks_alive() == before + 1 and column.tolist() == [1, 5, 9]  # a part of it keeps it
    del column
    gc.collect()
    assert library.blocks_alive() == before


def taken(array, **version):
    """The elements that tx reads, or what it says against them."""
    capsule = array.__dlpack__(**version)
    name = capsule_name(capsule)
    assert (name == VERSIONED) == bool(version), name
    pointer = capsule_pointer(capsule, name)
    capsule_rename(capsule, USED[name])
    to = numpy.full((3, 4), -1, numpy.float32)
    take = library.take_tensor_versioned if name == VERSIONED else library.take_tensor
    said = take(pointer, to.ctypes.data).decode()
    return said or to


def check_taken(**version):
    plain = numpy.linspace(0, 1, 12, dtype=numpy.float32).reshape(3, 4)
    references = sys.getrefcount(plain)
    for array in (plain, plain.T.copy().T, plain[::-1, ::-1], numpy.repeat(plain, 2, axis=1)[:, ::2]):
        got = taken(array, **version)
        assert (got == array).all(), got
    del array
    gc.collect()
    assert sys.getrefcount(plain) == references, "numpy's array was not given back"
    assert "are f64; those asked for are f32" in taken(plain.astype(numpy.float64), **version)
    assert "[4, 3]" in taken(plain.T, **version)
    assert "1 axes" in taken(plain.reshape(12), **version)


check_lent(PLAIN)
check_taken()
if tuple(int(part) for part in numpy.__version__.split(".")[:2]) >= (2, 1):
    check_lent(VERSIONED)
    check_taken(max_version=(1, 0))
print("numpy", numpy.__version__, "and tx agree")
