// The timeline: what ran, what runs and what is planned, as bars in lanes of GPU types or nodes.
import { ask, askIfThere } from './api.js';
import { h } from './dom.js';
import { clock, keyOf, nameOf, now, plural, relative, seconds, span, taskHref, thousands } from './format.js';
import { empty, filters, foot, lastPageOr, muted, pager, search } from './parts.js';

const HOUR = 3600;
const SPANS = { '1h': HOUR, '6h': 6 * HOUR, '24h': 24 * HOUR, '3d': 72 * HOUR };
const STEPS = [60, 300, 600, 900, 1800, HOUR, 2 * HOUR, 3 * HOUR, 6 * HOUR, 12 * HOUR, 24 * HOUR];
const MOST = 1000; // bars of each kind
const MOST_ROWS = 24; // of a lane
const LANES = 40; // of a page
const PAST = 1 / 3; // of the span

const spanOf = (query) => SPANS[query.get('span')] || SPANS['6h'];

async function load({ query }, signal) {
  const width = spanOf(query);
  const namespace = query.get('ns');
  const words = query.get('search');
  const [queue, tasks, past, stops, plans] = await Promise.all([
    ask('v1/queue', { namespace, search: words, limit: MOST, offset: 0, sort: 'start' }, signal),
    ask('v1/tasks', { namespace, search: words, state: 'bound', limit: MOST, offset: 0 }, signal),
    askIfThere('v1/history', { namespace, limit: MOST, since: `${Math.ceil(width * PAST)}s` }, signal),
    decisions('suspend', namespace, signal),
    decisions('plan', namespace, signal)]);
  const left = (queue.metadata.remainingItemCount || 0) + (tasks.metadata.remainingItemCount || 0);
  const begin = now() - width * PAST;
  const isCut = (list, time) => list?.metadata.continue && !(seconds(list.items.at(-1)?.[time]) < begin); // newest first
  return { bars: bars({ queue, tasks, past, stops, plans }), left, isCut: isCut(past, 'finished') || isCut(stops, 'time'), hasPast: Boolean(past), hasStops: Boolean(stops), facts: queue };
}

// Who may see one namespace only is refused the journal, whose rows are asked for by pod.
const decisions = (verb, namespace, signal) => (namespace ? null : askIfThere('v1/decisions', { verb, limit: MOST }, signal));

// What running tasks are advised to do, for whom: {key: "may move to n2 for team/job, which starts 25m earlier"}.
function moves(items) {
  const told = new Map();
  for (const row of items)
    for (const { task, to } of row.move?.moves || [])
      told.set(task, `may move to ${to?.join(', ') || 'a node that another task leaves'}${task === keyOf(row) ? ', and then ends' : ` for ${keyOf(row)}, which then starts`} ${span(row.move.gainSeconds)} earlier`);
  return told;
}

