"""Whether a page can be used without a pointer: all of it is reached by the Tab key, and one sees where one is."""

from __future__ import annotations

from playwright.sync_api import JSHandle, Page

MORE = 20
"""Stops that are none of the controls: boxes that scroll, the browser's own."""

# A radio button stands for its group, whose others the arrow keys reach; so do the parts of what ARIA calls a composite widget.
_CONTROLS = """() => {
  const composite = ['tab', 'menuitem', 'menuitemradio', 'menuitemcheckbox', 'option', 'treeitem', 'gridcell', 'radio'];
  const look = element => {
    const style = getComputedStyle(element);
    return [style.boxShadow, style.borderColor].join();
  };
  const all = [...document.querySelectorAll('a[href], button, input, select, textarea, summary, [role=button], [role=link]')];
  const groups = new Set();
  const controls = all.filter(element => {
    if (element.matches(':disabled, [type=hidden], [inert] *')) return false;
    if (!element.checkVisibility({visibilityProperty: true})) return false;
    if (element.tabIndex < 0 && composite.includes(element.getAttribute('role'))) return false;
    if (element.type !== 'radio' || !element.name) return true;
    const group = [element.form && element.form.id, element.name].join();
    const checked = all.some(other => other.type === 'radio' && other.name === element.name && other.checked);
    if (groups.has(group) || (checked && !element.checked)) return false;
    return groups.add(group);
  });
  document.activeElement && document.activeElement.blur();
  getSelection().removeAllRanges();
  return {controls, before: controls.map(look), look};
}"""

_STOPPED_AT = """found => {
  const at = document.activeElement, index = found.controls.indexOf(at);
  if (index < 0) return {index, seen: true};
  const style = getComputedStyle(at);
  const clear = /^(transparent|rgba\\(.*, 0\\))$/.test(style.outlineColor);
  const outlined = style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) > 0 && !clear;
  return {index, seen: outlined || found.look(at) !== found.before[index]};
}"""

_TOLD = "(found, index) => found.controls[index].outerHTML.replace(/\\s+/g, ' ').slice(0, 120)"


def assert_reachable(page: Page) -> None:
    """Fails unless Tab reaches every link, button and field that is shown, each with an outline, ring or other border meanwhile.

    What a dialog or a closed `details` hides is not shown. Ends with the focus where the last Tab left it.
    """
    found = page.evaluate_handle(_CONTROLS)
    count: int = page.evaluate("found => found.controls.length", found)
    left, unseen = set(range(count)), set[int]()
    for _ in range(count + MORE):
        if not left:
            break
        page.keyboard.press("Tab")
        stop = page.evaluate(_STOPPED_AT, found)
        left.discard(stop["index"])
        if not stop["seen"]:
            unseen.add(stop["index"])
    told = [f"is not reached: {_told(page, found, one)}" for one in sorted(left)]
    told += [f"shows nothing when it has the focus: {_told(page, found, one)}" for one in sorted(unseen)]
    found.dispose()
    assert not told, f"without a pointer, {page.url}:\n  " + "\n  ".join(told)


def _told(page: Page, found: JSHandle, index: int) -> str:
    told: str = page.evaluate(f"([found, index]) => ({_TOLD})(found, index)", [found, index])
    return told
