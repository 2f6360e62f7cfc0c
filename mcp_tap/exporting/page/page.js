"use strict";
// Everything of the capture is put into the page by textContent alone; the policy of the page
// refuses whatever would read a string as markup or as code.
const { items, rules, capture, cut } = JSON.parse(document.getElementById("data").textContent);
const HEIGHT = 40;
const TABS = ["Timeline", "Messages", "Headers", "Findings"];
const at = (id) => document.getElementById(id);
let shown = items;
let picked = -1;
let tab = 0;

function make(name, words, text) {
  const element = document.createElement(name);
  if (words) element.className = words;
  if (text !== undefined) element.textContent = text;
  return element;
}

function pieces(row, into) {
  for (const piece of row) {
    if (typeof piece === "string") into.append(piece);
    else into.append(make("span", piece[1], piece[0]));
  }
  return into;
}

function block(rows, words) {
  const into = make("div", words);
  for (const row of rows) {
    pieces(row, into);
    into.append("\n");
  }
  return into;
}

// ---- the list: only what can be seen of it is in the page

function line(item) {
  const element = make("div", "item");
  element.setAttribute("role", "option");
  const first = make("div", "line");
  const label = item.number === null ? "" : "#" + item.number + " ";
  const what = make("span", "what", label);
  what.append(item.method, item.name ? " " : "", make("span", "strong", item.name));
  const marks = make("span", "marks", item.marks);
  first.append(what, marks);
  const second = make("div", "line");
  second.append(make("span", "dim", item.clock), make("span", item.style, item.state));
  for (const tag of item.tags) second.append(make("span", tag[1], tag[0]));
  second.append(make("span", "what"), make("span", "dim", item.took));
  element.append(first, second);
  return element;
}

function draw() {
  const list = at("list");
  const from = Math.max(0, Math.floor(list.scrollTop / HEIGHT) - 5);
  const to = Math.min(shown.length, from + Math.ceil(list.clientHeight / HEIGHT) + 10);
  const rows = [];
  for (let n = from; n < to; n += 1) {
    const element = line(shown[n]);
    element.id = "item-" + n;
    element.style.top = n * HEIGHT + "px";
    element.setAttribute("aria-selected", String(n === picked));
    element.setAttribute("aria-posinset", String(n + 1));
    element.setAttribute("aria-setsize", String(shown.length));
    element.addEventListener("click", () => pick(n));
    rows.push(element);
  }
  if (!shown.length) rows.push(make("p", "empty", "No call passes."));
  at("rows").style.height = shown.length * HEIGHT + "px";
  at("rows").replaceChildren(...rows);
}

function pick(n) {
  if (!shown.length) {
    picked = -1;
    draw();
    detail();
    return;
  }
  picked = Math.min(Math.max(n, 0), shown.length - 1);
  const list = at("list");
  const top = picked * HEIGHT;
  if (top < list.scrollTop) list.scrollTop = top;
  const under = top + HEIGHT - list.clientHeight;
  if (under > list.scrollTop) list.scrollTop = under;
  draw();
  list.setAttribute("aria-activedescendant", "item-" + picked);
  detail();
}

// ---- search

const found = new Map();

function hay(item) {
  let text = found.get(item);
  if (text === undefined) {
    const words = (row) => row.map((piece) => (typeof piece === "string" ? piece : piece[0])).join("");
    const findings = item.findings.map((f) => [f.rule, f.name, f.blame, f.message].join(" "));
    const rows = [item.head, ...item.lanes, ...item.rounds.flat(), ...item.messages, ...item.heads];
    text = ["#" + item.number, item.method, item.name, item.state, ...findings, ...rows.map(words)]
      .join("\n").toLowerCase();
    found.set(item, text);
  }
  return text;
}

function search() {
  const wanted = at("words").value.toLowerCase().split(/\s+/).filter(Boolean);
  const outcome = at("outcome").value;
  const faulty = at("faulty").checked;
  const before = shown[picked];
  shown = items.filter((item) => (!outcome || item.outcome === outcome) &&
    (!faulty || item.findings.length) && wanted.every((word) => hay(item).includes(word)));
  at("count").textContent = shown.length + " of " + items.length;
  pick(Math.max(0, shown.indexOf(before)));
}

// ---- one call

function timeline(item) {
  const parts = [block(item.lanes, "mono lanes")];
  for (const round of item.rounds) parts.push(block(round, "mono round"));
  return item.lanes.length ? parts : [make("p", "empty", "An exchange of no call.")];
}

