// Asks REST, below the page's own URL: a proxy's path stays in front. The token lives in this module
// and nowhere else: not in storage, not in a cookie, gone with the tab.

let token = '';

export class Failure extends Error {
  constructor(status, message, reason) {
    super(message);
    this.status = status; // 0: nobody answered
    this.reason = reason;
  }
}

export function useToken(text) {
  token = text.trim().replace(/^bearer\s+/i, '');
}

export const headers = () => (token ? { Authorization: `Bearer ${token}` } : {});

export function withQuery(path, parameters) {
  const query = new URLSearchParams();
  for (const [key, value] of Object.entries(parameters || {})) if (value !== undefined && value !== null && value !== '') query.set(key, value);
  const text = query.toString();
  return text ? `${path}?${text}` : path;
}

// The answer as text; an Error of this module otherwise.
export async function askText(path, parameters, signal) {
  let answer;
  try {
    answer = await fetch(withQuery(path, parameters), { headers: { ...headers(), Accept: 'application/json, text/plain' }, signal, cache: 'no-store', credentials: 'same-origin' });
  } catch (error) {
    if (error.name === 'AbortError') throw error;
    throw new Failure(0, 'Nobody answers.', 'NoAnswer');
  }
  const text = await answer.text();
  if (answer.ok) return text;
  let status = {};
  try {
    status = JSON.parse(text);
  } catch {
    status = { message: text.slice(0, 300) };
  }
  throw new Failure(answer.status, status.message || `HTTP ${answer.status}`, status.reason || '');
}

export const ask = async (path, parameters, signal) => JSON.parse(await askText(path, parameters, signal));

// The same, or null where this daemon has no such answer at the moment.
export async function askIfThere(path, parameters, signal) {
  try {
    return await ask(path, parameters, signal);
  } catch (error) {
    if (error.status === 404 || error.status === 503) return null;
    throw error;
  }
}

let description = null; // openapi.json

// Whether this daemon has such a route: '/v1/tasks/{ns}/{name}/eta'. An older one may not.
// Whoever may not ask for that (he may view one namespace) asks the route itself.
export async function knows(pattern, signal) {
  try {
    description = description || (await askIfThere('openapi.json', null, signal));
  } catch (error) {
    if (error.status === 403) return true;
    throw error;
  }
  return Boolean(description?.paths[pattern]);
}
