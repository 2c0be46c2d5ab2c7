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

/* A picture that is shown much smaller than it is, as on a phone, is a link to itself. */
addEventListener("load", () => {
  for (const image of document.querySelectorAll("article p > img")) {
    if (image.naturalWidth < 1.2 * image.clientWidth) continue
    const link = document.createElement("a")
    link.className = "enlarge"
    link.href = image.src
    image.replaceWith(link)
    link.append(image)
  }
})
