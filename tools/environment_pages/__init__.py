"""Pages of the documentation about each environment, made of its package when the site is built.

    page.py        the page of one environment
    gallery.py     the index: a card for each
    rules.py       spec.md as a part of a page, with an anchor at every rule
    pictures.py    render.py's drawings of an episode: a still and a film
    facts.py       what was measured, from docs/assets/environments, and what the package says of itself
    words.py       small pieces of Markdown and HTML

tools/site_environments.py is what mkdocs calls. Nothing here is typed for one environment: a new folder below envs/
is a new page.
"""
