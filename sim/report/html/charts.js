// Charts of the columns of a table, by Chart.js. Each is described by the JSON beside its canvas.
"use strict";

(function () {
  const mostBars = 40;
  const shapes = ["circle", "rect", "triangle", "rectRot", "star", "cross", "crossRot", "rectRounded"];

  const column = (table, index) => {
    const heading = table.tHead.rows[0].cells[index];
    return {
      name: heading.dataset.name,
      unit: heading.dataset.unit || "",
      numbers: table.records.map((record) => record.numbers[index]),
      texts: table.records.map((record) => record.texts[index]),
    };
  };
  // Without its middle: names that differ, differ at one of their ends.
  const shorter = (text, most) => (text.length > most
    ? text.slice(0, Math.floor(most / 3)) + "…" + text.slice(text.length - Math.floor(2 * most / 3) + 1) : text);

  // Ticks at round numbers of KiB, MiB, … where there are bytes, of hours and days where there are long times.
  function step(unit, most, ticks) {
    if (unit === "byte" && most > 0) return 2 ** Math.ceil(Math.log2(most / ticks));
    if (unit !== "s" || !(most >= 7200)) return undefined;
    const least = most / ticks / 3600;
    const hours = [1, 2, 3, 6, 12, 24, 48].find((each) => each >= least);
    return 3600 * (hours || 24 * 10 ** Math.ceil(Math.log10(least / 24)));
  }

  const axis = (unit, logarithmic, title, most, ticks = 6) => ({
    type: logarithmic ? "logarithmic" : "linear",
    grid: { color: page.css("--line") },
    title: { display: Boolean(title), text: title },
    ticks: {
      maxTicksLimit: 8, maxRotation: 0, stepSize: step(unit, most, ticks),
      callback: (value) => page.text(Number(value), unit),
    },
  });

  // Marks the limit of each bar.
  const limits = {
    id: "limits",
    afterDatasetsDraw(chart, _, options) {
      if (!options.values) return;
      const pen = chart.ctx;
      pen.save();
      pen.strokeStyle = page.css("--bad");
      pen.lineWidth = 2;
      const step = chart.scales.y.height / options.values.length;
      options.values.forEach((limit, row) => {
        if (limit === null) return;
        const x = chart.scales.x.getPixelForValue(limit);
        const y = chart.scales.y.getPixelForValue(row);
        pen.beginPath();
        pen.moveTo(x, y - step * 0.48);
        pen.lineTo(x, y + step * 0.48);
        pen.stroke();
      });
      pen.restore();
    },
  };

  function bars(chart, table, context, note, box) {
    const labels = column(table, chart.labels);
    const shown = Math.min(mostBars, table.records.length);
    if (shown < table.records.length) {
      note("The chart shows the first " + shown + " of " + table.records.length + " rows.");
    }
    const values = chart.values.map((index) => column(table, index));
    const limit = chart.limit === undefined ? null : column(table, chart.limit).numbers.slice(0, shown);
    const unit = values[0].unit;
    const stacked = chart.kind === "stacked";
    const narrow = context.canvas.parentElement.clientWidth < 480;
    const letters = narrow ? 16 : 28;
    const ends = [...Array(shown).keys()].flatMap((row) => (stacked
      ? [values.reduce((sum, each) => sum + each.numbers[row], 0)] : values.map((each) => each.numbers[row])));
    const most = Math.max(...ends, ...(limit || []).filter((value) => value !== null));
    if (values.length > 1) {
      page.legend(box, values.map((series, i) => ({ name: series.name, index: chart.colours[i] })));
    } else if (chart.groups !== undefined) {
      const groups = column(table, chart.groups).texts.slice(0, shown);
      const words = new Map(groups.map((word, row) => [word, chart.rowColours[row]]));
      page.legend(box, [...words].map(([name, index]) => ({ name, index })));
    }
    return {
      type: "bar",
      height: (stacked ? 22 : 14 * values.length + 8) * shown + (values.length > 1 ? 46 : 64),
      data: {
        labels: labels.texts.slice(0, shown),
        datasets: values.map((series, i) => ({
          label: series.name,
          data: series.numbers.slice(0, shown),
          // A single series has a colour for each row where rows have one.
          backgroundColor: !stacked && chart.rowColours ? chart.rowColours.map((c) => page.paint(context, c))
            : page.paint(context, chart.colours[i]),
          borderColor: page.css("--ink-soft"),
          borderWidth: stacked ? 0 : 0.5,
          maxBarThickness: values.length > 1 && !stacked ? 12 : 18,
        })),
      },
      options: {
        indexAxis: "y",
        scales: {
          x: {
            ...axis(unit, chart.logarithmic, values.length > 1 ? "" : values[0].name, most, narrow ? 3 : 6), stacked,
            suggestedMax: limit ? most : undefined,
            max: unit === "%" && most > 50 && most < 100.5 && Math.min(...ends) >= 0 ? 100 : undefined,
          },
          y: {
            stacked, grid: { display: false },
            ticks: { autoSkip: false, callback: (_, row) => shorter(labels.texts[row], letters) },
          },
        },
        plugins: {
          limits: { values: limit },
          legend: { display: false },
          tooltip: {
            callbacks: {
              label: (item) => (values.length > 1 ? item.dataset.label + ": " : "") + page.text(item.parsed.x, unit),
              footer: (items) => (limit && limit[items[0].dataIndex] !== null
                ? "limit " + page.text(limit[items[0].dataIndex], unit) : ""),
            },
          },
        },
      },
    };
  }

  function lines(chart, table, context, note, box) {
    const across = column(table, chart.labels);
    const values = chart.values.map((index) => column(table, index));
    const line = (series, more) => ({
      label: series.name,
      data: series.numbers.map((y, row) => ({ x: across.numbers[row], y })).filter((point) => point.y !== null),
      borderWidth: 2, pointRadius: across.numbers.length > 60 ? 0 : 2, pointHitRadius: 8,
      stepped: chart.kind === "steps" ? "before" : false,
      ...more,
    });
    const datasets = values.map((series, i) => {
      const colour = page.css("--c" + (chart.colours[i] % 12));
      return line(series, { borderColor: colour, backgroundColor: colour, borderDash: i > 5 ? [6, 3] : [] });
    });
    if (chart.kind === "steps") datasets.forEach((dataset) => { dataset.stepped = true; });
    if (chart.limit !== undefined) {
      const colour = page.css("--bad");
      datasets.push(line(column(table, chart.limit), {
        borderColor: colour, backgroundColor: colour, borderDash: [8, 4], pointRadius: 0,
      }));
    }
    const unit = values[0].unit;
    const most = Math.max(...datasets.flatMap((dataset) => dataset.data.map((point) => point.y)));
    if (datasets.length > 1) page.legend(box, datasets.map((each) => ({ name: each.label, colour: each.borderColor })));
    return {
      type: "line",
      height: 320,
      data: { datasets },
      options: {
        interaction: { mode: "nearest", axis: "x", intersect: false },
        scales: {
          x: { ...axis(across.unit, false, across.name), max: Math.max(...across.numbers) },
          y: { ...axis(unit, chart.logarithmic, "", most), beginAtZero: !chart.logarithmic },
        },
        plugins: {
          legend: { display: false },
          tooltip: {
            callbacks: {
              title: (items) => across.name + " " + page.text(items[0].parsed.x, across.unit),
              label: (item) => item.dataset.label + ": " + page.text(item.parsed.y, unit),
            },
          },
        },
      },
    };
  }

  function points(chart, table, context, note) {
    const across = column(table, chart.labels);
    const up = column(table, chart.values[0]);
    const names = chart.names === undefined ? null : column(table, chart.names).texts;
    const groups = chart.groups === undefined ? null : column(table, chart.groups).texts;
    const all = [...across.numbers.keys()];
    const edge = (row) => chart.atEdge && across.numbers[row] !== null && up.numbers[row] === null;
    const known = all.filter((row) => (across.numbers[row] !== null && up.numbers[row] !== null) || edge(row));
    const rows = known.filter((row) => (!chart.logarithmicX || across.numbers[row] > 0)
      && (!chart.logarithmic || edge(row) || up.numbers[row] > 0));
    const tell = (what, number) => {
      if (number > 0) note(what + " and therefore not drawn: " + number.toLocaleString("en") + ".");
    };
    tell("Not above zero", known.length - rows.length);
    if (chart.atEdge) tell("Without a number across", all.length - known.length);
    const heights = rows.filter((row) => !edge(row)).map((row) => up.numbers[row]);
    const lowest = heights.length ? Math.min(...heights) : 0, highest = heights.length ? Math.max(...heights) : 1;
    const floor = chart.logarithmic ? lowest / 1.2 : lowest - 0.06 * (highest - lowest || Math.abs(highest) || 1);
    const outside = chart.most === undefined ? 0 : rows.filter((row) => Math.abs(up.numbers[row]) > chart.most).length;
    if (outside > 0) note(outside + (outside === 1 ? " point lies" : " points lie") + " outside the picture.");
    const words = [...new Set(groups ? rows.map((row) => groups[row]) : [up.name])];
    const radius = rows.length > 2000 ? 2.5 : rows.length > 300 ? 3.5 : 5;
    const datasets = words.map((group, g) => {
      const members = rows.filter((row) => !groups || groups[row] === group);
      const index = chart.rowColours ? chart.rowColours[members[0]] : [0, 4, 6, 5, 2, 7, 8, 9, 3, 1, 11, 10][g % 12];
      const colour = page.css("--c" + index % 12);
      return {
        type: "scatter", label: group, pointStyle: shapes[g % shapes.length],
        borderColor: colour, backgroundColor: colour, borderWidth: 1.5, pointRadius: chart.joined === group ? radius + 1 : radius,
        data: members.map((row) => ({ x: across.numbers[row], y: edge(row) ? floor : up.numbers[row], row })),
      };
    });
    const line = datasets.find((dataset) => chart.joined !== undefined && dataset.label === chart.joined);
    if (line) {
      datasets.push({
        type: "line", label: "", pointRadius: 0, pointHitRadius: 0, borderColor: line.borderColor, borderWidth: 1.5,
        data: line.data.map(({ x, y }) => ({ x, y })).sort((a, b) => a.x - b.x),
      });
    }
    if (chart.bands.length + chart.levels.length > 0 && rows.length) {
      const low = Math.min(...rows.map((row) => across.numbers[row]));
      const high = Math.max(...rows.map((row) => across.numbers[row]));
      const guide = (value, height) => datasets.push({
        type: "line", label: "", data: [low, high].map((x) => ({ x, y: height(x) })), pointRadius: 0, pointHitRadius: 0,
        borderColor: page.css("--ink-soft"), borderWidth: 1, borderDash: value === 0 ? [] : [5, 4],
      });
      for (const band of chart.bands) guide(band, (x) => x * (1 + band / 100));
      for (const level of chart.levels) guide(level, () => level);
    }
    return {
      type: "scatter",
      height: 360,
      data: { datasets },
      options: {
        scales: { x: axis(across.unit, chart.logarithmicX, across.name), y: {
            ...axis(up.unit, chart.logarithmic, up.name, highest),
            beginAtZero: chart.levels.length > 0 && lowest >= 0,
            min: outside ? -chart.most : undefined, max: outside ? chart.most : undefined,
          } },
        plugins: {
          legend: {
            display: groups !== null,
            labels: { usePointStyle: true, boxWidth: 8, boxHeight: 8, filter: (item) => item.text !== "" },
          },
          tooltip: {
            callbacks: {
              label: (item) => {
                const { row } = item.raw;
                const none = row !== undefined && edge(row);
                return [
                  names && row !== undefined ? names[row] : item.dataset.label,
                  across.name + " " + page.text(item.parsed.x, across.unit),
                  up.name + " " + (none ? "none" : page.text(item.parsed.y, up.unit)),
                ];
              },
            },
          },
        },
      },
    };
  }

  const makers = { bars, stacked: bars, lines, steps: lines, points };
  for (const script of document.querySelectorAll("script.chart-data")) {
    const box = script.parentElement;
    const canvas = box.querySelector("canvas");
    const chart = JSON.parse(script.textContent);
    const table = document.getElementById(chart.table);
    const area = document.createElement("div");
    area.style.position = "relative";
    canvas.before(area);
    area.append(canvas);
    let drawn = null;
    const note = (text) => {
      if ([...box.querySelectorAll(".note")].some((line) => line.textContent === text)) return;
      const line = document.createElement("p");
      line.className = "note";
      line.textContent = text;
      box.append(line);
    };
    const draw = () => {
      if (drawn) drawn.destroy();
      const context = canvas.getContext("2d");
      const made = makers[chart.kind](chart, table, context, note, box);
      area.style.height = made.height + "px";
      Chart.defaults.color = page.css("--ink-soft");
      Chart.defaults.font.family = getComputedStyle(document.body).fontFamily;
      drawn = new Chart(context, {
        type: made.type, data: made.data, plugins: [limits],
        options: { animation: false, maintainAspectRatio: false, ...made.options },
      });
    };
    draw();
    page.redraw.push(draw);
  }
})();