// The bars: {key, type, nodes, gpus, begin, begin90, end, end90, state, deadline, late, moves, note}. Times
// are epoch seconds; `end` may be missing: nobody knows. By begin, then by key.
function bars({ queue, tasks, past, stops, plans }) {
  const known = new Map(queue.items.map((row) => [keyOf(row), row]));
  const planned = new Map(); // when, and on which nodes, each start was planned: newest first
  for (const plan of plans?.items || []) {
    if (plan.result.startsWith('would')) continue; // of a virtual cluster
    if (!planned.has(keyOf(plan))) planned.set(keyOf(plan), []);
    planned.get(keyOf(plan)).push({ at: seconds(plan.time), nodes: (plan.candidates || []).map(({ node }) => node), what: plan.result });
  }
  const all = [];
  const running = new Set();
  const advised = moves(queue.items);
  for (const task of tasks.items) {
    const key = keyOf(task);
    const row = known.get(key);
    running.add(key);
    all.push({ key, state: 'running', nodes: task.nodes, gpus: task.gpusPerPod * task.podsBound, type: row?.gpuType || task.gpuType || '', begin: seconds(task.started || task.created),
      end: seconds(row?.predictedFinish), end90: seconds(row?.predictedFinishP90), deadline: seconds(task.deadline), late: row?.late, moves: advised.has(key), note: advised.get(key) });
  }
  for (const row of queue.items) {
    if (running.has(keyOf(row)) || !row.predictedStart) continue;
    all.push({ key: keyOf(row), state: row.plan ? 'held' : row.nodes ? 'reserved' : 'planned', nodes: row.nodes || [], gpus: row.gpus, type: row.gpuType || (row.gpuTypes || [])[0] || '', begin: seconds(row.predictedStart), begin90: seconds(row.predictedStartP90),
      end: seconds(row.predictedFinish), end90: seconds(row.predictedFinishP90), deadline: seconds(row.deadline), late: row.late });
  }
  for (const run of past?.items || []) {
    if (!run.started) continue;
    const start = (planned.get(keyOf(run)) || []).find(({ at }) => at <= seconds(run.started) + 60);
    all.push({ key: keyOf(run), state: run.outcome === 'failed' ? 'failed' : 'done', nodes: start?.nodes || [], gpus: run.gpus, type: run.gpuType || '', begin: seconds(run.started), end: seconds(run.finished),
      deadline: seconds(run.deadline), late: run.result === 'missed' });
  }
  for (const stop of stops?.items || []) {
    if (!stop.stop) continue;
    const at = seconds(stop.time);
    const start = (planned.get(keyOf(stop)) || []).find((plan) => plan.at <= at);
    const what = /^\S+ (\S+) on /.exec(start?.what || '');
    all.push({ key: keyOf(stop), state: 'stopped', nodes: start?.nodes || [], gpus: 0, type: what ? what[1] : '', begin: start ? start.at : at - 60, end: at, deadline: NaN, moves: stop.result.startsWith('moved'), note: stop.result });
  }
  return all.sort((a, b) => a.begin - b.begin || (a.key < b.key ? -1 : Number(a.key > b.key)));
}

const byNumber = new Intl.Collator('en', { numeric: true }).compare; // made once: making one takes longer than all comparisons

function lanesOf(all, byNode) {
  const lanes = new Map();
  const into = (name, bar) => {
    if (!lanes.has(name)) lanes.set(name, []);
    lanes.get(name).push(bar);
  };
  for (const bar of all) {
    if (!byNode) into(bar.type || 'type not chosen', bar);
    else if (bar.nodes.length) for (const node of bar.nodes) into(node, bar);
    else into(bar.state === 'planned' ? 'node not chosen' : 'node not kept', bar);
  }
  const last = (name) => /^(type|node) not /.test(name);
  return [...lanes].sort(([a], [b]) => last(a) - last(b) || byNumber(a, b));
}

const lastMoment = (bar) => Math.max(bar.begin, bar.end || 0, bar.end90 || 0, bar.state === 'running' && !bar.end ? Infinity : 0);

// Bars that overlap go to different rows; one that is short takes the room of `least` seconds. A bar for which
// no row is left has none.
function rowsOf(bars, least) {
  const ends = [];
  const rows = [];
  for (const bar of bars) {
    let row = ends.findIndex((end) => end <= bar.begin);
    if (row < 0 && ends.length === MOST_ROWS) continue;
    if (row < 0) row = ends.push(0) - 1;
    ends[row] = Math.max(lastMoment(bar), bar.begin + least);
    rows.push({ bar, row });
  }
  return { rows, height: ends.length };
}

// In a lane that is too full, half of the rows at least are for what is ahead, and for what is not.
function packed(lane, least) {
  const whole = rowsOf(lane, least);
  if (whole.rows.length === lane.length) return { ...whole, hidden: 0 };
  const ahead = rowsOf(lane.filter(({ state }) => AHEAD.includes(state)), least);
  const others = rowsOf(lane.filter(({ state }) => !AHEAD.includes(state)), least);
  const first = Math.min(others.height, Math.max(MOST_ROWS / 2, MOST_ROWS - ahead.height));
  const rows = [...others.rows.filter(({ row }) => row < first), ...ahead.rows.map(({ bar, row }) => ({ bar, row: row + first })).filter(({ row }) => row < MOST_ROWS)];
  return { rows, height: Math.min(MOST_ROWS, first + ahead.height), hidden: lane.length - rows.length };
}

