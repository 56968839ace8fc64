// What all scripts of a page share, and its tables: sorting by a click on a heading, and a filter.
"use strict";

const page = {
  dark: window.matchMedia("(prefers-color-scheme: dark)"),
  redraw: [],  // functions that draw the charts anew, in other colours or at another width

  css(name) {
    return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  },

  // A colour of the palette of twelve. The second one is striped, so that it differs from the first in print too.
  paint(context, index) {
    const colour = this.css("--c" + (index % 12));
    if (index % 12 !== 1) return colour;
    const tile = document.createElement("canvas");
    tile.width = tile.height = 6;
    const pen = tile.getContext("2d");
    pen.fillStyle = colour;
    pen.fillRect(0, 0, 6, 6);
    pen.strokeStyle = this.css("--c0");
    pen.lineWidth = 1.5;
    pen.beginPath();
    for (const x of [-6, 0, 6]) {
      pen.moveTo(x, 6);
      pen.lineTo(x + 6, 0);
    }
    pen.stroke();
    return context.createPattern(tile, "repeat");
  },

  // A value with its unit as people read it: three digits and a prefix.
  text(value, unit) {
    if (value === null || !isFinite(value)) return "";
    const digits = (number) => String(Number(number.toPrecision(3)));
    if (unit === "%") return digits(value) + " %";
    if (unit === "byte") {
      const prefixes = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
      let step = 0;
      for (; Math.abs(value) >= 1024 && step < prefixes.length - 1; ++step) value /= 1024;
      return digits(value) + " " + prefixes[step];
    }
    if (unit === "s") {
      if (value === 0) return "0 s";
      if (Math.abs(value) >= 172800) return digits(value / 86400) + " d";
      if (Math.abs(value) >= 7200) return digits(value / 3600) + " h";
      for (const [size, name] of [[1, "s"], [1e-3, "ms"], [1e-6, "µs"], [1e-9, "ns"], [1e-12, "ps"]]) {
        if (Math.abs(value) >= size * 0.9995 || name === "ps") return digits(value / size) + " " + name;
      }
    }
    if (value !== 0 && (Math.abs(value) >= 1e9 || Math.abs(value) < 1e-3)) return value.toExponential(2);
    return Number(value.toPrecision(4)).toLocaleString("en") + (unit ? " " + unit : "");
  },

  // A list of colours and names below a canvas, in the place of the one before.
  legend(box, entries) {
    const list = document.createElement("ul");
    list.className = "legend";
    for (const { name, index, colour } of entries) {
      const entry = document.createElement("li");
      const swatch = document.createElement("span");
      if (index === undefined) {
        swatch.className = "key";
        swatch.style.borderTopColor = colour;
      } else {
        swatch.className = "swatch";
        swatch.style.background = "var(--c" + (index % 12) + ")";
        if (index % 12 === 1) {
          swatch.style.background = "repeating-linear-gradient(135deg, var(--c1) 0 2px, var(--c0) 2px 3px)";
        }
      }
      entry.append(swatch, name);
      list.append(entry);
    }
    const old = box.querySelector(".legend");
    old ? old.replaceWith(list) : box.append(list);
  },

  number(cell) {
    return cell.dataset.v === undefined ? null : Number(cell.dataset.v);
  },
};

(function () {
  function sortBy(table, column, heading) {
    const down = heading.getAttribute("aria-sort") === "ascending";
    for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
    heading.setAttribute("aria-sort", down ? "descending" : "ascending");
    const body = table.tBodies[0];
    const key = (row) => {
      const cell = row.cells[column];
      const number = page.number(cell);
      return number !== null ? number : cell.textContent.trim();
    };
    const rows = Array.from(body.rows, (row) => ({ row, key: key(row) }));
    rows.sort((a, b) => {
      if ((a.key === "") !== (b.key === "")) return a.key === "" ? 1 : -1;  // empty cells stay last
      const order = typeof a.key === "number" && typeof b.key === "number"
        ? a.key - b.key : String(a.key).localeCompare(String(b.key), "en", { numeric: true });
      return down ? -order : order;
    });
    for (const { row } of rows) body.append(row);
  }

  function addFilter(table) {
    const rows = Array.from(table.tBodies[0].rows);
    if (rows.length <= 12) return;
    const tools = document.createElement("div");
    tools.className = "tools";
    const input = document.createElement("input");
    input.type = "search";
    input.placeholder = "Filter rows";
    input.setAttribute("aria-label", "Filter the rows of " + table.getAttribute("aria-label"));
    const count = document.createElement("span");
    count.textContent = rows.length + " rows";
    const texts = new Map(rows.map((row) => [row, row.textContent.toLowerCase()]));
    input.addEventListener("input", () => {
      const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
      let shown = 0;
      for (const [row, text] of texts) {
        row.hidden = !words.every((word) => text.includes(word));
        if (!row.hidden) ++shown;
      }
      count.textContent = words.length ? shown + " of " + rows.length + " rows" : rows.length + " rows";
    });
    tools.append(input, count);
    table.parentElement.before(tools);
  }

  for (const table of document.querySelectorAll("table")) {
    // Charts read their rows in the order in which they were written.
    table.written = Array.from(table.tBodies[0].rows);
    if (table.written.length > 1) {
      Array.from(table.tHead.rows[0].cells).forEach((heading, column) => {
        const button = document.createElement("button");
        button.type = "button";
        button.append(...heading.childNodes);
        heading.append(button);
        button.addEventListener("click", () => sortBy(table, column, heading));
      });
    }
    addFilter(table);
  }

  const drawAll = () => page.redraw.forEach((draw) => draw());
  page.dark.addEventListener("change", drawAll);
  window.addEventListener("beforeprint", () => {
    document.documentElement.classList.add("print");
    drawAll();
  });
  window.addEventListener("afterprint", () => {
    document.documentElement.classList.remove("print");
    drawAll();
  });
})();
