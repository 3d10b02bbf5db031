// One task: how it stands, why, when it will be done, where it could run, and what happened to it.
import { Failure, ask, askIfThere, knows } from './api.js';
import { h } from './dom.js';
import { clock, figure, interval, moment, now, percent, plural, relative, seconds, signed, span, taskLink, thousands } from './format.js';
import { empty, fact, foot, heading, mark, muted, num, section, shapeOf, sub, table, typeOf } from './parts.js';
import { marks, missing, standing } from './queue.js';

const MOST_SHAPES = 12;
const MOST_EVENTS = 30;

const keyOf = ({ parts }) => `${parts[0] || ''}/${parts[1] || ''}`;

async function load(state, signal) {
  const [namespace, name] = state.parts;
  const path = `v1/tasks/${encodeURIComponent(namespace)}/${encodeURIComponent(name)}`;
  const mine = (list) => list?.items.filter((one) => one.name === name) || [];
  // Lists that are searched: who asks for one task that has ended is refused, here there may be no row.
  const asked = { namespace, search: `${namespace}/${name}`, limit: 500 };
  const [tasks, queue, decisions, past] = await Promise.all([ask('v1/tasks', asked, signal), ask('v1/queue', asked, signal),
    askIfThere('v1/decisions', { pod: `${namespace}/${name}`, limit: MOST_EVENTS }, signal), askIfThere('v1/history', { namespace, name, limit: MOST_EVENTS }, signal)]);
  const [task] = mine(tasks);
  const runs = mine(past);
  if (!task && !runs.length) throw new Failure(404, `There is no GPU task ${namespace}/${name} in the cluster, and none that has ended.`);
  const [shapes, portrait] = await Promise.all([task ? askIfThere(`${path}/placements`, { limit: 200 }, signal) : null, askPortrait(namespace, name, signal)]);
  const data = { task, row: mine(queue)[0], facts: queue, shapes, portrait, decisions, runs, isCut: decisions?.metadata.continue || past?.metadata.continue };
  if (data.row) answer(data, path, state); // of others the daemon says nothing
  return data;
}

// The portrait of the Job's family, or the nearest one; undefined where the daemon knows no family.
async function askPortrait(namespace, name, signal) {
  const any = await askIfThere('v1/portraits', { namespace, limit: 1 }, signal);
  return any?.items.length ? (await askIfThere('v1/portraits', { namespace, job: name }, signal))?.items[0] : undefined;
}

const ANSWER_MS = 10000; // what it asks takes the daemon up to a second
let answered = {};

const more = async (what, path) => ((await knows(`/v1/tasks/{ns}/{name}/${what}`)) ? askIfThere(`${path}/${what}`) : null);

// Why and eta come when they are there: the rest of the view does not wait for them.
function answer(data, path, state) {
  if (answered.path !== path) answered = { path, at: -ANSWER_MS, told: {} };
  const { told } = answered;
  Object.assign(data, told);
  if (performance.now() - answered.at < ANSWER_MS) return;
  answered.at = performance.now();
  Promise.allSettled([more('explain', path), more('eta', path)]).then(([why, eta]) => {
    Object.assign(told, { why: why.value, eta: eta.value, untold: (why.reason || eta.reason)?.message });
    Object.assign(data, told);
    state.redraw(data);
  });
}

// From now to the last moment that may count, as a strip: wait, run, and the deadline.
function strip(row) {
  const start = row.state === 'waiting' ? seconds(row.predictedStart) : now();
  const end = seconds(row.predictedFinish);
  if (!Number.isFinite(start) || !Number.isFinite(end)) return null;
  const end90 = seconds(row.predictedFinishP90) || end;
  const due = seconds(row.deadline);
  const to = Math.max(end90, due || 0) + 60;
  const x = (s) => `${(100 * Math.min(Math.max(s - now(), 0), to - now())) / (to - now())}%`;
  const text = `It ${row.state === 'waiting' ? `starts ${clock(start)}, ` : ''}ends ${clock(end)}, in nine futures of ten by ${clock(end90)}${due ? `; it is due ${clock(due)}` : ''}.`;
  return h('div', { class: 'strip', role: 'img', 'aria-label': text, title: text },
    h('i', { class: 'does', style: { left: x(start), width: `calc(${x(end)} - ${x(start)})` } }), h('i', { class: 'fade', style: { left: x(end), width: `calc(${x(end90)} - ${x(end)})` } }),
    due ? h('i', { class: row.late ? 'flag missed' : 'flag', style: { left: x(due) } }, '⚑') : null);
}

