// Put at the end of a page under test: uses the page as a reader would and tells its parent what is wrong.
"use strict";

(function () {
  const problems = window.problems;

  function checkCanvas(canvas, index) {
    const name = "canvas " + index + " (" + canvas.getAttribute("aria-label") + ")";
    if (!canvas.width || !canvas.height) {
      problems.push(name + " has no size");
      return;
    }
    const pixels = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
    const colours = new Set();
    let drawn = 0;
    for (let i = 0; i < pixels.length; i += 4) {
      if (pixels[i + 3] === 0) continue;
      ++drawn;
      if (colours.size < 16) colours.add((pixels[i] << 16) | (pixels[i + 1] << 8) | pixels[i + 2]);
    }
    if (drawn < 100 || colours.size < 2) problems.push(name + " is empty: " + drawn + " pixels drawn");
  }

  const key = (cell) => (cell.dataset.v !== undefined ? Number(cell.dataset.v) : cell.textContent.trim());

  function checkSorting(table) {
    const name = "table " + table.id;
    Array.from(table.tHead.rows[0].cells).forEach((heading, column) => {
      const button = heading.querySelector("button");
      if (!button) {
        problems.push(name + ", column " + column + " cannot be sorted");
        return;
      }
      for (const way of ["ascending", "descending"]) {
        button.click();
        if (heading.getAttribute("aria-sort") !== way) problems.push(name + ": a click did not sort " + way);
        const keys = Array.from(table.tBodies[0].rows, (row) => key(row.cells[column])).filter((each) => each !== "");
        const numbers = keys.every((each) => typeof each === "number");
        for (let i = 1; numbers && i < keys.length; ++i) {
          const wrong = way === "ascending" ? keys[i] < keys[i - 1] : keys[i] > keys[i - 1];
          if (wrong) problems.push(name + ", column " + column + " is not " + way + " at row " + i);
        }
      }
    });
  }

  function checkFilter(input) {
    const tools = input.closest(".tools");
    const table = tools.parentElement.querySelector("table");
    const rows = () => Array.from(table.tBodies[0].rows);
    const type = (text) => {
      input.value = text;
      input.dispatchEvent(new Event("input"));
      return rows();
    };
    const before = rows().length;
    const last = Array.from(rows()[before - 1].cells, (cell) => cell.textContent.trim()).find(Boolean);
    const word = last.split(/\s+/)[0].toLowerCase();
    const found = type(word);
    if (!found.length || !found.every((row) => row.textContent.toLowerCase().includes(word))) {
      problems.push("table " + table.id + ": the filter \"" + word + "\" shows the wrong rows");
    }
    if (type("no row has this text").length) problems.push("table " + table.id + ": a filter that nothing meets shows rows");
    if (type("").length !== before) problems.push("table " + table.id + ": without a filter rows are missing");
    checkPages(table, tools, rows);
  }

  // Every row is on one page, and the pages end.
  function checkPages(table, tools, rows) {
    const [back, on] = tools.querySelectorAll("button");
    if (!on) return;
    const all = table.records.length;
    const seen = new Set(rows());
    for (let clicks = 0; !on.disabled && clicks <= all; ++clicks) {
      on.click();
      rows().forEach((row) => seen.add(row));
    }
    if (seen.size !== all) problems.push("table " + table.id + ": its pages show " + seen.size + " of " + all + " rows");
    for (let clicks = 0; !back.disabled && clicks <= all; ++clicks) back.click();
    if (!back.disabled || on.disabled) problems.push("table " + table.id + ": the way back ends elsewhere");
  }

  function check() {
    const canvases = document.querySelectorAll("canvas");
    canvases.forEach(checkCanvas);
    const tables = Array.from(document.querySelectorAll("table")).filter((table) => table.tBodies[0].rows.length > 1);
    tables.forEach(checkSorting);
    const filters = document.querySelectorAll("input[type=search]");
    filters.forEach(checkFilter);
    for (const select of document.querySelectorAll("select")) {
      for (const option of select.options) {
        select.value = option.value;
        select.dispatchEvent(new Event("change"));
      }
    }
    const root = document.documentElement;
    if (root.scrollWidth > window.innerWidth) {
      problems.push("scrolls sideways: " + root.scrollWidth + " pixels at a width of " + window.innerWidth);
    }
    for (const entry of performance.getEntriesByType("resource")) problems.push("fetches " + entry.name);
    window.parent.postMessage({
      width: window.innerWidth, canvases: canvases.length, tables: tables.length, filters: filters.length, problems,
    }, "*");
  }

  if (document.readyState === "complete") check();
  else window.addEventListener("load", check);
})();
