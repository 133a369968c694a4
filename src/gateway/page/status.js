// The charts of the status page: every two seconds the counters are asked for, differences become rates, and each chart shows the last five minutes.
// A chart is an SVG with its words beside it, so that it can be read aloud.

const periodMs = 2000;
const pointsMax = 150;
/** A chart is at least so wide, in points, and widens as time goes. */
const pointsMin = 16;
const holder = document.querySelector('.charts');
const pulse = document.querySelector('.pulse');
const trees = document.querySelector('[data-trees]');
document.documentElement.classList.add('scripted');

const number = (value) => (value >= 1000 ? Math.round(value).toLocaleString() : value >= 10 ? String(Math.round(value)) : String(Math.round(value * 10) / 10));

function bytes(value) {
  const units = ['B', 'KB', 'MB', 'GB', 'TB'];
  const unit = Math.min(units.length - 1, Math.max(0, Math.floor(Math.log10(Math.max(1, value)) / 3)));
  return `${number(value / 1000 ** unit)} ${units[unit]}`;
}

const perSecond = (value) => `${number(value)}/s`;
const bytesPerSecond = (value) => `${bytes(value)}/s`;
const milliseconds = (value) => (value < 1 ? `${number(value * 1000)} µs` : `${number(value)} ms`);
const ratio = (value) => (value > 0 ? `${(Math.round(value * 100) / 100).toFixed(2)}×` : '–');

/** The counter at a path, as it is now. */
const at = (path) => (status) => path.split('.').reduce((inner, name) => inner?.[name], status);
/** How fast the counter at a path grows. */
const rate = (path) => (now, before, seconds) => (at(path)(now) - at(path)(before)) / seconds;
/** Mean time of operations of a kind between two moments. */
const latency = (kind) => (now, before) => {
  const [a, b] = [at(`server.opLatencies.${kind}`)(now), at(`server.opLatencies.${kind}`)(before)];
  const count = a && b ? Number(a.ops) - Number(b.ops) : Number.NaN;
  return count > 0 ? (Number(a.latency) - Number(b.latency)) / count / 1000 : count === 0 ? 0 : Number.NaN;
};
const sum = (status, field) => status.trees?.reduce((total, tree) => total + tree[field], 0);

const operation = (kind) => ({ name: kind, read: rate(`server.opcounters.${kind}`) });

/** What is drawn. `max`: what the values stay below. `headline`: how the lines make the one large figure, else it is the first line's. */
const charts = [
  { title: 'Operations', words: perSecond, headline: 'sum', lines: ['insert', 'query', 'update', 'delete', 'getmore', 'command'].map(operation) },
  { title: 'Mean latency', words: milliseconds, headline: 'max', lines: [{ name: 'reads', read: latency('reads') }, { name: 'writes', read: latency('writes') }, { name: 'commands', read: latency('commands') }] },
  { title: 'Cache', words: bytes, max: at('server.frond.cacheBytesMax'), lines: [{ name: 'used', read: at('server.frond.cacheBytesUsed') }] },
  { title: 'Flush debt', words: bytes, headline: 'sum', lines: [{ name: 'fronts', read: at('server.frond.frontBytes') }, { name: 'write sets', read: at('server.frond.writeSetBytes') }] },
  { title: 'Commits', words: perSecond, lines: [{ name: 'commits', read: rate('server.frond.commits') }, { name: 'log syncs', read: rate('server.frond.logSyncs') }, { name: 'conflicts', read: rate('server.frond.conflicts') }] },
  { title: 'Disk', words: bytesPerSecond, headline: 'sum', lines: [{ name: 'log', read: rate('server.frond.logBytesWritten') }, { name: 'data written', read: rate('server.frond.dataBytesWritten') }, { name: 'data read', read: rate('server.frond.dataBytesRead') }] },
  { title: 'Last checkpoint', words: (value) => (value > 0 ? milliseconds(value) : 'none yet'), lines: [{ name: 'took', read: at('server.frond.lastCheckpointMs') }] },
  { title: 'Compression', words: ratio, lines: [{ name: 'data / disk', read: (status) => (sum(status, 'diskBytes') > 0 ? sum(status, 'rawBytes') / sum(status, 'diskBytes') : 0) }] },
  { title: 'Connections', words: number, lines: [{ name: 'clients', read: at('server.connections.current') }, { name: 'active', read: at('server.connections.active') }] },
  { title: 'Network', words: bytesPerSecond, headline: 'sum', lines: [{ name: 'in', read: rate('server.network.bytesIn') }, { name: 'out', read: rate('server.network.bytesOut') }] },
  { title: 'Files to browsers', words: bytesPerSecond, lines: [{ name: 'sent', read: rate('gateway.bytesSent') }] },
  { title: 'Streams and uploads', words: number, lines: [{ name: 'streams', read: at('gateway.openStreams') }, { name: 'uploads', read: at('gateway.openUploads') }] },
  { title: 'Memory', words: bytes, lines: [{ name: 'resident', read: (status) => at('server.mem.resident')(status) * 1024 * 1024 }] },
];

