// Parts that several views share.
import { ask } from './api.js';
import { h } from './dom.js';
import { figure, plural, thousands } from './format.js';

export const PAGE = 50;

export const pageOf = (state) => Math.max(1, Number.parseInt(state.query.get('page'), 10) || 1);

// The page that the URL names; if there are fewer, the last one, which the URL then names.
export function lastPageOr(state, total, size) {
  const last = Math.max(1, Math.ceil(total / size));
  if (pageOf(state) <= last) return pageOf(state);
  state.query.set('page', last);
  history.replaceState(null, '', state.link({ page: last === 1 ? undefined : last }));
  return last;
}

// The rows of that page.
export async function askPage(path, parameters, state, signal, size = PAGE) {
  const window = () => ({ ...parameters, limit: size, offset: (pageOf(state) - 1) * size });
  const list = await ask(path, window(), signal);
  if (list.items.length || pageOf(state) === 1) return list;
  const start = await ask(path, { ...parameters, limit: 1, offset: 0 }, signal);
  lastPageOr(state, start.items.length + (start.metadata.remainingItemCount || 0), size);
  return ask(path, window(), signal);
}

export const totalOf = (list, state, size = PAGE) => (pageOf(state) - 1) * size + list.items.length + (list.metadata.remainingItemCount || 0);

export function pager(list, state, what, size = PAGE) {
  const page = pageOf(state);
  const total = totalOf(list, state, size);
  if (total <= size && page === 1) return null;
  const last = Math.max(1, Math.ceil(total / size));
  const to = (n, text, rel) => (n < 1 || n > last || n === page ? h('span', { class: 'off' }, text) : h('a', { href: state.link({ page: n === 1 ? undefined : n }), rel }, text));
  const first = (page - 1) * size + 1;
  return h('nav', { class: 'pager', 'aria-label': 'Pages' },
    to(1, 'First'), to(page - 1, 'Previous', 'prev'),
    h('span', null, `${thousands(first)}–${thousands(first + list.items.length - 1)} of ${plural(total, what)}`),
    to(page + 1, 'Next', 'next'), to(last, 'Last'));
}

let typing = 0;

// A search that is part of the URL; it waits for a pause of the fingers.
export function search(state, placeholder) {
  return h('span', { class: 'search' },
    h('label', { class: 'hidden', for: 'search' }, 'Search'),
    h('input', {
      id: 'search', type: 'search', value: state.query.get('search') || '', placeholder, spellcheck: 'false', autocomplete: 'off', title: 'Press / to come here',
      oninput: (event) => {
        clearTimeout(typing);
        document.getElementById('main').setAttribute('aria-busy', 'true');
        const text = event.target.value;
        typing = setTimeout(() => {
          history.replaceState(null, '', state.link({ search: text, page: undefined }));
          window.dispatchEvent(new HashChangeEvent('hashchange'));
        }, 150);
      },
    }));
}

// Filters as links: [{value, text, count}]; the chosen one is marked.
export function filters(state, key, all, label) {
  const chosen = state.query.get(key) || '';
  return h('ul', { class: 'filters', 'aria-label': label, role: 'list' },
    all.map(({ value, text, count }) => h('li', null, h('a', { href: state.link({ [key]: value || undefined, page: undefined }), 'aria-current': chosen === (value || '') ? 'true' : null },
      text, count === undefined ? null : h('b', null, thousands(count))))));
}

// A column's heading that sorts; again: the other way.
export function sortable(state, key, text, extra) {
  const sort = state.query.get('sort') || '';
  const way = sort === key ? 'ascending' : sort === `-${key}` ? 'descending' : null;
  const after = way === 'ascending' ? `-${key}` : way === 'descending' ? undefined : key;
  return h('th', { scope: 'col', 'aria-sort': way, class: extra },
    h('a', { href: state.link({ sort: after, page: undefined }) }, text, way ? h('span', { class: 'way', 'aria-hidden': 'true' }, way === 'ascending' ? ' ↑' : ' ↓') : null));
}

// How full the GPUs of each type are; parts of GPUs are counted by themselves.
export function pools(cluster, state) {
  if (!cluster || !cluster.pools.length) return null;
  const wanted = cluster.pools.filter((pool) => pool.gpus.length);
  return h('ul', { class: 'pools', 'aria-label': 'GPUs of the cluster, by type', role: 'list' }, wanted.map((pool) => {
    const whole = pool.gpus.filter((use) => use.sharing === 'whole');
    const sum = (key, uses = whole.length ? whole : pool.gpus) => uses.reduce((total, use) => total + use[key], 0);
    const parts = whole.length ? pool.gpus.filter((use) => use.sharing !== 'whole') : [];
    const all = sum('allocatable');
    const used = sum('used');
    const held = sum('held');
    const free = Math.max(0, sum('free'));
    const share = (n) => `${all ? Math.min(100, (100 * n) / all) : 0}%`;
    const type = pool.gpuType || 'unknown type';
    return h('li', { 'data-key': type },
      h('a', { href: state.link({ search: pool.gpuType || undefined, page: undefined }, 'gpus') },
        h('span', { class: 'type' }, type), h('span', { class: 'free' }, `${thousands(free)} of ${thousands(all)} free`),
        h('span', { class: 'bar', 'aria-hidden': 'true' }, h('i', { class: 'used', style: { width: share(used) } }), h('i', { class: 'held', style: { width: share(held) } })),
        h('span', { class: 'muted' }, `${thousands(used)} used`, held ? `, ${thousands(held)} held` : '', pool.nodesUsable < pool.nodes ? `, ${pool.nodes - pool.nodesUsable} of ${plural(pool.nodes, 'node')} out` : `, ${plural(pool.nodes, 'node')}`,
          parts.length ? `, ${thousands(sum('free', parts))} of ${plural(sum('allocatable', parts), 'part')} free` : '')));
  }));
}

// The first column names the row; the others are numbers unless it is said which are.
export const table = (label, headings, rows, isNumber = (i) => i > 0) => h('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': label }, h('table', null,
  h('thead', null, h('tr', null, headings.map((text, i) => h('th', { scope: 'col', class: isNumber(i) ? 'n' : null }, text)))), h('tbody', null, rows)));

export const mark = (kind, text, title) => h('span', { class: `mark ${kind}`, title }, text);

export const section = (title, ...parts) => h('section', null, h('h2', null, title), parts);
export const muted = (...text) => h('p', { class: 'muted' }, text);
export const foot = (...text) => h('p', { class: 'muted foot' }, text);
export const sub = (...text) => h('span', { class: 'sub' }, text);
export const heading = (...text) => h('th', { scope: 'row' }, text); // of a row
export const num = (...text) => h('td', { class: 'n' }, text);

// A term and what it is.
export const fact = (name, ...value) => h('div', null, h('dt', null, name), h('dd', null, value.length && value.some((v) => v !== null && v !== undefined && v !== '') ? value : '–'));

export const shapeOf = (row) => (row.shape && row.shape !== 'auto' ? row.shape.replace('x', '×') : row.gpus ? `${figure(row.gpus)} GPUs` : 'auto');

export function typeOf(row) {
  if (row.gpuType) return row.gpuType;
  return (row.gpuTypes || []).join(', ') || 'any type';
}

export const empty = (title, ...text) => h('div', { class: 'empty' }, h('p', null, h('strong', null, title)), h('p', null, text));

export const nothing = (what, state) => empty('Nothing matches', `No ${what} fits the filter. `, h('a', { href: state.link({ search: undefined, state: undefined, page: undefined }) }, 'Show all'));
