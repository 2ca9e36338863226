"""The script that lets keys alone enter and leave what opens over a page."""

INTO_POPOVERS = """
{
  const BODY = "[data-testid=stPopoverBody]";
  let opener = null;
  const enter = left => {
    const inside = document.querySelector(`${BODY} :is(button, a[href], input, textarea, select, [tabindex="0"])`);
    if (inside) inside.focus();
    else if (left) setTimeout(enter, 50, left - 1);
  };
  addEventListener("click", event => {
    const button = event.target.closest?.("[data-testid=stPopover] button, [data-testid=stPopoverButton]");
    if (!button || event.detail || document.querySelector(BODY)) return;
    opener = button;
    setTimeout(enter, 50, 40);
  }, true);
  addEventListener("keydown", event => {
    if (event.key === "Escape" && opener && document.activeElement.closest(BODY)) setTimeout(() => opener.focus(), 100);
  }, true);
}
"""
"""Takes who opens a popover by a key into it, and back by Escape: it lies at the end of the page, behind all else that Tab meets."""
