// Streamlit's own words, replaced where Streamlit writes them: never in what people or our own pages have written.
const OWN = [
  "[data-testid=stElementToolbar]", "[data-testid=stTooltipContent]", "[data-testid=stDataFrameColumnMenu]",
  "[data-testid=stDataFrameColumnVisibilityMenu]", "[data-testid=InputInstructions]", "[data-testid=stSkipLink]",
  "[data-testid=stStatusWidget]", "[data-testid=stExpandSidebarButton]", "[data-testid=stSidebarHeader]", "[role=tooltip]",
  "[data-testid=stSelectboxVirtualDropdownEmpty]", "[data-baseweb=menu]", "[data-testid=stCode] button", ".gdg-seveqep",
].join(", ");
const NAMED = ["aria-label", "title", "placeholder"];
const words = new Map(Object.entries(WORDS));
const NAMING = [...words.keys()].filter((text) => text.includes("{name}")).map((text) => [text, text.replace("{name}", "")]);

// "Search: All accounts" is a word of Streamlit's and a name of ours.
function inOurs(text) {
  const whole = words.get(text.trim());
  if (whole !== undefined) return text.replace(text.trim(), () => whole);
  const [named, before] = NAMING.find(([, start]) => text.startsWith(start)) ?? [];
  if (named) return words.get(named).replace("{name}", () => text.slice(before.length));
  const at = text.indexOf(": ");
  const begin = at > 0 ? words.get(text.slice(0, at)) : undefined;
  return begin === undefined ? text : begin + text.slice(at);
}

// What of the menu finds no room stands behind one entry.
function ofMenu(node) {
  const [, count] = /^(\d+) more$/.exec(node.nodeValue) ?? [];
  const text = words.get("{count} more");
  if (count && text && node.parentElement?.closest("[data-testid^=stTopNav]")) node.nodeValue = text.replace("{count}", count);
}

function textOf(node) {
  ofMenu(node);
  const skip = node.parentElement?.closest("a[href^='#']"); // the link that jumps to the content
  if (!skip && !node.parentElement?.closest(OWN)) return;
  const text = inOurs(node.nodeValue);
  if (text !== node.nodeValue) node.nodeValue = text;
}

function namesOf(element) {
  if (!element.matches("button, input, [role=button]")) return;
  for (const name of NAMED) {
    const text = element.getAttribute(name);
    if (text && inOurs(text) !== text) element.setAttribute(name, inOurs(text));
  }
}

function look(root) {
  if (root.nodeType === Node.TEXT_NODE) return textOf(root);
  if (root.nodeType !== Node.ELEMENT_NODE) return undefined;
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT);
  for (let node = root; node; node = walker.nextNode()) {
    if (node.nodeType === Node.TEXT_NODE) textOf(node);
    else namesOf(node);
  }
  return undefined;
}

new MutationObserver((changes) => {
  for (const { type, target, addedNodes } of changes) {
    if (type === "childList") addedNodes.forEach(look);
    else if (type === "attributes") namesOf(target);
    else textOf(target);
  }
}).observe(document.body, { subtree: true, childList: true, characterData: true, attributes: true, attributeFilter: NAMED });
look(document.body);
