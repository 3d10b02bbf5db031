// The queue: who waits, why, and when it will be done.
import { h } from './dom.js';
import { interval, keyOf, moment, percent, plural, relative, seconds, signed, taskLink } from './format.js';
import { askPage, empty, filters, foot, mark, nothing, pager, pools, search, shapeOf, sortable, sub, totalOf, typeOf } from './parts.js';

async function load(state, signal) {
  const { query } = state;
  const list = await askPage('v1/queue', { namespace: query.get('ns'), search: query.get('search'), state: query.get('state'), sort: query.get('sort') }, state, signal);
  return { list, facts: list };
}

// One line on how it stands with the task.
export function standing(row) {
  const done = row.progress === undefined ? null : percent(row.progress);
  if (row.state === 'running')
    return h('span', { class: 'why' }, 'runs', done ? [h('progress', { max: 1, value: row.progress, 'aria-label': 'Work done' }), done] : null);
  if (row.state === 'starting') return h('span', { class: 'why' }, 'starts now: its pods are being bound');
  return h('span', { class: 'why' }, row.why || 'waits',
    row.waitsFor ? [': ', row.waitsFor.map((task, i) => [i ? ', ' : '', taskLink(task)])] : null,
    row.retryAfter ? `; tried again ${relative(seconds(row.retryAfter))}` : null);
}

export function marks(row) {
  return [row.blocked ? mark('bad', 'Blocked', 'As things stand it never starts') : null,
    row.late ? mark('bad', 'Late', 'In at least half of the futures it ends after its deadline') : null,
    row.cutShort ? mark('bad', 'Cut short', 'Its time limit ends it unfinished') : null,
    row.preemptions ? mark('calm', `Stopped ${row.preemptions}×`, 'So often it was stopped for another task') : null,
    row.move ? mark('calm', 'Move', 'It would gain if running tasks went on elsewhere') : null];
}

function rowOf(row) {
  const slack = row.slackSeconds;
  return h('tr', { 'data-key': `${row.kind}/${keyOf(row)}`, class: row.state },
    h('td', { class: 'n', 'data-label': 'Position' }, row.position || h('span', { class: 'dot', title: row.state }, row.state === 'running' ? '▶' : '▷')),
    h('th', { scope: 'row', class: 'task' }, taskLink(keyOf(row)),
      sub(row.namespace, row.model ? ` · ${row.model}` : '', row.qosClass === 'normal' ? '' : ` · ${row.qosClass}`)),
    h('td', { class: 'standing', 'data-label': 'Status' }, marks(row), standing(row)),
    h('td', { 'data-label': 'Deadline' }, row.deadline ? [moment(row.deadline), sub(relative(seconds(row.deadline)))] : '–'),
    h('td', { class: `n ${slack < 0 ? 'short' : ''}`, 'data-label': 'Slack' }, slack === undefined ? '–' : signed(slack)),
    h('td', { 'data-label': 'Starts' }, row.predictedStart ? interval(row.predictedStart, row.predictedStartP90) : missing(row)),
    h('td', { 'data-label': 'Ends' }, row.predictedFinish ? interval(row.predictedFinish, row.predictedFinishP90) : missing(row)),
    h('td', { 'data-label': 'GPUs' }, shapeOf(row), sub(typeOf(row))));
}

const FORECASTS = { Never: 'never', BeyondHorizon: 'in over two days', LengthUnknown: 'run time unknown', NotInBook: 'not computed yet' };

export const missing = (row) => h('span', { class: 'muted' }, FORECASTS[row.forecast] || '–');

function draw({ list }, state) {
  const { query } = state;
  const counts = list.counts || {};
  const all = (counts.waiting || 0) + (counts.starting || 0) + (counts.running || 0);
  const narrowed = query.get('search') || query.get('state');
  const choices = [{ value: '', text: 'All', count: all }, ...['waiting', 'starting', 'running', 'late', 'blocked'].map((value) => ({ value, text: value[0].toUpperCase() + value.slice(1), count: counts[value] || 0 }))];
  const parts = [
    h('h1', null, 'Queue'),
    pools(state.cluster, state),
    h('div', { class: 'tools' }, filters(state, 'state', choices, 'Which tasks'), search(state, 'Search tasks, models, reasons')),
  ];
  if (!list.items.length) {
    parts.push(narrowed ? nothing('task of the queue', state)
      : state.cluster && state.cluster.nodes === 0 ? empty('An empty cluster', 'It has no nodes yet. Once nodes with GPUs and Jobs are there, they appear here by themselves.')
        : empty('Nobody waits', 'No task waits or runs by a plan. A new Job in a namespace with the label slackline.dev/managed=true appears here.'));
    return parts.filter(Boolean);
  }
  parts.push(
    h('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'Tasks' }, h('table', { class: 'queue' },
      h('caption', { class: 'hidden' }, `${plural(totalOf(list, state), 'task')}, ${query.get('sort') ? 'sorted' : 'by predicted start'}`),
      h('thead', null, h('tr', null, h('th', { scope: 'col', class: 'n' }, '#'), sortable(state, 'name', 'Task'), sortable(state, 'reason', 'Status'), sortable(state, 'deadline', 'Deadline'),
        sortable(state, 'slack', 'Slack', 'n'), sortable(state, 'start', 'Starts'), sortable(state, 'finish', 'Ends'), sortable(state, 'gpus', 'GPUs'))),
      h('tbody', null, list.items.map(rowOf)))),
    pager(list, state, 'task'),
    list.forecastTime ? foot('Forecasts of ', moment(list.forecastTime), '. Starts and ends: half of the simulated futures – nine in ten.',
      list.unknownRuns ? ` ${list.unknownRuns} running pods do not say how long they take: their ends are guesses.` : '',
      list.leftAlone ? ` ${plural(Number(list.leftAlone), 'task')} left to kube-scheduler: no node lists the devices that a DeviceClass serves.` : '',
      list.forOthers ? ` ${plural(Number(list.forOthers), 'pod')} wait for schedulers that do not ask Slackline.` : '') : null);
  return parts.filter(Boolean);
}

export default { tab: 'Queue', title: () => 'Queue', load, draw };