function facts(task, row) {
  const deadline = row?.deadline || task?.deadline;
  return h('dl', { class: 'facts' },
    fact('Class', (row || task).qosClass), fact('Queue', (row || task).queue), fact('Model', (row || task).model),
    fact('Asks for', task ? `${task.shape.replace('x', '×')} ${task.gpuTypes.length ? task.gpuTypes.join(', ') : 'any type'}` : ''),
    row && fact(row.plan ? 'Planned as' : 'May run as', `${shapeOf(row)} ${typeOf(row)}`),
    fact('Created', moment(row?.created || task?.created)), fact('Started', task?.started ? moment(task.started) : ''),
    fact('Deadline', deadline ? [moment(deadline), ` ${relative(seconds(deadline))}`] : ''),
    row && fact('Slack', row.slackSeconds === undefined ? '' : signed(row.slackSeconds)),
    row && fact('Margin', row.marginSeconds === undefined ? '' : signed(row.marginSeconds)),
    fact('Pods', task ? `${task.podsBound} of ${task.podsWanted} bound` : ''), fact('Nodes', task ? task.nodes.join(', ') : ''),
    row?.state === 'waiting' && row.nodes && fact('Nodes reserved', row.nodes.join(', ')),
    row && fact('Run time by', row.lengthSource));
}

// What the Job itself said last, or else how long it has run of what was predicted.
function progressOf({ row }) {
  const said = row?.reported;
  if (row?.progress === undefined && !said) return null;
  return section('Progress', h('dl', { class: 'facts' },
    fact('Work done', row.progress === undefined ? '' : [h('progress', { max: 1, value: row.progress, 'aria-label': 'Work done' }), percent(row.progress)]),
    row.workLeft === undefined ? null : fact('Left after the last stop', percent(row.workLeft)), row.lostGpuSeconds === undefined ? null : fact('Lost by stops', `${span(row.lostGpuSeconds)} of GPU time`),
    said && fact('Iteration', `${thousands(said.iteration)} of ${thousands(said.total)}`), said?.loss !== undefined && fact('Loss', figure(said.loss)), said?.phase && fact('Phase', said.phase),
    said && fact('Reported', moment(said.time), ` ${relative(seconds(said.time))}`)), said ? null : foot('The Job reports no progress: this is the elapsed share of its predicted run time.'));
}

const USES = { gpu: 'GPU', gpuMemory: 'GPU memory', cpu: 'CPU of a pod', memory: 'Memory of a pod' };
const useText = (what, n) => (what === 'gpu' || what === 'gpuMemory' ? percent(n) : what === 'cpu' ? `${figure(n)} cores` : `${figure(n / 2 ** 30)} GiB`);

// What earlier runs of its family used, and what the next one should ask for.
function portraitOf({ portrait }) {
  if (!portrait?.runs) return null;
  const advice = (portrait.advice || []).filter((one) => one.asked !== one.advised);
  return section('What its family used', muted(portrait.match === 'similar' ? 'Its family has not run yet; the nearest one has' : `Family ${portrait.name}`, `: ${plural(portrait.runs, 'run')}, ${portrait.succeeded} succeeded, ${portrait.failed} failed.`),
    h('dl', { class: 'facts' }, fact('Mean run time', portrait.meanRunSeconds === undefined ? '' : span(portrait.meanRunSeconds)), fact('Mean wait', portrait.meanWaitSeconds === undefined ? '' : span(portrait.meanWaitSeconds)),
      (portrait.use || []).map((one) => fact(USES[one.resource] || one.resource, useText(one.resource, one.median), sub(`95 % of the time at most ${useText(one.resource, one.p95)}`)))),
    portrait.use?.length ? null : foot('What its runs used was not measured: the daemon has no Prometheus, or they ran before it.'),
    advice.length ? [h('h3', null, 'What the next run could ask for'), h('ul', { class: 'plain' }, advice.map((one) => h('li', null, one.text)))] : null);
}

