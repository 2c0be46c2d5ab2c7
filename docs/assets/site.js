/* A table or a block of code that is wider than the page scrolls by itself: let the keyboard reach it too. */
(() => {
  const wide = ".md-typeset__scrollwrap, .md-typeset pre > code"
  const update = () => {
    for (const one of document.querySelectorAll(wide)) {
      if (one.scrollWidth > one.clientWidth) one.tabIndex = 0
      else one.removeAttribute("tabindex")
    }
  }
  // The theme wraps tables when it has started, which is after this script has.
  new MutationObserver(update).observe(document.body, { childList: true, subtree: true })
  addEventListener("resize", update)
  addEventListener("load", update)
})()
