"""Small widgets the pages share."""
