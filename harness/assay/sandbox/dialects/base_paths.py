"""Paths of the dialects, which are known without loading one."""

from collections.abc import Mapping
from types import MappingProxyType

#: Path prefix of each dialect, which is the path of its base URL.
BASE_PATHS: Mapping[str, str] = MappingProxyType({"stet": "/stet/psd2/v1"})
