// Every GPU of every node as a cell: who has it, whom it is held for, or why nobody can use it.
import { h } from './dom.js';
import { nameOf, plural, taskHref } from './format.js';
import { askPage, empty, filters, nothing, pager, pools, search } from './parts.js';

const SIZE = 60;
const MOST_CELLS = 64; // of one occupant
const BY = { plan: 'planned by Slackline', scheduler: 'placed by kube-scheduler', other: 'placed by another scheduler', held: 'held for it' };
const SIGN = { plan: '', scheduler: '', other: '◇', held: '◷' };

async function load(state, signal) {
  const { query } = state;
  return { list: await askPage('v1/nodes', { search: query.get('search'), state: query.get('state') || 'gpu', sort: query.get('sort') || 'type' }, state, signal, SIZE) };
}

// A steady tint for each task, of eight.
function tint(text) {
  let sum = 0;
  for (const c of text) sum = (sum * 31 + c.codePointAt(0)) % 9973;
  return `tint${sum % 8}`;
}

function problemOf(node) {
  if (node.problems.length) return ['×', `unreadable: ${node.problems.join(', ')}`];
  if (!node.ready) return ['×', 'NotReady'];
  if (node.unschedulable) return ['–', 'cordoned'];
  return null;
}

// What one unit is where it is a part of a GPU.
function partOf(node, use) {
  if (use.sharing === 'mig' || /-MIG-/.test(node.gpuType)) return 'MIG slice';
  return use.sharing === 'whole' && !/-SHARED/.test(node.gpuType) ? '' : 'share';
}

const cells = (n) => Array.from({ length: Math.min(Math.max(n, 0), MOST_CELLS) }, () => h('i'));

function occupantOf(one, i, unit) {
  const label = `${one.task}: ${plural(one.gpus, unit)}, ${BY[one.by]}`;
  return h('a', { class: `who ${one.by} ${tint(one.task)}`, 'data-key': `${one.pod || one.task} ${one.by} ${i}`, href: taskHref(one.task), 'aria-label': label, title: label, style: { '--n': Math.max(1, Math.min(one.gpus, MOST_CELLS)) } },
    cells(one.gpus), h('b', { 'aria-hidden': 'true' }, SIGN[one.by], nameOf(one.task)));
}

function useOf(node, use) {
  const occupants = node.occupants.filter((one) => one.resource === use.resource);
  const wrong = problemOf(node);
  const free = Math.max(0, use.free);
  const part = partOf(node, use);
  const unit = part || 'GPU';
  return h('div', { class: part ? 'gpus part' : 'gpus', 'data-key': use.resource },
    part || node.gpus.length > 1 ? h('span', { class: 'resource' }, part ? `${plural(use.allocatable, part)} of ${use.resource}` : use.resource) : null,
    occupants.map((one, i) => occupantOf(one, i, unit)),
    free ? h('span', { class: wrong ? 'who out' : 'who free', style: { '--n': Math.min(free, MOST_CELLS) }, role: 'img', 'aria-label': wrong ? `${plural(free, unit)} out: ${wrong[1]}` : `${plural(free, unit)} free` }, cells(free), wrong ? h('b', { 'aria-hidden': 'true' }, wrong[0]) : null) : null,
    use.free < 0 ? h('span', { class: 'mark bad' }, `${-use.free} too many`) : null);
}

function nodeOf(node) {
  const wrong = problemOf(node);
  return h('li', { 'data-key': node.name, class: wrong ? 'node out' : 'node' },
    h('h3', { title: [node.name, ...node.taints].join('\n') }, node.name),
    wrong ? h('span', { class: 'mark bad' }, wrong[1]) : null,
    node.gpus.map((use) => useOf(node, use)));
}

function draw({ list }, state) {
  const groups = new Map();
  for (const node of list.items) {
    const type = node.gpuType || 'type unknown';
    if (!groups.has(type)) groups.set(type, []);
    groups.get(type).push(node);
  }
  const choices = [{ value: '', text: 'All' }, { value: 'free', text: 'With free GPUs' }, { value: 'full', text: 'Full' }, { value: 'unusable', text: 'Out of use' }];
  const narrowed = state.query.get('search') || state.query.get('state');
  return [
    h('h1', null, 'GPUs'),
    pools(state.cluster, state),
    h('div', { class: 'tools' }, filters(state, 'state', choices, 'Which nodes'), search(state, 'Search nodes, types, tasks')),
    h('ul', { class: 'legend', 'aria-label': 'Legend', role: 'list' }, [['who free', 'free'], ['who plan tint1', 'planned by Slackline'], ['who scheduler tint1', 'by kube-scheduler'], ['who held tint1', '◷ held'], ['who other tint1', '◇ another scheduler’s'], ['who out', '× out of use'], ['who free part', 'half as wide: a MIG slice or a share of a GPU']].map(([kind, text]) => h('li', null, h('span', { class: kind, style: { '--n': 1 }, 'aria-hidden': 'true' }, h('i')), text))),
    list.items.length ? [...groups].map(([type, nodes]) => h('section', { class: 'type', 'data-key': type, 'aria-label': type }, h('h2', null, type, h('span', { class: 'muted' }, ` ${plural(nodes.length, 'node')} here`)), h('ul', { class: 'nodes', role: 'list' }, nodes.map(nodeOf))))
      : narrowed ? nothing('node', state)
        : empty('No GPUs', 'No node of the cluster offers a GPU resource that the configuration names.'),
    pager(list, state, 'node', SIZE),
  ].flat().filter(Boolean);
}

export default { tab: 'GPUs', title: () => 'GPUs', load, draw };