const svgNames = 'http://www.w3.org/2000/svg';
function svg(name, fields, ...inside) {
  const element = document.createElementNS(svgNames, name);
  for (const [field, value] of Object.entries(fields)) element.setAttribute(field, value);
  element.append(...inside);
  return element;
}

function element(name, className, text = '') {
  const made = document.createElement(name);
  made.className = className;
  made.textContent = text;
  return made;
}

const [width, height] = [320, 96];

class Chart {
  constructor(plan) {
    this.plan = plan;
    this.lines = plan.lines.map((line, i) => ({ ...line, values: [], area: svg('path', { class: `area line-${i}` }), path: svg('path', { class: `stroke line-${i}` }) }));
    this.card = element('section', 'card');
    this.value = element('output', 'value');
    this.top = svg('text', { class: 'axis', x: 4, y: 12 });
    this.drawing = svg('svg', { viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: 'none', role: 'img' }, ...this.lines.flatMap(({ area, path }) => [area, path]));
    this.scale = element('span', 'scale');
    this.legend = element('p', 'legend');
    const head = element('header', '');
    head.append(element('h2', '', plan.title), this.value);
    this.card.append(head, this.drawing, this.scale, this.legend);
    holder.append(this.card);
  }

  add(now, before, seconds) {
    for (const line of this.lines) {
      const value = Number(line.read(now, before, seconds));
      line.values.push(Number.isFinite(value) ? Math.max(0, value) : undefined);
      if (line.values.length > pointsMax) line.values.shift();
    }
    this.card.hidden = this.lines.every(({ values }) => values.every((value) => value === undefined));
    this.draw(this.plan.max?.(now));
  }

  draw(limit) {
    const { words } = this.plan;
    const known = this.lines.flatMap(({ values }) => values.filter((value) => value !== undefined));
    const most = Math.max(...known, 0);
    const top = niceTop(Math.max(most, 1e-9));
    const points = Math.max(pointsMin, this.lines[0].values.length);
    for (const { values, area, path } of this.lines) {
      const d = lineOf(values, top, points);
      path.setAttribute('d', d);
      area.setAttribute('d', this.lines.length === 1 && d !== '' ? `${d} L${width},${height} L${width - ((values.length - 1) * width) / (points - 1)},${height} Z` : '');
    }
    const last = this.lines.map((line) => ({ name: line.name, value: line.values.at(-1) }));
    const values = last.map(({ value }) => value ?? 0);
    const headlines = { sum: values.reduce((total, value) => total + value, 0), max: Math.max(...values) };
    this.value.textContent = words(headlines[this.plan.headline] ?? values[0]);
    this.scale.textContent = limit > 0 ? `${words(top)} shown, ${words(limit)} at most` : `${words(top)} at the top`;
    this.legend.replaceChildren(...(this.lines.length === 1 ? [] : last.map(({ name, value }, i) => element('span', `key line-${i}`, `${name} ${value === undefined ? '–' : words(value)}`))));
    this.drawing.setAttribute('aria-label', `${this.plan.title}: ${last.map(({ name, value }) => `${name} ${value === undefined ? 'not known' : words(value)}`).join(', ')}`);
  }
}

/** One, two or five, and zeros. */
function niceTop(value) {
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 5, 10].map((step) => step * power).find((step) => step >= value * 1.05) ?? 10 * power;
}

function lineOf(values, top, points) {
  let d = '';
  let isDown = false;
  values.forEach((value, i) => {
    if (value === undefined) {
      isDown = false;
      return;
    }
    const x = width - ((values.length - 1 - i) * width) / (points - 1);
    d += `${isDown ? 'L' : 'M'}${x.toFixed(1)},${(height - 3 - (value / top) * (height - 8)).toFixed(1)} `;
    isDown = true;
  });
  return d.trim();
}

const drawn = charts.map((plan) => new Chart(plan));