const spanOf = (times) => (times?.p50 || times?.p90 ? interval(times.p50 || times.p90, times.p90) : null);

const hidden = (n, what) => (n ? ` and ${plural(n, what)} of namespaces that you may not view` : '');

const links = (tasks) => tasks.map((task, i) => [i ? ', ' : '', taskLink(task, task)]);

function blockerOf(one) {
  const freed = (one.freedBy || []).filter(({ task }) => task);
  return h('li', null, h('strong', null, one.what), one.need === undefined ? null : `: needs ${one.need}, there ${one.have === 1 ? 'is' : 'are'} ${one.have ?? 0}${one.short ? `, ${one.short} short` : ''}`,
    one.waitsFor?.length || one.waitsForHidden ? [', waits for ', links(one.waitsFor || []), hidden(one.waitsForHidden, 'task')] : null,
    spanOf(one.ends) ? [', until ', spanOf(one.ends)] : null, one.detail ? sub(one.detail) : null,
    freed.length ? sub('freed by ', freed.map(({ task, gpus, ends }, i) => [i ? '; ' : '', taskLink(task, task), ` (${plural(gpus, 'GPU')}`, spanOf(ends) ? [', ', spanOf(ends)] : null, ')'])) : null);
}

function changesOf(why) {
  if (!why.changes?.length) return null;
  return [h('h3', null, 'What would help'), table('What would help', ['Change', 'Starts', 'Ends', 'In time'],
    why.changes.map((one) => h('tr', { 'data-key': one.what }, heading(one.what, one.task ? [' ', taskLink(one.task, one.task)] : null),
      h('td', null, spanOf(one.start) || '–'), h('td', null, spanOf(one.finish) || '–'), num(one.chance === undefined ? '–' : percent(one.chance)))), (i) => i === 3),
  foot(`Each was planned, not guessed: ${plural(why.changesTried, 'change')} tried${why.changesNotTried ? `, ${why.changesNotTried} not, for lack of time` : ''}.`)];
}

function whyOf({ row, why, untold }) {
  const parts = [];
  if (row) parts.push(h('p', { class: 'lead' }, marks(row), standing(row)), row.reason ? muted('Reason code ', h('code', null, row.reason), row.roomBy ? [', room by ', moment(row.roomBy)] : null) : null);
  if (why?.blockers?.length) parts.push(h('ul', { class: 'plain' }, why.blockers.map(blockerOf)));
  if (why?.nodes?.length) parts.push(h('p', null, `Of ${plural(why.nodesTotal, 'node')}: `, why.nodes.map((one, i) => [i ? ', ' : '', h('b', null, one.nodes), ` ${one.what}`,
    one.heldFor?.length ? [' for ', links(one.heldFor), hidden(one.heldForHidden, 'task')] : null, one.until ? [' until ', moment(one.until)] : null]), '.'));
  if (why) parts.push(changesOf(why));
  if (untold) parts.push(muted(`Not all is told of it: ${untold}`));
  return parts.length ? section(row?.state === 'waiting' ? 'Why it waits' : 'How it stands', parts) : null;
}

const held = (eta) => (eta?.finishHeld?.intervals ? foot(`Of the last ${eta.finishHeld.intervals} intervals in which eight ends of ten were expected, ${percent(eta.finishHeld.share)} held what happened.`) : null);

function etaOf({ row, eta }) {
  if (!row) return null;
  return section('When', strip(row), h('dl', { class: 'facts' },
    row.state === 'waiting' ? fact('Starts', row.predictedStart ? interval(row.predictedStart, row.predictedStartP90) : missing(row)) : null,
    fact('Ends', row.predictedFinish ? interval(row.predictedFinish, row.predictedFinishP90) : missing(row)),
    eta?.chance === undefined ? null : fact('Chance to meet the deadline', percent(eta.chance))), held(eta));
}

