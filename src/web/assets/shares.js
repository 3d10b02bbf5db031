// Whose GPUs the runs of each queue use: its own, borrowed ones, or those that nobody owns.
import { ask } from './api.js';
import { h } from './dom.js';
import { empty, heading, mark, muted, num, table } from './parts.js';

const load = (state, signal) => ask('v1/shares', { limit: 1000 }, signal);

function typeOf(type, lines) {
  return h('section', { 'data-key': type.gpuType }, h('h2', null, type.gpuType || 'unknown type'),
    muted(`${type.gpus} GPUs, ${type.owned} owned by queues; ${type.poolInUse} of ${type.pool} in the pool are in use `, type.owned > type.gpus ? mark('bad', 'More owned than there are') : null),
    table(`Shares of ${type.gpuType}`, ['Queue', 'Own', 'In use', 'May borrow', 'Borrowed', 'Of the pool'], lines.map((line) => h('tr', { 'data-key': line.queue || '-' }, heading(line.queue || 'not planned by Slackline'),
      [line.own, line.ownInUse, line.borrow, line.borrowed, line.poolInUse].map((gpus) => num(gpus))))));
}

function draw({ types, items }) {
  return [h('h1', null, 'Shares'), types.length ? types.map((type) => typeOf(type, items.filter((line) => line.gpuType === type.gpuType)))
    : empty('No queue has a share', 'Queues can own GPUs by type and borrow what others leave idle: queues[].shares of the configuration.')].flat();
}

export default { tab: 'Shares', title: () => 'Shares', load, draw };
