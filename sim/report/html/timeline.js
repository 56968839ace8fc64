// The picture of a timeline: a band of the program's parts, below it a lane for each device, its own work above the
// transfers it takes part in. One window at a time is shown; a click on a part looks at it alone.
"use strict";

(function () {
  const band = 24, laneHeight = 34, workHeight = 18, transferHeight = 8, axisHeight = 24;

  function show(script) {
    const box = script.parentElement;
    const canvas = box.querySelector("canvas");
    const data = JSON.parse(script.textContent);
    const seconds = (picoseconds) => page.text(picoseconds * 1e-12, "s");
    const tip = document.createElement("div");
    tip.className = "tip";
    box.append(tip);

    const views = [["all parts", 0, data.length], ...data.windows];
    let [, from, to] = views[data.first + 1];
    const tools = document.createElement("div");
    tools.className = "tools";
    const label = document.createElement("label");
    label.textContent = "Show ";
    const select = document.createElement("select");
    data.parts.forEach(([name, begin, duration]) => views.push([name, begin, begin + duration]));
    views.forEach(([name], index) => select.add(new Option(name.length > 60 ? name.slice(0, 59) + "…" : name, index)));
    select.value = String(data.first + 1);
    select.addEventListener("change", () => look(Number(select.value)));
    label.append(select);
    tools.append(label);
    canvas.before(tools);

    // Numbers of a slice: lane, whether it is a transfer, begin, duration, label, operations, how many kinds follow,
    // and for each its number and share in percent.
    const slices = [];
    const used = new Set();
    for (let s = 0; s < data.slices.length;) {
      const [lane, transfer, begin, duration, labelId, operations, kinds] = data.slices.slice(s, s + 7);
      const shares = [];
      for (s += 7; shares.length < kinds; s += 2) shares.push([data.slices[s], data.slices[s + 1]]);
      shares.forEach(([kind]) => used.add(kind));
      slices.push({ lane, transfer, begin, duration, labelId, operations, shares });
    }
    page.legend(box, [...used].sort((a, b) => a - b).map((kind) => ({ name: data.kinds[kind], index: kind })));

    let hits = [];
    function draw() {
      const width = box.clientWidth;
      const height = band + data.lanes.length * laneHeight + axisHeight;
      const scale = window.devicePixelRatio || 1;
      canvas.width = Math.max(1, Math.round(width * scale));
      canvas.height = Math.round(height * scale);
      canvas.style.width = width + "px";
      canvas.style.height = height + "px";
      const pen = canvas.getContext("2d");
      pen.setTransform(scale, 0, 0, scale, 0, 0);
      pen.clearRect(0, 0, width, height);
      pen.font = "12px " + getComputedStyle(document.body).fontFamily;
      pen.textBaseline = "middle";
      const gutter = Math.min(width < 480 ? 84 : 150, 8 + Math.max(...data.lanes.map((name) => pen.measureText(name).width)));
      const x = (time) => gutter + ((time - from) / Math.max(to - from, 1)) * (width - gutter);
      const paints = data.kinds.map((_, kind) => page.paint(pen, kind));
      const ink = page.css("--ink"), soft = page.css("--ink-soft"), line = page.css("--line");
      hits = [];

      const write = (text, left, middle, room, colour) => {
        if (room < 12) return;
        pen.save();
        pen.beginPath();
        pen.rect(left, middle - 10, room, 20);
        pen.clip();
        pen.fillStyle = colour;
        pen.fillText(text, left, middle);
        pen.restore();
      };

      data.parts.forEach(([name, begin, duration, iterations], index) => {
        if (begin >= to || begin + duration <= from) return;
        const left = Math.max(x(begin), gutter), right = Math.min(x(begin + duration), width);
        pen.fillStyle = index % 2 ? page.css("--panel") : line;
        pen.fillRect(left, 0, Math.max(right - left, 1), band - 4);
        const times = iterations > 1 ? " × " + iterations.toLocaleString("en") : "";
        if (right - left > 24) write(name + times, left + 4, (band - 4) / 2, right - left - 6, ink);
        hits.push([left, 0, Math.max(right - left, 1), band, name + times, seconds(duration) + " each time", index]);
      });
      data.lanes.forEach((name, lane) => {
        const top = band + lane * laneHeight;
        pen.fillStyle = line;
        pen.fillRect(gutter, top + laneHeight - 3, width - gutter, 1);
        write(name, 0, top + workHeight / 2, gutter - 6, soft);
      });
      for (const { lane, transfer, begin, duration, labelId, operations, shares } of slices) {
        if (begin >= to || begin + duration <= from) continue;
        const left = Math.max(x(begin), gutter), right = Math.min(x(begin + duration), width);
        const top = band + lane * laneHeight + (transfer ? workHeight + 2 : 0);
        const size = transfer ? transferHeight : workHeight;
        const whole = shares.reduce((sum, [, share]) => sum + share, 0);
        let filled = 0;
        for (const [kind, share] of shares) {
          pen.fillStyle = paints[kind];
          pen.fillRect(left, top + size * filled / whole, Math.max(right - left, 1), size * share / whole);
          filled += share;
        }
        const more = operations > 1 ? " and " + (operations - 1) + " shorter" : "";
        hits.push([left, top, Math.max(right - left, 2), size, data.labels[labelId] + more,
          data.lanes[lane] + ", " + seconds(duration) + ": "
            + shares.map(([kind, share]) => data.kinds[kind] + " " + share + " %").join(", ")]);
      }
      const ticks = Math.max(2, Math.floor((width - gutter) / 110));
      const bottom = band + data.lanes.length * laneHeight;
      for (let tick = 0; tick <= ticks; ++tick) {
        const time = (to - from) * tick / ticks;
        const at = x(from + time);
        pen.fillStyle = line;
        pen.fillRect(Math.min(at, width - 1), bottom, 1, 5);
        pen.textAlign = tick === 0 ? "left" : tick === ticks ? "right" : "center";
        pen.fillStyle = soft;
        pen.fillText(seconds(time), at, bottom + 14);
      }
      pen.textAlign = "left";
    }

    function look(view) {
      [, from, to] = views[view];
      select.value = String(view);
      draw();
    }
    const hit = (event) => {
      const place = canvas.getBoundingClientRect();
      const [px, py] = [event.clientX - place.left, event.clientY - place.top];
      // The last drawn lies on top.
      for (let i = hits.length - 1; i >= 0; --i) {
        const [left, top, width, height] = hits[i];
        if (px >= left && px < left + width && py >= top && py < top + height) return hits[i];
      }
      return null;
    };
    canvas.addEventListener("pointermove", (event) => {
      const found = hit(event);
      tip.style.display = found ? "block" : "none";
      if (!found) return;
      const title = document.createElement("strong");
      title.textContent = found[4];
      tip.replaceChildren(title, document.createElement("br"), found[5]);
      const place = box.getBoundingClientRect();
      tip.style.left = Math.min(event.clientX - place.left + 12, Math.max(0, place.width - tip.offsetWidth)) + "px";
      tip.style.top = event.clientY - place.top + 14 + "px";
    });
    canvas.addEventListener("pointerleave", () => { tip.style.display = "none"; });
    canvas.addEventListener("click", (event) => {
      const found = hit(event);
      if (found && found.length > 6) look(1 + data.windows.length + found[6]);
    });
    canvas.addEventListener("dblclick", () => look(0));
    let width = 0;
    new ResizeObserver(() => {
      if (box.clientWidth === width) return;
      width = box.clientWidth;
      draw();
    }).observe(box);
    draw();
    page.redraw.push(draw);
  }

  for (const script of document.querySelectorAll("script.timeline-data")) show(script);
})();
