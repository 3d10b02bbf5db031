// Shadow mode: what Slackline would have started, and which deadlines that would have met.
import { askIfThere, askText } from './api.js';
import { h } from './dom.js';
import { keyOf, moment, percent, plural, signed, taskLink } from './format.js';
import { empty, fact, foot, heading, muted, num, section } from './parts.js';

const MOST = 200;

async function load({ query }, signal) {
  const [decisions, counted] = await Promise.all([query.get('ns') ? null : askIfThere('v1/decisions', { verb: 'plan', limit: MOST }, signal), askMetrics(signal)]);
  return { decisions, ...counted };
}

// The metrics, or why they may not be read.
async function askMetrics(signal) {
  try {
    return { metrics: await askText('metrics', null, signal) };
  } catch (error) {
    if (!error.status || error.status === 401) throw error;
    return { metrics: '', refusal: error.message };
  }
}

// {"met/missed": 3}: would have been / was.
function deadlines(text) {
  const counts = {};
  for (const [, labels, value] of text.matchAll(/^slackline_shadow_deadlines_total\{([^}]*)\} (\S+)$/gm)) {
    const label = (name) => new RegExp(`${name}="([^"]*)"`).exec(labels)?.[1];
    const key = `${label('result')}/${label('real')}`;
    counts[key] = (counts[key] || 0) + Number(value);
  }
  return counts;
}

function compared(counts, refusal) {
  if (refusal) return empty('Not counted here', 'The metrics may not be read: ', refusal);
  const n = (key) => counts[key] || 0;
  const judged = ['met/met', 'met/missed', 'missed/met', 'missed/missed'].reduce((sum, key) => sum + n(key), 0);
  if (!judged) return empty('Nothing to compare yet', 'No Job with a deadline has ended in both worlds since this replica started.');
  return [
    h('dl', { class: 'figures' }, fact('Met, as it was', percent((n('met/met') + n('missed/met')) / judged)), fact('Met, with Slackline', percent((n('met/met') + n('met/missed')) / judged)),
      fact('Deadlines won', n('met/missed')), fact('Deadlines lost', n('missed/met')), fact('Jobs judged', judged)),
    h('table', { class: 'square' }, h('caption', null, 'Deadlines of the same Jobs in both worlds'), h('thead', null, h('tr', null, h('td'), h('th', { scope: 'col' }, 'were met'), h('th', { scope: 'col' }, 'were missed'))),
      h('tbody', null, ['met', 'missed'].map((would) => h('tr', null, heading(`would be ${would}`), ['met', 'missed'].map((real) => num(n(`${would}/${real}`))))))),
  ];
}

function draw({ decisions, metrics, refusal }, { cluster, query }) {
  const head = [h('h1', null, 'Shadow')];
  const counts = deadlines(metrics);
  const rows = (decisions?.items || []).filter((one) => one.result.startsWith('would'));
  if (cluster?.mode === 'active' && !rows.length) return [...head, empty('Not in shadow mode', 'This daemon acts: what it did is in the queue, the timeline and the report. In shadow or advise mode this view compares what Slackline would have done with what happened.')];
  const lag = Number(/^slackline_shadow_lag_seconds(?:\{[^}]*\})? (\S+)$/m.exec(metrics)?.[1]);
  return [...head,
    h('p', { class: 'lead' }, 'A virtual cluster beside the real one: the same Jobs arrive, and Slackline’s planner starts them.', cluster?.mode === 'shadow' ? ' Nothing is written.' : null),
    compared(counts, refusal), query.get('ns') && !refusal ? muted('Counted in all namespaces.') : null, lag > 60 ? muted(`Virtual time is ${signed(lag)} behind: it waits until run times are known.`) : null,
    section('What it would have started', rows.length
      ? h('ol', { class: 'events', reversed: true }, rows.map((one) => h('li', { 'data-key': one.id }, moment(one.time), ' ', taskLink(keyOf(one), keyOf(one)), ' ', one.result.replace(/^would start: /, ''))))
      : muted(decisions ? 'Nothing yet.' : query.get('ns') ? 'It is listed for all namespaces together only.' : 'This replica keeps no journal; its log says why.')),
    rows.length === MOST ? foot(`The latest ${plural(MOST, 'decision')}.`) : null].flat().filter(Boolean);
}

export default { tab: 'Shadow', title: () => 'Shadow', load, draw };
