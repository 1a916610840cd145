"""Settings of property tests: a loaded machine fails none, and the same commit gives the same examples.

HYPOTHESIS_PROFILE=explore tries other examples in each run.
"""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

settings.register_profile("explore", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("suite", settings.get_profile("explore"), derandomize=True, database=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "suite"))
