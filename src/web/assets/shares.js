// Whose GPUs the runs of each queue use: its own, borrowed ones, or those that nobody owns.
import { ask } from './api.js';
import { h } from './dom.js';
import { thousands } from './format.js';
import { empty, mark } from './parts.js';

const MOST = 1000;

const load = (state, signal) => ask('v1/shares', { limit: MOST }, signal);

function typeOf(type, lines) {
  const headings = ['Queue', 'Own', 'In use', 'May borrow', 'Borrowed', 'Of the pool'];
  return h('section', { 'data-key': type.gpuType }, h('h2', null, type.gpuType || 'unknown type'),
    h('p', { class: 'muted' }, `${thousands(type.gpus)} GPUs, ${thousands(type.owned)} owned by queues; ${thousands(type.poolInUse)} of ${thousands(type.pool)} in the pool are in use `,
      type.owned > type.gpus ? mark('bad', 'More owned than there are') : null),
    h('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': `Shares of ${type.gpuType}` }, h('table', null,
      h('thead', null, h('tr', null, headings.map((text, i) => h('th', { scope: 'col', class: i ? 'n' : null }, text)))),
      h('tbody', null, lines.map((line) => h('tr', { 'data-key': line.queue || '-' }, h('th', { scope: 'row' }, line.queue || 'not planned by Slackline'),
        [line.own, line.ownInUse, line.borrow, line.borrowed, line.poolInUse].map((gpus) => h('td', { class: 'n' }, thousands(gpus)))))))));
}

function draw({ types, items }) {
  const head = [h('h1', null, 'Shares')];
  if (!types.length) return [...head, empty('No queue has a share', 'Queues can own GPUs by type and borrow what others leave idle: queues[].shares of the configuration.')];
  return [...head, h('p', { class: 'lead' }, 'What queues own, may borrow and use. The runs of a queue take what is left in the order of their starts: of its own, then borrowed, then of the pool.'),
    types.map((type) => typeOf(type, items.filter((line) => line.gpuType === type.gpuType)))].flat();
}

export default { tab: 'Shares', title: () => 'Shares', load, draw };
