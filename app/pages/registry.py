"""The pages of the window, in the order of the rail; Ctrl+1 brings the first to the front."""

from app.pages.base import Page
from app.pages.claims import ClaimsPage
from app.pages.compare import ComparePage
from app.pages.ladder import LadderPage
from app.pages.planner import PlannerPage
from app.pages.profile import ProfilePage
from app.pages.roofline import RooflinePage
from app.pages.sessions import SessionsPage
from app.pages.stepper import StepperPage
from app.pages.traffic import TrafficPage

PAGES: tuple[type[Page], ...] = (
    ProfilePage,
    StepperPage,
    ComparePage,
    SessionsPage,
    PlannerPage,
    TrafficPage,
    RooflinePage,
    ClaimsPage,
    LadderPage,
)
