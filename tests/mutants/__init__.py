"""Wrong twins, wrong references, wrong specs and a wrong engine, each with the checks that must catch it."""