const AHEAD = ['planned', 'reserved', 'held'];

const STATES = { running: 'runs', planned: 'planned', held: 'GPUs are held for it', reserved: 'nodes are reserved for it', done: 'done', failed: 'failed', stopped: 'stopped' };

const SIGNS = { held: '◷ ', reserved: '▣ ', stopped: '✕ ', failed: '! ' };

function told(bar) {
  const parts = [bar.key, STATES[bar.state], bar.gpus ? plural(bar.gpus, 'GPU') : '', bar.type];
  parts.push(`${AHEAD.includes(bar.state) ? 'starts' : 'started'} ${clock(bar.begin)}${bar.begin90 > bar.begin + 60 ? ` to ${clock(bar.begin90)}` : ''}`);
  if (Number.isFinite(bar.end)) parts.push(`${bar.state === 'done' || bar.state === 'failed' || bar.state === 'stopped' ? 'ended' : 'ends'} ${clock(bar.end)}${bar.end90 > bar.end + 60 ? ` to ${clock(bar.end90)}` : ''}`);
  else parts.push('its end is not known');
  if (Number.isFinite(bar.deadline)) parts.push(`due ${clock(bar.deadline)}${bar.late ? ', late' : ''}`);
  if (bar.note) parts.push(bar.note);
  return parts.filter(Boolean).join(', ');
}

function draw(data, state) {
  const { query } = state;
  const byNode = query.get('by') === 'node';
  const width = spanOf(query);
  const from = now() - width * PAST;
  const to = from + width;
  const seen = data.bars.filter((bar) => bar.begin < to && lastMoment(bar) > from);
  const all = lanesOf(seen, byNode);
  const first = (lastPageOr(state, all.length, LANES) - 1) * LANES;
  const lanes = all.slice(first, first + LANES);
  const x = (s) => `${(100 * (Math.min(Math.max(s, from), to) - from)) / width}%`;
  const wide = (a, b) => `${(100 * Math.max(0, Math.min(b, to) - Math.max(a, from))) / width}%`;
  const parts = [
    h('h1', null, 'Timeline'),
    h('div', { class: 'tools' },
      filters(state, 'span', [{ value: '1h', text: '1 h' }, { value: '', text: '6 h' }, { value: '24h', text: '24 h' }, { value: '3d', text: '3 d' }], 'How much time'),
      filters(state, 'by', [{ value: '', text: 'By GPU type' }, { value: 'node', text: 'By node' }], 'Lanes'), search(state, 'Search tasks, nodes')),
    legend(),
  ];
  if (!seen.length) parts.push(empty('Nothing in this time', 'Nothing ran, runs or is planned between ', clock(from), ' and ', clock(to), '.'));
  else parts.push(h('div', { class: 'gantt' }, axis(from, to, x), lanes.map(([name, lane]) => laneOf(name, lane, { x, wide, from, to }))),
    pager({ items: lanes, metadata: { remainingItemCount: Math.max(0, all.length - first - lanes.length) } }, state, byNode ? 'node' : 'GPU type', LANES));
  if (data.left) parts.push(foot(`${plural(data.left, 'more task')} ${data.left === 1 ? 'is' : 'are'} not drawn: search to narrow it down.`));
  if (data.isCut) parts.push(foot(`Older runs are not drawn: only the last ${thousands(MOST)} ends and stops.`));
  if (!data.hasPast || !data.hasStops) parts.push(foot(data.hasPast ? 'Stops are drawn for all namespaces only.' : 'This daemon keeps no history, so the past is empty.'));
  return parts.filter(Boolean);
}

