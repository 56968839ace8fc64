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
  const pageLength = 100;

  // All rows of a table, in the order in which they were written, whether or not they stand in the document.
  function recordsOf(table) {
    const records = Array.from(table.tBodies[0].rows, (row) => ({
      row,
      texts: Array.from(row.cells, (cell) => cell.textContent.trim()),
      numbers: Array.from(row.cells, page.number),
    }));
    const rest = table.parentElement.parentElement.querySelector("script.rows");
    if (!rest) return records;
    const columns = JSON.parse(rest.textContent);
    columns[0][1].forEach((_, r) => {
      const cells = columns.map(([distinct, places]) => distinct[places[r]]);
      records.push({
        row: null,
        texts: cells.map((cell) => (Array.isArray(cell) ? cell[0] : cell)),
        numbers: cells.map((cell) => (Array.isArray(cell) ? cell[1] : null)),
      });
    });
    return records;
  }

  function rowOf(record, headings) {
    if (record.row) return record.row;
    record.row = document.createElement("tr");
    record.texts.forEach((text, column) => {
      const cell = record.row.insertCell();
      if (headings[column].classList.contains("n")) cell.className = "n";
      if (record.numbers[column] !== null) cell.dataset.v = record.numbers[column];
      const box = text.length > 160 ? cell.appendChild(document.createElement("div")) : cell;
      box.textContent = text;
    });
    return record.row;
  }

  // A word stands somewhere in a row, "column=text" in a column of such a name and nowhere else.
  function filterOf(text, names) {
    const tests = text.toLowerCase().split(/\s+/).filter(Boolean).map((word) => {
      const equals = word.lastIndexOf("=");
      const [name, value] = [word.slice(0, Math.max(equals, 0)), word.slice(equals + 1)];
      const columns = name ? [...names.keys()].filter((column) => names[column].includes(name)) : [];
      if (!columns.length || !value) return (record) => record.all.includes(word);
      return (record) => columns.some((column) => record.texts[column].toLowerCase().replace(/ /g, "_") === value);
    });
    return (record) => {
      record.all = record.all || record.texts.join("\n").toLowerCase();
      return tests.every((test) => test(record));
    };
  }

  function bring(table) {
    const headings = Array.from(table.tHead.rows[0].cells);
    const body = table.tBodies[0];
    const all = (table.records = recordsOf(table));
    const length = all.some((record) => record.row === null) ? pageLength : all.length;
    let sorted = all, shown = all, first = 0;

    const tools = document.createElement("div");
    tools.className = "tools";
    const input = document.createElement("input");
    const count = document.createElement("span");
    const button = (text, label, step) => {
      const made = document.createElement("button");
      made.type = "button";
      made.textContent = text;
      made.setAttribute("aria-label", label);
      made.addEventListener("click", () => { first += step; show(); });
      return made;
    };
    const [back, on] = [button("‹", "rows before", -length), button("›", "rows after", length)];

    function show() {
      first = Math.max(0, Math.min(first, Math.floor((shown.length - 1) / length) * length));
      body.replaceChildren(...shown.slice(first, first + length).map((record) => rowOf(record, headings)));
      const number = (value) => value.toLocaleString("en");
      const last = Math.min(first + length, shown.length);
      count.textContent = (shown.length > length ? number(first + 1) + "–" + number(last) + " of " : "")
        + (shown.length < all.length ? number(shown.length) + " of " : "") + number(all.length) + " rows";
      back.disabled = first === 0;
      on.disabled = first + length >= shown.length;
    }
    function filter() {
      const names = headings.map((heading) => heading.dataset.name.toLowerCase().replace(/ /g, "_"));
      const keep = filterOf(input.value, names);
      shown = input.value.trim() ? sorted.filter(keep) : sorted;
      first = 0;
      show();
    }
    function sortBy(column, heading) {
      const down = heading.getAttribute("aria-sort") === "ascending";
      for (const other of headings) other.removeAttribute("aria-sort");
      heading.setAttribute("aria-sort", down ? "descending" : "ascending");
      const key = ({ numbers, texts }) => (numbers[column] !== null ? numbers[column] : texts[column]);
      sorted = all.map((record) => ({ record, key: key(record) })).sort((a, b) => {
        if ((a.key === "") !== (b.key === "")) return a.key === "" ? 1 : -1;  // empty cells stay last
        const order = typeof a.key === "number" && typeof b.key === "number"
          ? a.key - b.key : String(a.key).localeCompare(String(b.key), "en", { numeric: true });
        return down ? -order : order;
      }).map(({ record }) => record);
      filter();
    }

    if (all.length > 1) {
      headings.forEach((heading, column) => {
        const click = document.createElement("button");
        click.type = "button";
        click.append(...heading.childNodes);
        heading.append(click);
        click.addEventListener("click", () => sortBy(column, heading));
      });
    }
    if (all.length <= 12) return;
    input.type = "search";
    input.placeholder = "Filter rows";
    input.title = "words of a row, or column=text";
    input.setAttribute("aria-label", "Filter the rows of " + table.getAttribute("aria-label"));
    input.addEventListener("input", filter);
    tools.append(input, count);
    if (length < all.length) tools.append(back, on);
    table.parentElement.before(tools);
    show();
  }

  document.querySelectorAll("table").forEach(bring);

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
