"""`present STORY`: open the window with a story on stage; left out, list those that are bundled."""

from flashscope.app.commands import window
from flashscope.app.commands.messages import say
from flashscope.app.stage.story import BUNDLED_STORIES, find_story, read_story


def run(story: str | None) -> int:
    """Present a story, or list the bundled ones; a StoryError says what is wrong with it."""
    if story is not None:
        return window.run(None, read_story(find_story(story)))
    width = max(map(len, BUNDLED_STORIES))
    for name, title in BUNDLED_STORIES.items():
        say(f"{name:{width}}  {title}")
    return 0