function shapesOf(shapes) {
  if (!shapes || !shapes.items.length) return null;
  const best = Math.max(...shapes.items.map((one) => one.cer ?? 0));
  return section('Where it could run', muted(shapes.note || ''),
    table('Shapes', ['GPU type', 'Shape', 'Run time', 'Samples/s', 'CER', 'Deadline', 'Now'],
      [...shapes.items].sort((a, b) => b.allowed - a.allowed).slice(0, MOST_SHAPES).map((one) => h('tr', { 'data-key': `${one.gpuType} ${one.shape}`, class: one.allowed ? null : 'off' },
        heading(one.gpuType || 'unknown'), h('td', null, one.shape.replace('x', '×'), one.written ? sub('as submitted') : null),
        num(one.latSeconds ? span(one.latSeconds) : '–'), num(figure(one.throughputSamplesPerSecond)),
        num(one.cer ? [h('meter', { min: 0, max: best, value: one.cer, 'aria-label': 'Cost-efficiency ratio, against the best' }), h('span', null, figure(one.cer))] : '–'),
        h('td', null, one.feasible === null ? '?' : one.feasible ? 'meets it' : 'misses it'), h('td', null, one.allowed === false ? one.reason : one.fitsNow ? 'fits' : 'no room'))), (i) => i > 1 && i < 5),
    shapes.items.length > MOST_SHAPES ? muted(`${plural(shapes.items.length - MOST_SHAPES, 'more shape')}: slackline placements`) : null);
}

const DONE = { met: ['calm', 'met'], missed: ['bad', 'missed'], none: ['', 'no deadline'] };

function pastOf({ decisions, runs, isCut }) {
  const told = (decisions?.items || []).map((one) => ({ at: seconds(one.time), time: one.time, what: one.verb, text: one.result, stop: one.stop, on: one.outcome }));
  const ends = runs.map((run) => ({ at: seconds(run.finished), time: run.finished, what: run.outcome, text: `after ${span(run.durationSeconds || 0)} on ${run.gpus} × ${run.gpuType || 'unknown'}, ${figure(run.gpuHours)} GPU-hours`, result: DONE[run.result] }));
  const every = [...told, ...ends].sort((a, b) => b.at - a.at);
  const all = every.slice(0, MOST_EVENTS);
  if (!all.length) return null;
  return section('What happened', h('ol', { class: 'events', reversed: true }, all.map((one) => h('li', null, moment(one.time), ' ', h('strong', null, one.what), ' ', one.text,
    one.result && one.result[0] ? [' ', mark(one.result[0], `deadline ${one.result[1]}`)] : null, one.stop?.for ? [' for ', taskLink(one.stop.for)] : null, one.on ? ` → ${one.on.node}` : null))),
    isCut || every.length > all.length ? foot(`The latest ${all.length}.`) : null);
}

function draw(data, state) {
  const { task, row } = data;
  const [namespace, name] = state.parts;
  return [
    h('p', { class: 'path' }, h('a', { href: state.link({}, 'queue') }, 'Queue'), ' / ', namespace),
    h('h1', null, name, ' ', h('span', { class: 'muted' }, row ? row.state : task ? task.state : 'ended')),
    task?.problems.length ? h('div', { class: 'panel bad', role: 'alert' }, h('p', null, h('strong', null, 'Annotations that cannot be read')), h('ul', null, task.problems.map((one) => h('li', null, one)))) : null,
    task?.hints ? h('div', { class: 'panel' }, h('p', null, h('strong', null, 'What its annotations leave open')), h('ul', null, task.hints.map((one) => h('li', null, one)))) : null,
    whyOf(data), etaOf(data), progressOf(data),
    task || row ? section('Facts', facts(task, row)) : empty('It has ended', 'What is known of it stands below.'),
    shapesOf(data.shapes), portraitOf(data), pastOf(data),
  ].filter(Boolean);
}

export default { tab: 'Task', title: (state) => keyOf(state), load, draw };
