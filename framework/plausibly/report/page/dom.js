// Building blocks of the page: elements, names, and numbers as this project writes them.

const SVG = "http://www.w3.org/2000/svg";
const NONE = [null, undefined, false];

/** Returns a new element. Children are nodes or texts; nothing that is text is read as HTML. */
function make(tag, attributes = {}, ...children) {
  const [name, ...styles] = tag.split(".");
  const drawn = ["svg", "g", "path", "line", "rect", "circle", "text", "polyline", "title"].includes(name);
  const element = drawn ? document.createElementNS(SVG, name) : document.createElement(name);
  if (styles.length) element.setAttribute("class", styles.join(" "));
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (key === "style") for (const [property, text] of Object.entries(value)) element.style.setProperty(property, text);
    else if (value === true) element.setAttribute(key, "");
    else if (!NONE.includes(value)) element.setAttribute(key, String(value));
  }
  put(element, ...children);
  return element;
}

/** Adds children to an element. */
function put(element, ...children) {
  for (const child of children.flat(3)) {
    if (!NONE.includes(child)) element.append(child instanceof Node ? child : String(child));
  }
  return element;
}

/** Replaces what an element holds. */
function fill(element, ...children) {
  element.replaceChildren();
  return put(element, ...children);
}

const byId = (id) => document.getElementById(id);

/** Returns a name from the data, in its own direction of writing. */
const named = (text, more = {}) => make("bdi.name", { dir: "auto", ...more }, text);

/** Returns names with commas between them. */
const namesOf = (list) => list.flatMap((name, i) => (i ? [", ", named(name)] : [named(name)]));

/** Returns a share with three decimals: 0.901, 1.000. */
function share(value, decimals = 3) {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  const text = Math.abs(value).toFixed(decimals);
  return (value < 0 && Number(text) !== 0 ? "−" : "") + text;
}

/** Returns a whole number with commas. */
const count = (value) => value.toLocaleString("en-US");

/** Returns "1 case" or "3,000 cases". */
const counted = (value, one, many = `${one}s`) => `${count(value)} ${value === 1 ? one : many}`;

/** Returns the width of a share as CSS wants it. */
const width = (value) => `${(100 * Math.min(1, Math.max(0, value || 0))).toFixed(2)}%`;

/** Copies a text, also where pages opened from a folder may not use the clipboard. */
async function copy(text, button) {
  let done = false;
  try {
    await navigator.clipboard.writeText(text);
    done = true;
  } catch {
    const area = make("textarea.unseen", { "aria-hidden": "true", tabindex: "-1" });
    area.value = text;
    document.body.append(area);
    area.select();
    done = document.execCommand("copy");
    area.remove();
    button.focus();
  }
  const title = button.textContent;
  button.textContent = done ? "Copied" : "Select and copy by hand";
  announce(button.textContent);
  setTimeout(() => { button.textContent = title; }, 1600);
}

/** Announces a text to screen readers. */
function announce(text) {
  byId("announced").textContent = text;
}

/** Calls a function once typing has paused. */
function paused(act, milliseconds = 120) {
  let timer = 0;
  return () => {
    clearTimeout(timer);
    timer = setTimeout(act, milliseconds);
  };
}
