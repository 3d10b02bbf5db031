// The shell: which view the URL names, its data, and what the page says of itself.
//
// Every state has its URL: #/VIEW[/part...]?filters. A view is {title, load(state, signal), draw(data,
// state)}; it is loaded and drawn again when something has changed, and only what differs is touched.
// `local` names parameters that ask for no other data.
import { ask, useToken } from './api.js';
import { fill, h } from './dom.js';
import { clock, now } from './format.js';
import { Live } from './live.js';
import gpus from './gpus.js';
import queue from './queue.js';
import report from './report.js';
import shadow from './shadow.js';
import shares from './shares.js';
import task from './task.js';
import timeline from './timeline.js';

const VIEWS = { queue, timeline, gpus, report, shadow, shares, task };
const TABS = ['queue', 'timeline', 'gpus', 'report', 'shadow', 'shares'];
const BETWEEN_MS = 1000;
const CLUSTER_MS = 10000; // what a reader does is not made to wait for the cluster again
const STALE_MS = 30000; // times move on even where nothing changes

const $ = (id) => document.getElementById(id);
let state = { view: 'queue', parts: [], query: new URLSearchParams() };
let shown = ''; // whose data are on the screen
let link = 'live';
let lostSince = 0;
let cluster = null;
let clusterAt = -CLUSTER_MS;
let latest = null; // the data on the screen
let latestAt = 0;
let latestVersion = null; // of the cluster, before they were asked for
let loading = null; // AbortController
let again = false;
let drawnAt = 0;
let cost = 0; // ms of the last load
let timer = 0;

function readUrl() {
  const [path, query] = location.hash.slice(1).split('?');
  const [view, ...parts] = path.split('/').filter(Boolean).map(decoded);
  return { view: view in VIEWS ? view : 'queue', parts, query: new URLSearchParams(query || ''), cluster, link: linkTo, redraw };
}

function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

// Draws data again that were completed after they were shown, unless the reader has gone elsewhere since.
function redraw(data) {
  if (data === latest && shown === whereOf(state)) draw(() => VIEWS[state.view].draw(data, state));
}

// The URL of this state with other parameters: {page: 2}; undefined removes one.
function linkTo(changes, view = [state.view, ...state.parts].map(encodeURIComponent).join('/')) {
  const query = new URLSearchParams(state.query);
  if (view !== [state.view, ...state.parts].map(encodeURIComponent).join('/'))
    for (const key of [...query.keys()]) if (key !== 'ns') query.delete(key);
  for (const [key, value] of Object.entries(changes)) value === undefined || value === '' ? query.delete(key) : query.set(key, value);
  const text = query.toString();
  return `#/${view}${text ? `?${text}` : ''}`;
}

// The fragment may bring a token: it goes to memory, and out of the URL and its history.
function takeToken() {
  const found = /^#token=([^&]+)$/.exec(location.hash);
  if (!found) return;
  useToken(decoded(found[1]));
  history.replaceState(null, '', `${location.pathname}#/queue`);
}

async function load(byReader) {
  if (loading && !byReader) {
    again = true;
    return;
  }
  again = false;
  loading?.abort();
  const mine = (loading = new AbortController());
  clearTimeout(timer);
  const began = performance.now();
  try {
    if (link === 'polling' && !byReader && (await isUnchanged(began, mine.signal))) return;
    const version = cluster?.snapshotVersion ?? null;
    const [view, about] = await Promise.all([VIEWS[state.view].load(state, mine.signal), byReader && began - clusterAt < CLUSTER_MS ? cluster : askCluster(mine.signal)]);
    if (mine !== loading) return;
    cluster = about;
    state.cluster = about;
    lostSince = 0;
    latest = view;
    latestAt = began;
    latestVersion = version;
    draw(() => VIEWS[state.view].draw(view, state));
    notes(view?.facts);
  } catch (error) {
    if (mine !== loading || error.name === 'AbortError') return;
    explain(error);
  } finally {
    if (mine === loading) {
      loading = null;
      cost = performance.now() - began;
      drawnAt = performance.now();
      next();
    }
  }
}

// Whether what is on the screen is of the cluster as it is now: then no list is asked for again.
async function isUnchanged(began, signal) {
  if (latestVersion === null || lostSince || began - latestAt > STALE_MS) return false;
  cluster = await askCluster(signal);
  return cluster?.snapshotVersion === latestVersion;
}