function tellTrees(list) {
  if (!trees || !list) return;
  const most = Math.max(...list.map(({ rawBytes }) => rawBytes), 1);
  trees.replaceChildren(...list.map((tree) => {
    const row = document.createElement('tr');
    const cell = (text, className) => element('td', className, text);
    const disk = cell('', 'size');
    const bar = element('span', 'bar');
    const filled = element('span', 'filled');
    bar.style.width = `${Math.max(2, (100 * tree.rawBytes) / most)}%`;
    filled.style.width = `${Math.min(100, (100 * tree.diskBytes) / Math.max(1, tree.rawBytes))}%`;
    bar.append(filled);
    if (tree.diskBytes > 0) disk.append(`${bytes(tree.diskBytes)} (${ratio(tree.rawBytes / tree.diskBytes)})`, bar);
    else disk.append(tree.rows > 0 ? 'in memory' : '–');
    const link = element('a', 'tree', tree.name);
    link.href = `/status?tree=${encodeURIComponent(tree.ns)}&index=${encodeURIComponent(tree.name)}#levels`;
    const name = cell('', '');
    name.append(link);
    row.append(cell(tree.ns, 'name'), name, cell(tree.rows.toLocaleString(), 'size'), shapeOf(tree), cell(tree.leaves.toLocaleString(), 'size'), cell(bytes(tree.rawBytes), 'size'), disk);
    return row;
  }));
}

/** A small picture of how a tree widens from its root to its leaves. */
function shapeOf({ height: levels, leaves }) {
  const cell = element('td', 'size', `${levels} `);
  const widest = Math.log2(leaves + 1) || 1;
  const steps = Array.from({ length: levels + 1 }, (_, level) => (levels === 0 ? 1 : Math.max(0.08, Math.log2(leaves ** (level / levels) + 1) / widest)));
  cell.append(svg('svg', { class: 'shape', viewBox: `0 0 40 ${steps.length * 5}`, 'aria-hidden': 'true' }, ...steps.map((part, i) => svg('rect', { x: 20 - part * 20, y: i * 5, width: part * 40, height: 4, rx: 1.5 }))));
  return cell;
}

const levels = document.querySelector('[data-levels]');
let asked = 0;

/** The levels of a tree, put in place of those that are shown; `isChosen`: a person asked for them just now. */
async function showLevels(ns, index, isChosen) {
  const ask = ++asked;
  const response = await fetch(`/status?fragment=levels&tree=${encodeURIComponent(ns)}&index=${encodeURIComponent(index)}`);
  if (!response.ok) throw new Error(`the server said ${response.status}`);
  const text = await response.text();
  if (ask !== asked) return;
  const hasFocus = levels.contains(document.activeElement);
  levels.innerHTML = text;
  if (!isChosen && !hasFocus) return;
  levels.querySelector('h2')?.focus({ preventScroll: !isChosen });
  if (isChosen) levels.scrollIntoView({ block: 'nearest' });
}

/** Trees open, and close, without leaving the charts. */
document.addEventListener('click', (event) => {
  const link = event.target.closest?.('a.tree, .levels header a');
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0) return;
  event.preventDefault();
  history.replaceState(null, '', link.href);
  const query = new URL(link.href).searchParams;
  if (query.has('tree')) {
    showLevels(query.get('tree'), query.get('index'), true).catch(lost);
    return;
  }
  asked += 1;
  const { ns, index } = levels.querySelector('.levels').dataset;
  levels.replaceChildren();
  [...document.querySelectorAll('a.tree')].find((one) => new URL(one.href).searchParams.get('tree') === ns && one.textContent === index)?.focus();
});

function lost(error) {
  pulse.textContent = `not reached: ${error.message}`;
  pulse.classList.add('lost');
}

let before;
async function look() {
  try {
    const response = await fetch('/status.json');
    if (!response.ok) throw new Error(`the server said ${response.status}`);
    const now = await response.json();
    if (before) for (const chart of drawn) chart.add(now, before, Math.max(0.001, (now.nowMs - before.nowMs) / 1000));
    tellTrees(now.trees);
    const shown = levels?.querySelector('.levels')?.dataset;
    if (shown) await showLevels(shown.ns, shown.index, false);
    before = now;
    pulse.textContent = now.server?.uptime === undefined ? 'live' : `up ${spanWords(now.server.uptime)}`;
    pulse.classList.remove('lost');
  } catch (error) {
    lost(error);
    before = undefined;
  }
  setTimeout(() => void look(), periodMs);
}

function spanWords(seconds) {
  if (seconds < 120) return `${Math.round(seconds)} s`;
  if (seconds < 7200) return `${Math.round(seconds / 60)} min`;
  return seconds < 172_800 ? `${Math.round(seconds / 3600)} h` : `${Math.round(seconds / 86_400)} days`;
}

void look();
