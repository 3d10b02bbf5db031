// What came of the Jobs that have ended: deadlines, GPU-hours, predictions.
import { askIfThere, knows } from './api.js';
import { h } from './dom.js';
import { figure, keyOf, moment, percent, plural, span, taskLink, thousands } from './format.js';
import { empty, fact, filters, foot, heading, mark, num, section, sub, table } from './parts.js';

const MOST = 1000;
const SHOWN = 100;

async function load({ query }, signal) {
  const asked = { namespace: query.get('ns'), since: query.get('since') || '24h', limit: MOST };
  const history = await askIfThere('v1/history', asked, signal);
  const by = query.get('by') || 'namespace';
  const use = (await knows('/v1/reports', signal)) ? await askIfThere('v1/reports', { namespace: asked.namespace, since: asked.since, by, limit: 50 }, signal) : null;
  return { history, use };
}

const median = (values) => (values.length ? [...values].sort((a, b) => a - b)[Math.floor((values.length - 1) / 2)] : NaN);

// Sums by a key, largest first.
function sums(items, keyOf) {
  const by = new Map();
  for (const item of items) {
    const key = keyOf(item) || 'unknown';
    const sum = by.get(key) || { jobs: 0, hours: 0, met: 0, missed: 0 };
    sum.jobs += 1;
    sum.hours += item.gpuHours;
    if (item.result === 'met') sum.met += 1;
    if (item.result === 'missed') sum.missed += 1;
    by.set(key, sum);
  }
  return [...by].sort((a, b) => b[1].hours - a[1].hours || a[0].localeCompare(b[0]));
}

function byTable(title, what, rows) {
  const most = Math.max(...rows.map(([, sum]) => sum.hours), 0.001);
  return section(title, table(title, [what, 'Jobs', 'GPU-hours', 'Met', 'Missed'], rows.slice(0, 20).map(([name, sum]) => h('tr', { 'data-key': name }, heading(name), num(sum.jobs),
      num(h('meter', { min: 0, max: most, value: sum.hours, 'aria-label': 'Share of the largest' }), h('span', null, figure(sum.hours))), num(sum.met), num(sum.missed)))));
}

const BY = [{ value: '', text: 'By namespace' }, { value: 'family', text: 'By family' }, { value: 'gpu-type', text: 'By GPU type' }];
const share = (part) => (part === undefined || part === null ? '–' : percent(part));

// What runs asked for, held and used; measured by Prometheus where there is one.
function useOf(use, state) {
  return section('What GPUs were used for', filters(state, 'by', BY, 'Groups'),
    table('Use of GPUs', ['Group', 'Runs', 'GPU-hours', 'Used', 'Idle', 'Returned', 'Could return', 'Deadlines met', 'Waited'], use.items.map((one) => h('tr', { 'data-key': one.group }, heading(one.title || one.group || 'unknown'), num(one.runs), num(figure(one.gpuHours)),
        num(share(one.gpuUse)), num(figure(one.idleGpuHours)), num(figure(one.returnedGpuHours)), num(figure(one.returnableGpuHoursEstimate)),
        num(one.deadlines ? `${one.deadlinesMet} of ${one.deadlines}` : '–'), num(span(one.waitMedianSeconds ?? NaN))))),
    use.notes?.length ? h('details', { class: 'muted foot' }, h('summary', null, 'How this is counted'), use.notes.map((note) => h('p', null, note))) : null);
}

const RESULT = { met: ['calm', 'met'], missed: ['bad', 'missed'], none: ['', 'none'] };

function runs(items) {
  return section('The latest', table('Finished Jobs', ['Job', 'Ended', 'Deadline', 'Waited', 'Predicted', 'Ran', 'GPUs'],
    items.slice(0, SHOWN).map((run) => h('tr', { 'data-key': run.uid },
      h('th', { scope: 'row', class: 'task' }, taskLink(keyOf(run)), sub(run.namespace, run.outcome === 'failed' ? ' · failed' : '')),
      h('td', null, moment(run.finished)), h('td', null, run.deadline ? [mark(...RESULT[run.result]), ' ', moment(run.deadline)] : '–'),
      num(span(run.waitSeconds ?? NaN)), num(span(run.predictedSeconds ?? NaN)), num(span(run.durationSeconds ?? NaN)),
      h('td', null, run.gpus, sub(run.gpuType || 'unknown')))), (i) => i > 2 && i < 6));
}

function draw({ history, use }, state) {
  const times = filters(state, 'since', [{ value: '1h', text: '1 h' }, { value: '', text: '24 h' }, { value: '168h', text: '7 d' }, { value: '720h', text: '30 d' }], 'Since when');
  const head = [h('h1', null, 'Report'), h('div', { class: 'tools' }, times)];
  if (!history) return [...head, empty('No history', 'This replica keeps no history at the moment; its log says why.')];
  const { items } = history;
  if (!items.length) return [...head, empty('No Job has ended', 'in this time, as far as this replica has seen.')];
  const judged = items.filter((one) => one.result !== 'none');
  const met = judged.filter((one) => one.result === 'met').length;
  const errors = items.filter((one) => one.predictedSeconds && one.durationSeconds).map((one) => Math.abs(one.durationSeconds / one.predictedSeconds - 1));
  return [...head,
    h('dl', { class: 'figures' },
      fact('Jobs ended', thousands(items.length)), fact('Deadlines met', judged.length ? [percent(met / judged.length), sub(`${met} of ${judged.length}`)] : ''),
      fact('GPU-hours', figure(items.reduce((sum, one) => sum + one.gpuHours, 0))), fact('Median wait', span(median(items.map((one) => one.waitSeconds).filter((s) => s !== undefined)))),
      fact('Median error of predicted run times', errors.length ? percent(median(errors)) : '')),
    use ? useOf(use, state) : h('div', { class: 'by' }, byTable('By queue', 'Queue', sums(items, (one) => one.queue)), byTable('By GPU type', 'GPU type', sums(items, (one) => one.gpuType))), runs(items),
    foot(`Of the ${history.metadata.continue ? 'last ' : ''}${plural(items.length, 'Job')} that this replica saw end. What failed has missed its deadline.`)];
}

export default { tab: 'Report', title: () => 'Report', load, draw };
