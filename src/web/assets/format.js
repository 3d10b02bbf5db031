// Times, durations and figures as people say them.
import { h } from './dom.js';

const MINUTE = 60;
const HOUR = 3600;
const DAY = 86400;

export const seconds = (iso) => (iso ? Date.parse(iso) / 1000 : NaN);
export const now = () => Date.now() / 1000;

// "45s", "12m", "3h 05m", "2d 4h"; of the size alone.
export function span(s) {
  const a = Math.abs(s);
  if (!Number.isFinite(a)) return '–';
  if (a < MINUTE) return `${Math.round(a)}s`;
  if (a < HOUR) return `${Math.round(a / MINUTE)}m`;
  if (a < DAY) {
    const minutes = Math.round(a / MINUTE);
    return `${Math.floor(minutes / 60)}h ${String(minutes % 60).padStart(2, '0')}m`;
  }
  const hours = Math.round(a / HOUR);
  return hours < 240 ? `${Math.floor(hours / 24)}d ${hours % 24}h` : `${Math.round(a / DAY)}d`;
}

export const signed = (s) => (s < 0 ? `−${span(s)}` : span(s));

const two = (n) => String(n).padStart(2, '0');
// Names of their own: Intl takes longer than all the rest of a table.
const DAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

// "12,345"
export const thousands = (n) => String(n).replace(/\B(?=(\d{3})+$)/g, ',');

function wholeMoment(iso) {
  const date = new Date(iso);
  return `${DAYS[date.getDay()]} ${date.getDate()} ${MONTHS[date.getMonth()]} ${date.getFullYear()} ${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
}

// "14:02" of the next or last twelve hours, "Tue 14:02", "3 Mar 14:02"
export function clock(s, exact = false) {
  if (!Number.isFinite(s)) return '–';
  const date = new Date(s * 1000);
  const time = `${two(date.getHours())}:${two(date.getMinutes())}${exact ? `:${two(date.getSeconds())}` : ''}`;
  const away = Math.abs(date - Date.now());
  if (away < 12 * HOUR * 1000) return time;
  if (away < 6 * DAY * 1000) return `${DAYS[date.getDay()]} ${time}`;
  return `${date.getDate()} ${MONTHS[date.getMonth()]} ${time}`;
}

export const relative = (s) => (s >= now() ? `in ${span(s - now())}` : `${span(now() - s)} ago`);

// <time> with the whole moment in its title.
export function moment(iso, text) {
  if (!iso) return '–';
  return h('time', { datetime: iso, title: wholeMoment(iso) }, text || clock(seconds(iso)));
}

// "14:02 – 14:31": median, and what nine futures in ten keep.
export function interval(p50, p90) {
  if (!p50) return '–';
  const [first, last] = [clock(seconds(p50)), clock(seconds(p90 || p50))];
  const day = first.slice(0, -5);
  return h('span', { class: 'interval', title: `half of the futures by ${first}, nine in ten by ${last}` },
    moment(p50), last === first ? null : h('span', { class: 'upto' }, ' – ', moment(p90, last.startsWith(day) ? last.slice(day.length) : last)));
}

export const figure = (x) => (!Number.isFinite(x) || x === 0 ? '–' : Math.abs(x) >= 100 ? thousands(Math.round(x)) : Number(x.toPrecision(3)).toString());
export const percent = (share) => `${Math.round(100 * share)} %`;
export const plural = (n, one, many = `${one}s`) => `${thousands(n)} ${n === 1 ? one : many}`;

// Of a task: "namespace/name".
export const keyOf = (row) => `${row.namespace}/${row.name}`;
export const nameOf = (key) => key.slice(key.indexOf('/') + 1);
export const taskHref = (key) => `#/task/${encodeURIComponent(key.slice(0, key.indexOf('/')))}/${encodeURIComponent(nameOf(key))}`;

// A link to a task's own view.
export const taskLink = (key, text) => (key.includes('/') ? h('a', { href: taskHref(key), title: key }, text || nameOf(key)) : text || key);
