// What the page gains with a script: sorting, filtering, comparing launches, and lines that light up with their PTX.
const make = (tag, attributes, ...children) => {
  const e = Object.assign(document.createElement(tag), attributes);
  e.append(...children);
  return e;
};
const key = (row, column) => {
  const cell = row.cells[column];
  return cell.dataset.v === undefined ? cell.textContent.trim() : Number(cell.dataset.v);
};
const order = (a, b) => typeof a === "number" && typeof b === "number" ? a - b
  : typeof a === "number" ? -1 : typeof b === "number" ? 1 : a.localeCompare(b);

function sortable(table) {
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => {
    const button = make("button", { type: "button" }, ...head.childNodes);
    head.replaceChildren(button);
    button.addEventListener("click", () => {
      const down = head.getAttribute("aria-sort") !== "descending";
      heads.forEach(h => h.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      const rows = [...table.tBodies[0].rows];
      rows.sort((a, b) => order(key(a, column), key(b, column)) * (down ? -1 : 1));
      table.tBodies[0].append(...rows);
    });
  });
}

function filterable(table, tools) {
  const input = make("input", { type: "search", placeholder: "kernel name" });
  const count = make("span", { className: "dim" });
  count.setAttribute("aria-live", "polite");
  input.addEventListener("input", () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const row of table.tBodies[0].rows) {
      row.hidden = !words.every(w => row.textContent.toLowerCase().includes(w));
      shown += !row.hidden;
    }
    for (const section of document.querySelectorAll("section.kernel")) {
      const row = table.querySelector(`tr[data-k="${section.id.slice(1)}"]`);
      section.hidden = Boolean(row?.hidden);
    }
    count.textContent = words.length ? `${shown} of ${table.tBodies[0].rows.length}` : "";
  });
  tools.append(make("label", {}, "Filter ", input), count);
}

// The figures of one kernel's section, by name.
const figures = k => new Map([...document.querySelectorAll(`#k${k} [data-m]`)].map(cell => [cell.dataset.m, {
  label: cell.parentElement.cells[0].textContent, text: cell.textContent, value: Number(cell.dataset.v),
  trust: cell.nextElementSibling.textContent }]));

function comparable(table, tools) {
  if (table.tBodies[0].rows.length < 2)
    return;
  const out = make("div", { id: "compared" });
  const chosen = [];
  table.tHead.rows[0].append(make("th", { textContent: "compare", className: "compare" }));
  const show = () => {
    out.replaceChildren();
    if (chosen.length !== 2)
      return;
    const [a, b] = chosen.map(row => figures(row.dataset.k));
    const names = chosen.map(row => row.cells[0].textContent + " " + row.cells[1].textContent);
    const body = make("tbody");
    for (const name of new Set([...a.keys(), ...b.keys()])) {
      const x = a.get(name), y = b.get(name);
      const change = !x || !y ? "" : x.value === y.value ? "same"
        : x.value === 0 ? "from 0" : `${y.value > x.value ? "+" : ""}${((y.value / x.value - 1) * 100).toPrecision(3)} %`;
      body.append(make("tr", {}, make("th", { textContent: (x ?? y).label }), make("td", { textContent: x?.text ?? "" }),
        make("td", { textContent: y?.text ?? "" }), make("td", { textContent: change }),
        make("td", { className: "l dim", textContent: (y ?? x).trust })));
    }
    const head = make("tr", {}, ...["", ...names, "change", ""].map(t => make("th", { textContent: t })));
    out.append(make("table", { className: "data" }, make("caption", { textContent: "Two launches compared" }), make("thead", {}, head), body));
  };
  for (const row of table.tBodies[0].rows) {
    const box = make("input", { type: "checkbox" });
    box.setAttribute("aria-label", `compare ${row.cells[0].textContent} ${row.cells[1].textContent}`);
    box.addEventListener("change", () => {
      if (box.checked)
        chosen.push(row);
      else
        chosen.splice(chosen.indexOf(row), 1);
      if (chosen.length > 2)
        chosen.shift().querySelector("input").checked = false;
      show();
    });
    row.append(make("td", { className: "compare" }, box));
  }
  table.parentElement.after(out);
}

function linked(sides) {
  let lit = [];
  const light = target => {
    const row = target.closest?.("tr[data-g]");
    lit.forEach(e => e.classList.remove("on"));
    lit = row ? [...sides.querySelectorAll(`tr[data-g="${row.dataset.g}"]`)] : [];
    lit.forEach(e => e.classList.add("on"));
    return row;
  };
  sides.addEventListener("mouseover", e => light(e.target));
  sides.addEventListener("mouseleave", () => light(sides));
  sides.addEventListener("click", e => {
    const row = light(e.target), pane = row?.closest(".pane");
    const other = lit.find(r => r.closest(".pane") !== pane)?.closest(".pane");
    const first = other?.querySelector("tr.on");
    if (first && !e.target.closest("a"))
      other.scrollTop = first.offsetTop - other.offsetTop - other.clientHeight / 3;
  });
}

for (const table of document.querySelectorAll("table[data-tools]")) {
  const tools = make("div", { className: "tools" });
  table.parentElement.before(tools);
  sortable(table);
  filterable(table, tools);
  comparable(table, tools);
}
document.querySelectorAll(".sides").forEach(linked);
