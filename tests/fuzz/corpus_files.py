"""Where the inputs of the fuzz targets lie."""
import pathlib
import shutil

root = pathlib.Path(__file__).parent / "corpus"


def put(target, files):
    folder = root / target
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for name, content in files.items():
        (folder / name).write_bytes(content.encode() if isinstance(content, str) else content)
