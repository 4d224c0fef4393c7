"""Steps from one version of the session file to the next; they import nothing of the app."""
