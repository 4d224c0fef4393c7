"""The Designer page: cuts of flash2 and flash3 against the limits of a card."""

from flashscope.app.pages.designer.page import DesignerPage

__all__ = ["DesignerPage"]
