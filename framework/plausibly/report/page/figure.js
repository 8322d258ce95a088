// The frame of every chart: sentence, legend, drawing, note, and a table behind a button.

let figures = 0;

/** Returns a table; cells are texts, numbers or nodes, and numbers stand to the right. */
function table({ caption, head, rows }) {
  const right = head.map((_, i) => rows.length > 0 && rows.every((row) => typeof row[i] !== "object" && /^[−\d.,– %]*$/.test(String(row[i] ?? ""))));
  const cell = (tag, value, i, more = {}) => make(right[i] ? `${tag}.number` : tag, more, value);
  return make("table", {},
    make("caption.unseen", {}, caption),
    make("thead", {}, make("tr", {}, head.map((text, i) => cell("th", text, i, { scope: "col" })))),
    make("tbody", {}, rows.map((row) => make("tr", {}, row.map((value, i) => (
      i ? cell("td", value, i) : cell("th", value, i, { scope: "row" })))))));
}

/**
 * Returns a chart with all that belongs to it.
 *
 * A drawing without buttons is hidden from screen readers, which read the table.
 */
function figure({ says, of, drawing, table: data, operable = false, legend }) {
  const id = `table-${(figures += 1)}`;
  const region = make("div.table", { id, hidden: true, tabindex: "0", role: "region", "aria-label": data.caption });
  const button = make("button.button.slight", {
    type: "button", "aria-expanded": "false", "aria-controls": id,
    onclick: () => {
      if (!region.firstChild) region.append(table(typeof data.rows === "function" ? { ...data, rows: data.rows() } : data));
      region.hidden = !region.hidden;
      button.setAttribute("aria-expanded", String(!region.hidden));
      button.textContent = region.hidden ? "Show table" : "Hide table";
    },
  }, "Show table");
  return make("div.figure", {},
    says && make("p.says", {}, says),
    legend && make("ul.legend", {}, legend.map(([kind, text]) => make("li", {}, make(`span.key.${kind}`, { "aria-hidden": "true" }), text))),
    operable ? drawing : make("div", { "aria-hidden": "true" }, drawing),
    make("div.foot", {}, make("span", {}, of), button),
    region);
}