// Who may view one namespace only may not ask about the cluster.
async function askCluster(signal) {
  try {
    const about = await ask('v1/cluster', null, signal);
    clusterAt = performance.now();
    return about;
  } catch (error) {
    if (error.status === 403) return null;
    throw error;
  }
}

// The next load: soon if something has changed, but so that the daemon rests four times as long as it took.
function next() {
  clearTimeout(timer);
  const due = again ? Math.max(BETWEEN_MS, 4 * cost) - (performance.now() - drawnAt) : STALE_MS;
  timer = setTimeout(() => (document.hidden ? (again = true) : load(false)), Math.max(0, due));
}

function changed() {
  if (again) return;
  again = true;
  if (!loading) next();
}

const whereOf = ({ view, parts }) => [view, ...parts].join('/');

function draw(make) {
  const made = make();
  const where = whereOf(state);
  const fresh = shown !== where;
  shown = where;
  if (fresh) $('main').replaceChildren(...made);
  else fill($('main'), made);
  $('main').removeAttribute('aria-busy');
  document.title = `${VIEWS[state.view].title(state)} · Slackline`;
  if (fresh && document.activeElement === document.body) window.scrollTo(0, 0);
}

function explain(error) {
  if (error.status === 401) return askForToken(error.message);
  if (error.status === 0) {
    lostSince = lostSince || now();
    link = 'lost';
    if (shown) return notes();
  }
  draw(() => [
    h('h1', null, VIEWS[state.view].title(state)),
    h('div', { class: 'empty', role: 'alert' }, h('p', null, h('strong', null, error.status === 0 ? 'No connection' : error.status === 403 ? 'You may not see this' : error.status === 404 ? 'Not there' : 'No answer')),
      h('p', null, error.message),
      error.status === 403 ? h('p', null, 'If you may view one namespace, name it above.') : null),
  ]);
  shown = '';
  return notes();
}

function askForToken(why) {
  shown = '';
  live.stop();
  $('main').removeAttribute('aria-busy');
  const asked = document.querySelector('form.token [role=alert]');
  if (asked) {
    asked.textContent = why;
    return;
  }
  fill($('main'), [
    h('h1', null, 'Who are you?'),
    h('form', {
      class: 'panel token',
      onsubmit: (event) => {
        event.preventDefault();
        useToken(event.target.elements.token.value);
        clusterAt = -CLUSTER_MS;
        event.target.reset();
        live.start(state.query.get('ns') || '');
        load(true);
      },
    },
    h('p', null, 'Slackline shows you what the cluster lets you view. Give it a token of the cluster; it stays in the memory of this tab.'),
    h('label', { for: 'token' }, 'Token'),
    h('input', { id: 'token', name: 'token', type: 'password', autocomplete: 'off', required: true, spellcheck: 'false' }),
    h('button', { type: 'submit' }, 'Show the cluster'),
    h('p', { class: 'muted' }, h('code', null, 'kubectl create token SERVICEACCOUNT -n NAMESPACE'), ' makes one, and ', h('code', null, 'slackline page'), ' brings yours along.'),
    h('p', { class: 'muted', role: 'alert' }, why)),
  ]);
  notes();
}

// What a reader must know of the daemon and of the connection, whatever the view.
function notes(facts) {
  if (facts !== undefined) state.facts = facts;
  const said = [];
  const add = (kind, title, ...text) => said.push(h('p', { class: `note ${kind}`, 'data-key': title }, h('strong', null, title), ' ', ...text));
  if (lostSince) add('bad', 'No connection', `since ${clock(lostSince, true)}. What you see is as old; the page keeps trying. If it stays so: does the daemon still run, and the command that opened this page?`);
  if (cluster) {
    const { cache, mode } = cluster;
    const dump = /^a dump/.test(cache.detail || '');
    if (!cache.synced) add('bad', 'Still reading', 'the cluster: lists may be incomplete.');
    else if (cache.stale) add('bad', 'Stale', `The daemon has heard nothing of the cluster for a while: ${cache.detail}`);
    if (dump) add('calm', 'A dump', 'is shown, not a live cluster: nothing is written to it.');
    if (mode === 'shadow') add('calm', 'Shadow mode', 'Slackline decides and records, and starts nothing: kube-scheduler takes tasks in its own order.');
    if (mode === 'advise' && !dump) add('calm', 'Advise mode', 'Slackline filters, scores and warns; it starts and stops nothing.');
    if (mode === 'active' && state.facts && !state.facts.leads)
      state.facts.leader ? add('calm', 'A follower', `answers: ${state.facts.leader} plans. What only the leader knows, as back-offs, is missing here: ask there for it.`)
        : add('bad', 'No leader', 'No replica plans at the moment, so no waiting task is started. /readyz?verbose and the log of the replicas say why.');
  }
  fill($('notes'), said);
  header();
}

