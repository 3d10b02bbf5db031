// Tells when there may be something new: by server-sent events, read with fetch because EventSource
// cannot carry a token; by polling where a proxy or the daemon passes no events on.
import { headers, withQuery } from './api.js';

const POLL_MS = 5000;
const SILENCE_MS = 40000; // the daemon sends a comment every 15 s
const MOST_PAUSE_MS = 15000;

export class Live {
  // changed(): ask again. told(state): 'live', 'polling', 'lost'.
  constructor(changed, told) {
    this.changed = changed;
    this.told = told;
    this.since = '';
    this.namespace = '';
    this.run = 0;
  }

  start(namespace) {
    this.stop();
    this.namespace = namespace;
    this.#follow(this.run);
  }

  stop() {
    this.run += 1;
    clearTimeout(this.timer);
    this.abort?.abort();
  }

  // The daemon does not answer: `asked` failed, and the next try is up to us.
  #wait(run, ms) {
    return new Promise((done) => {
      this.timer = setTimeout(() => done(run === this.run), ms);
    });
  }

  async #follow(run) {
    let pause = 1000;
    while (run === this.run) {
      const said = await this.#read();
      if (run !== this.run) return;
      if (said === 'unknown') {
        this.told('polling');
        this.changed();
        if (!(await this.#wait(run, POLL_MS))) return;
        continue;
      }
      if (said === 'ended') {
        pause = 1000;
        continue;
      }
      this.told('lost');
      this.changed();
      if (!(await this.#wait(run, pause))) return;
      pause = Math.min(MOST_PAUSE_MS, pause * 2);
    }
  }

  // 'ended': read to its end, ask again with the last id; 'unknown': there are no events here; 'lost'.
  async #read() {
    this.abort = new AbortController();
    let silence = setTimeout(() => this.abort.abort(), SILENCE_MS);
    try {
      const answer = await fetch(withQuery('v1/events', { since: this.since, namespace: this.namespace }),
        { headers: { ...headers(), Accept: 'text/event-stream' }, signal: this.abort.signal, cache: 'no-store' });
      if (!answer.ok || !(answer.headers.get('content-type') || '').startsWith('text/event-stream')) return 'unknown';
      this.told('live');
      const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
      let rest = '';
      for (;;) {
        const { done, value } = await reader.read();
        if (done) return 'ended';
        clearTimeout(silence);
        silence = setTimeout(() => this.abort.abort(), SILENCE_MS);
        rest += value;
        const events = rest.split('\n\n');
        rest = events.pop();
        for (const event of events) this.#take(event);
      }
    } catch {
      return 'lost';
    } finally {
      clearTimeout(silence);
    }
  }

  #take(event) {
    let isChange = false;
    for (const line of event.split('\n')) {
      if (line.startsWith('id: ')) this.since = line.slice(4);
      if (line === 'event: change') isChange = true;
    }
    if (isChange) this.changed();
  }
}
