"use strict";
/* The workbook view: a click on a cell shows its formula and outlines what it reads. Text is set, never parsed. */
(() => {
  const panel = document.getElementById("panel");
  if (!panel) return;
  const part = (name) => panel.querySelector(`[data-part="${name}"]`);
  const clear = () => document.querySelectorAll(".grid .chosen, .grid .read").forEach((cell) => cell.classList.remove("chosen", "read"));
  const column = (letters) => [...letters].reduce((sum, letter) => sum * 26 + letter.charCodeAt(0) - 64, 0);
  const place = (address) => {
    const [, letters, row] = /^([A-Z]+)([0-9]+)$/.exec(address);
    return [column(letters), Number(row)];
  };

  /** Return the shown cells of a rectangle such as D5:M5 on the sheet of that number. */
  const shown = (sheet, address) => {
    const [start, end = start] = address.split(":");
    const [[left, top], [right, bottom]] = [place(start), place(end)];
    return [...document.querySelectorAll(`#s${sheet} td`)].filter((cell) => {
      const [across, down] = place(cell.id.split("-")[1]);
      return across >= left && across <= right && down >= top && down <= bottom;
    });
  };

  const reads = (text) => {
    const [, sheet, address, name] = /^([0-9]+)!(\S+) (.*)$/.exec(text);
    const cells = shown(sheet, address);
    cells.forEach((cell) => cell.classList.add("read"));
    const entry = document.createElement(cells.length ? "a" : "span");
    entry.className = "cell";
    entry.textContent = `${name}!${address}`;
    if (cells.length) entry.href = `#${cells[0].id}`;
    return entry;
  };

  const show = (cell) => {
    clear();
    cell.classList.add("chosen");
    const table = cell.closest("table");
    part("cell").textContent = `${table.dataset.name}!${cell.id.split("-")[1]}`;
    part("value").textContent = cell.firstChild?.nodeType === Node.TEXT_NODE ? cell.firstChild.textContent : "";
    part("formula").textContent = cell.title || (cell.textContent ? panel.dataset.typed : "");
    part("role").textContent = cell.dataset.role || "";
    const found = (cell.dataset.reads || "").split("\n").filter(Boolean).map(reads);
    part("reads").replaceChildren(...found.flatMap((entry) => [entry, " "]));
    part("reads").parentElement.hidden = !found.length;
    panel.hidden = false;
  };

  const follow = () => {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    const folded = target?.closest("details");
    if (folded) folded.open = true;
    if (target?.matches(".grid td")) {
      show(target);
      target.scrollIntoView({ block: "center", inline: "center" });
    }
  };

  document.addEventListener("click", (event) => {
    const cell = event.target.closest(".grid td");
    if (cell) show(cell);
  });
  part("close").addEventListener("click", () => { clear(); panel.hidden = true; });
  document.addEventListener("keydown", (event) => { if (event.key === "Escape") { clear(); panel.hidden = true; } });
  window.addEventListener("hashchange", follow);
  follow();
})();