function header() {
  const states = { live: ['Live', 'What changes in the cluster is shown at once'], polling: ['Polling', 'Events do not get through: asked every 5 s'], lost: ['Offline', 'Nobody answers'] };
  const [text, about] = states[lostSince ? 'lost' : link];
  const tabs = TABS.map((name) => h('li', null, h('a', { href: linkTo({}, name), 'aria-current': state.view === name || (state.view === 'task' && name === 'queue') ? 'page' : null }, VIEWS[name].tab)));
  fill($('top'), [
    h('a', { class: 'brand', href: linkTo({}, 'queue') }, h('img', { src: 'page/icon.svg', alt: '', width: 22, height: 22 }), 'Slackline'),
    h('nav', { 'aria-label': 'Views' }, h('ul', null, tabs)),
    h('form', { class: 'scope', role: 'search', onsubmit: (event) => { event.preventDefault(); location.hash = linkTo({ ns: event.target.elements.ns.value.trim(), page: undefined }); } },
      h('label', { for: 'ns', class: 'hidden' }, 'Namespace'),
      h('input', { id: 'ns', name: 'ns', value: state.query.get('ns') || '', placeholder: 'all namespaces', spellcheck: 'false', autocomplete: 'off', onchange: (event) => event.target.form.requestSubmit() })),
    h('span', { class: `link ${lostSince ? 'lost' : link}`, title: about, role: 'status' }, text),
    h('button', { class: 'theme', type: 'button', 'aria-label': 'Light or dark', title: 'Light or dark', onclick: switchTheme }, '◐'),
  ]);
}

function switchTheme() {
  const dark = getComputedStyle(document.documentElement).colorScheme === 'dark' || (!document.documentElement.dataset.theme && matchMedia('(prefers-color-scheme: dark)').matches);
  document.documentElement.dataset.theme = dark ? 'light' : 'dark';
}

const live = new Live(changed, (told) => {
  link = told;
  if (told === 'lost') lostSince = lostSince || now();
  if (told === 'live') lostSince = 0;
  notes();
});

// Whether what is on the screen has the data of this state, too.
function hasData(before) {
  if (!latest || loading || lostSince || shown !== whereOf(state) || whereOf(before) !== shown) return false;
  const changed = [...new Set([...before.query.keys(), ...state.query.keys()])].filter((key) => before.query.get(key) !== state.query.get(key));
  return changed.length > 0 && changed.every((key) => VIEWS[state.view].local?.includes(key));
}

function navigate() {
  const before = state;
  const focused = document.activeElement;
  takeToken();
  state = readUrl();
  state.facts = before.facts;
  header();
  if (hasData(before)) {
    state.cluster = cluster;
    redraw(latest);
    return;
  }
  $('main').setAttribute('aria-busy', 'true');
  if (before.view !== state.view && !focused?.closest?.('#main')) $('main').focus({ preventScroll: true });
  if ((before.query.get('ns') || '') !== (state.query.get('ns') || '')) live.start(state.query.get('ns') || '');
  load(true);
}

takeToken();
state = readUrl();
header();
window.addEventListener('hashchange', navigate);
document.addEventListener('visibilitychange', () => { if (!document.hidden && again) load(false); });
document.addEventListener('keydown', (event) => {
  const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.nodeName);
  if (typing || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === '/') {
    event.preventDefault();
    $('search')?.focus();
  }
  const view = TABS[Number(event.key) - 1];
  if (view) location.hash = linkTo({}, view);
});
load(true);
live.start(state.query.get('ns') || '');
