"""How everything looks: colours, fonts, the style sheet."""
