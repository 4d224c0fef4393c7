"""The sweep form: what to run, on which problem, how to measure, and what that would need."""

from flashscope.app.pages.profile.form.form import SweepForm

__all__ = ["SweepForm"]