const legend = () => h('ul', { class: 'legend', 'aria-label': 'Legend', role: 'list' },
  [['done', 'done'], ['failed', 'failed'], ['stopped', '✕ stopped'], ['running', 'runs'], ['held', '◷ GPUs held for it'], ['reserved', '▣ nodes reserved for it'], ['planned', 'planned'], ['moves', 'may move, or was moved', '⇄'], ['fade', 'from half of the futures to nine in ten'], ['due', 'deadline', '⚑'], ['due missed', 'will be missed', '⚑']].map(([kind, text, sign]) => h('li', null, h('i', { class: `key ${kind}`, 'aria-hidden': 'true' }, sign), text)));

function axis(from, to, x) {
  const step = STEPS.find((one) => (to - from) / one <= 9) || 48 * HOUR;
  const offset = new Date().getTimezoneOffset() * 60;
  const ticks = [];
  for (let t = Math.ceil((from - offset) / step) * step + offset; t < to; t += step) if (Math.abs(t - now()) > (to - from) / 20) ticks.push(t);
  return h('div', { class: 'axis', 'aria-hidden': 'true' }, ticks.map((t) => h('span', { style: { left: x(t) } }, clock(t))), h('span', { class: 'now', style: { left: x(now()) } }, 'now'));
}

function laneOf(name, lane, { x, wide, from, to }) {
  const { rows, height, hidden } = packed(lane, (to - from) / 100);
  return h('section', { class: 'lane', 'data-key': name, 'aria-label': name },
    h('h2', { title: name }, name, h('span', { class: 'muted' }, ` ${plural(lane.length, 'run')}`)),
    h('ul', { role: 'list', style: { height: `${height * 24 + 6}px` } },
      h('li', { class: 'now', role: 'presentation', style: { left: x(now()) } }),
      rows.map(({ bar, row }) => barOf(bar, row, { x, wide, from, to }))),
    hidden ? muted(`${plural(hidden, 'run')} more`) : null);
}

function barOf(bar, row, { x, wide, from, to }) {
  const end = Number.isFinite(bar.end) ? bar.end : bar.state === 'running' ? to : bar.begin + 300;
  const fade = Number.isFinite(bar.end) && bar.end90 > bar.end ? h('i', { class: `fade ${bar.state}`, 'aria-hidden': 'true', style: { left: x(bar.end), width: wide(bar.end, bar.end90) } }) : null;
  const due = (bar.state === 'running' || AHEAD.includes(bar.state)) && bar.deadline >= from && bar.deadline <= to ? h('i', { class: bar.late ? 'flag missed' : 'flag', 'aria-hidden': 'true', style: { left: x(bar.deadline) }, title: `${bar.key} is due ${clock(bar.deadline)} (${relative(bar.deadline)})` }, '⚑') : null;
  const label = told(bar);
  const visible = Math.min(end, to) - Math.max(bar.begin, from);
  const rise = AHEAD.includes(bar.state) && bar.begin90 > bar.begin + 60 ? Math.min(1, (bar.begin90 - Math.max(bar.begin, from)) / visible) : 0; // it may start later
  return h('li', { 'data-key': `${bar.key} ${bar.state} ${Math.round(bar.begin / 5)}`, style: { top: `${row * 24 + 4}px` } },
    h('a', { class: `run ${bar.state}${bar.late ? ' late' : ''}${Number.isFinite(bar.end) ? '' : ' open'}`, href: taskHref(bar.key), 'aria-label': label, title: label,
      style: { '--rise': `${Math.round(100 * rise)}%`, left: x(bar.begin), width: `max(${wide(bar.begin, end)}, 6px)` } }, h('span', null, bar.moves ? '⇄ ' : SIGNS[bar.state] || '', nameOf(bar.key), end - bar.begin > 0 && Number.isFinite(bar.end) ? h('span', { class: 'long' }, ` ${span(end - bar.begin)}`) : null)),
    fade, due);
}

export default { tab: 'Timeline', title: () => 'Timeline', local: ['by', 'page'], load, draw };
