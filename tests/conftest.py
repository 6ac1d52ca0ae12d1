"""What holds for every test module."""

from hypothesis import HealthCheck, settings

# A shared machine may be slow to draw examples; that says nothing of what is tested.
settings.register_profile("patient", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("patient")
