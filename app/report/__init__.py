"""A session as one page of HTML, and as every other format that leaves the program. No Qt."""