function findings(item) {
  return item.findings.map((finding) => {
    const details = make("details");
    const summary = make("summary");
    summary.append(make("span", finding.severity, finding.severity + " " + finding.rule),
      " " + finding.name + " ", make("span", "dim", finding.where + "  " + finding.blame + "  "),
      finding.message);
    details.append(summary);
    const rule = rules[finding.rule];
    if (finding.path) details.append(make("p", "dim", "at " + finding.path));
    if (rule) {
      for (const text of rule.page) details.append(make("p", "page", text));
      if (rule.spec) {
        const link = make("a", "", rule.spec);
        link.href = rule.spec;
        link.rel = "noreferrer noopener";
        details.append(link);
      }
    }
    return details;
  });
}

function panel(item) {
  if (tab === 0) return timeline(item);
  if (tab === 1) return item.messages.length ? [block(item.messages, "mono")] : [];
  if (tab === 2) return item.heads.length ? [block(item.heads, "mono")] : [];
  return findings(item);
}

function detail() {
  const item = shown[picked];
  at("head").replaceChildren();
  at("blame").replaceChildren();
  at("tabs").replaceChildren();
  at("panel").replaceChildren();
  if (item === undefined) return;
  pieces(item.head, at("head"));
  if (item.blame) pieces(item.blame, at("blame"));
  TABS.forEach((name, n) => {
    const count = n === 3 && item.findings.length ? " " + item.findings.length : "";
    const button = make("button", "", name + count);
    button.type = "button";
    button.setAttribute("role", "tab");
    button.setAttribute("aria-selected", String(n === tab));
    button.addEventListener("click", () => choose(n));
    at("tabs").append(button);
  });
  const parts = panel(item);
  at("panel").replaceChildren(...(parts.length ? parts : [make("p", "empty", "Nothing.")]));
}

function choose(n) {
  tab = n;
  detail();
  at("tabs").children[n]?.focus();
}

// ---- keys, theme, beginning

function theme() {
  const root = document.documentElement;
  const dark = root.dataset.theme
    ? root.dataset.theme === "dark"
    : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
}

const KEYS = {
  "/": () => at("words").focus(),
  j: () => pick(picked + 1),
  k: () => pick(picked - 1),
  ArrowDown: () => pick(picked + 1),
  ArrowUp: () => pick(picked - 1),
  PageDown: () => pick(picked + 10),
  PageUp: () => pick(picked - 10),
  Home: () => pick(0),
  End: () => pick(shown.length - 1),
  g: () => pick(0),
  G: () => pick(shown.length - 1),
  Enter: () => at("panel").focus(),
  t: theme,
};

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const typing = event.target.closest("input, select");
  if (event.key === "Escape" || (typing === at("words") && event.key === "Enter")) {
    event.preventDefault();
    at("list").focus();
    return;
  }
  if (typing) return;
  const reading = event.target.closest("#call");
  if (reading && /^(Arrow|Page|Home|End|Enter)/.test(event.key)) return;
  const number = Number(event.key);
  if (number >= 1 && number <= TABS.length) choose(number - 1);
  else if (Object.hasOwn(KEYS, event.key)) KEYS[event.key]();
  else return;
  event.preventDefault();
});
at("search").addEventListener("submit", (event) => event.preventDefault());
at("words").addEventListener("input", search);
at("outcome").addEventListener("change", search);
at("faulty").addEventListener("change", search);
at("theme").addEventListener("click", theme);
at("list").addEventListener("scroll", draw);
addEventListener("resize", draw);

for (const outcome of new Set(items.map((item) => item.outcome))) {
  const option = make("option", "", outcome);
  option.value = outcome;
  at("outcome").append(option);
}
const wrong = [];
if (capture.torn) wrong.push("the last line is torn");
if (capture.lost) wrong.push(capture.lost + " records lost");
const about = [capture.label, capture.upstream, capture.started, capture.records + " records", ...wrong];
at("about").textContent = about.filter(Boolean).join("  \u00b7  ");
at("cut").textContent = cut;
document.title = "mcp-tap " + (capture.label || capture.run);

function open() { // run.html#16 is call 16
  const wanted = shown.findIndex((item) => item.number !== null && "#" + item.number === location.hash);
  if (wanted >= 0) pick(wanted);
}
addEventListener("hashchange", open);
search();
open();
at("list").focus();
