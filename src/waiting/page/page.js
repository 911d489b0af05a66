(() => {
'use strict';
// Asks for the visitor's status, shows it, and enters when it is called. The header of
// waiting_page.hpp says what it expects of the server.
const root = document.documentElement;
// By its place, and the rest within it: a template may have the same names for something else.
const main = document.querySelector('#spillway-place[data-path]');
const at = (id) => main.querySelector('#' + id);
const path = main.dataset.path;

// For the front of the line there are events; who is farther back polls.
const FRONT = 999;
const STREAM_CHECK = 25000;
const REQUEST_LIMIT = 15000;
const LONGEST_BACKOFF = 30000;
const ANNOUNCE_EVERY = 60000;
// A stamp is valid for 60 s. Who slept through them gets a new one with the page.
const STAMP_LIFE = 55000;
const loaded = Date.now();

const texts = {};
for (const line of at('texts').content.textContent.split('\n')) {
  const colon = line.indexOf(': ');
  if (colon > 0) texts[line.slice(0, colon)] = line.slice(colon + 2);
}

// A proof of work, without which there is no place: of work.js.
const bits = Number(main.dataset.bits);
const prefix = main.dataset.prefix || '';
let proof = null;
const work = () => proof = proof || proofOfWork(prefix, bits);

let state = main.dataset.state;
let pollMs = Number(main.dataset.poll);
let timer = 0;
let due = 0;
let asking = false;
let failures = 0;
let unrecognised = 0;
let recognised = false;
// as the server wrote it
let position = Number(at('number').textContent.replace(/\D/g, ''));
// It has had a place: before a draw without a position.
let placed = state === 'waiting' || state === 'processing';
let held = false;
let claimUntil = 0;
let announced = 0;
let wantsCall = false;
let called = false;
let stream = null;
let streamFront = FRONT;
let streamSince = 0;
let begins = 0;
let beginTimer = 0;

const fill = (key, values) => (texts[key] || '').replace(/\{(\w)\}/g, (_, name) => values[name]);
const write = (element, text) => { if (element.textContent !== text) element.textContent = text; };
const put = (id, text) => write(at(id), text);
// What a template has around it in the title.
const around = document.title.split(main.dataset.title);
const entitle = (text) => { document.title = around.length === 2 ? around.join(text) : text; };
const grouped = (n) => n < 10000 ? String(n) : String(n).replace(/\B(?=(\d{3})+$)/g, texts.group);
const isOpen = () => state === 'processing' || state === 'fulfilled' || state === 'closed';
const isOver = () => state === 'expired' || state === 'cancelled' || state === 'ended';

// The same as in waiting_page.cpp.
function range(low, high) {
  if (high <= 60000) return texts.soon;
  const inHours = high >= 10800000;
  const unit = inHours ? 3600000 : 60000;
  const a = Math.max(1, Math.floor(low / unit));
  const b = Math.ceil(high / unit);
  if (a === b) return fill(inHours ? 'hours' : 'minutes', {a: b});
  return fill(inHours ? 'range_h' : 'range', {a, b});
}

function since(waited) {
  if (waited < 60000) return texts.soon;
  const inHours = waited >= 10800000;
  return fill(inHours ? 'hours' : 'minutes', {a: Math.floor(waited / (inHours ? 3600000 : 60000))});
}

// Never earlier than told, so that visitors who were told the same do not come at once.
function askIn(delay) {
  clearTimeout(timer);
  if (isOver()) return;
  const wait = delay * (1 + 0.3 * Math.random());
  due = Date.now() + wait;
  timer = setTimeout(ask, wait);
}

async function ask() {
  if (asking) return;
  asking = true;
  clearTimeout(timer);
  const headers = {Accept: 'application/json'};
  if (bits && (proof || state === 'arrived')) headers['Spillway-Work'] = await work();
  const abort = new AbortController();
  const limit = setTimeout(() => abort.abort(), REQUEST_LIMIT);
  let retryAfter = 0;
  try {
    const answer = await fetch(path + '/ticket', {
      headers, cache: 'no-store', signal: abort.signal,
    });
    retryAfter = Number(answer.headers.get('Retry-After')) * 1000 || 0;
    if (answer.status !== 429) {
      const status = await answer.json();
      // Another page has another challenge; once, since the work may be lost on the way.
      if (status.reason === 'WORK_REQUIRED' && sessionStorage.spillwayWork !== prefix) {
        sessionStorage.spillwayWork = prefix;
        return location.reload();
      }
      if (!status.state) throw new Error('no status');
      recovered();
      show(status);
    }
  } catch {
    failed();
  }
  clearTimeout(limit);
  asking = false;
  const backoff = failures ? Math.min(LONGEST_BACKOFF, pollMs * 2 ** (failures - 1)) : 0;
  askIn(Math.max(stream ? STREAM_CHECK : pollMs, retryAfter, backoff));
}

async function takeOffer(event) {
  event.preventDefault();
  const form = event.target;
  put('heading', texts.h_checking);
  put('sentence', texts.p_checking);
  announce(texts.h_checking);
  form.elements.work.value = await work();
  form.submit();
}

function failed() {
  failures++;
  put('trouble', texts.offline);
  announce(texts.offline);
}

function recovered() {
  if (failures) put('trouble', '');
  failures = 0;
}

function listen(ahead) {
  if (stream || !window.EventSource || ahead > streamFront) return;
  stream = new EventSource(path + '/events');
  streamSince = Date.now();
  stream.addEventListener('status', (event) => {
    recovered();
    show(JSON.parse(event.data));
    askIn(STREAM_CHECK);
  });
  // Another tab has the events of this ticket: this one polls.
  stream.addEventListener('superseded', () => {
    streamFront = -1;
    unlisten();
    askIn(pollMs);
  });
  // Refused: ask again only when the place is much better.
  stream.onerror = () => {
    if (Date.now() - streamSince < 60000) streamFront = ahead >> 1;
    unlisten();
    askIn(pollMs);
  };
}

function unlisten() {
  if (stream) stream.close();
  stream = null;
}

function show(status) {
  if (status.poll_ms) pollMs = status.poll_ms;
  let next = status.state;
  // It was told that there is no place for it, and got nothing to be recognised by: only the page's
  // own address gives out places.
  if (next === 'arrived' && (state === 'full' || state === 'elsewhere')) return location.reload();
  // Only a page that was made for it has the form.
  if (next === 'offered' && !main.querySelector('.offer')) return location.reload();
  // Not by its visitor. The same as in waiting_page.cpp.
  if (next === 'cancelled' && status.reason && status.reason !== 'cancelled') next = 'expired';
  if (next === 'arrived') {
    unrecognised++;
    // The server knows nothing of a place that it gave: it has ended.
    if (placed) next = 'expired';
    else if (Date.now() - loaded > STAMP_LIFE && (recognised || unrecognised === 1)) location.reload();
    // The offer holds until it is clear that nothing is kept.
    if (state === 'offered' && unrecognised < 2) next = state;
  } else {
    recognised = true;
    if (next === 'waiting' || next === 'processing') placed = true;
  }
  const changed = next !== state;
  state = next;
  if (changed) {
    root.dataset.state = main.dataset.state = state;
    put('heading', texts['h_' + state]);
    say(status.reason);
    put('why', '');
  }
  const cookieless = state === 'arrived' && unrecognised > 1 && !recognised;
  main.classList.toggle('cookieless', cookieless);
  if (cookieless) {
    put('heading', texts.h_cookies);
    put('sentence', texts.cookies);
    announce(texts.cookies);
  }
  put('message', status.message || '');
  clearTimeout(beginTimer);
  if (state === 'waiting' && 'begins_in_ms' in status) showStart(status);
  else if (state === 'waiting') showPlace(status, changed);
  else if (changed) entitle(texts['h_' + state]);
  if (state === 'processing') claimUntil = Date.now() + (status.claim_remaining_ms || 0);
  at('more').hidden = !status.extensions_left;
  for (const element of main.querySelectorAll('.away')) element.hidden = !status[element.dataset.when];
  if (isOpen()) {
    callIn();
  } else {
    called = false;
    put('urgent', '');
    if (changed) announce(texts['h_' + state] + '. ' + at('sentence').textContent);
  }
  if (isOver()) {
    unlisten();
    clearTimeout(timer);
  }
  mirror(status);
}

function say(reason) {
  const what = held && state === 'waiting' ? 'held' : state;
  put('sentence', (state === 'expired' && texts['e_' + reason]) || texts['p_' + what]);
}

// Into a template's elements with data-live.
function writeLive(name, text) {
  for (const element of document.querySelectorAll(`[data-live="${name}"]`)) write(element, text);
}

// What a template shows of the place.
function mirror(status) {
  const inLine = state === 'waiting';
  const hasPlace = inLine && 'position' in status;
  const mirrored = [
    ['heading', 'heading', true], ['sentence', 'sentence', true], ['why', 'why', true], ['message', 'message', true],
    ['ahead', 'ahead', inLine && 'ahead' in status], ['estimate', 'expected', inLine], ['waited', 'waited', inLine],
  ];
  for (const [name, id, isShown] of mirrored) {
    writeLive(name, isShown ? at(id).textContent : '');
  }
  // The big number is a countdown before the start.
  writeLive('position', hasPlace ? grouped(status.position) : '');
}

function showPlace(status, changed) {
  position = status.position;
  put('why', texts[status.why] || '');
  listen(status.ahead);
  const hasBegun = begins > 0;
  begins = 0;
  if (held && !changed && !hasBegun) return;
  const number = grouped(position);
  const estimate = status.estimate;
  const expected = estimate ? range(estimate.p10_ms, estimate.p90_ms) : texts.unknown;
  entitle(fill('title', {n: number}));
  put('number-label', texts.place);
  put('number', number);
  main.classList.toggle('long', number.length > 5);
  put('ahead', grouped(status.ahead));
  put('expected', expected);
  put('waited', since(status.waited_ms || 0));
  showProgress(status);
  announce(texts.place + ': ' + number + '. ' + texts.expected + ': ' + expected + '. ' + at('why').textContent);
}

// Before the start there may be no place yet: it is drawn then.
function showStart(status) {
  begins = Date.now() + status.begins_in_ms;
  put('why', fill(status.why, {n: since(status.begins_in_ms)}));
  put('ahead', 'ahead' in status ? grouped(status.ahead) : '–');
  put('expected', texts.unknown);
  put('waited', since(status.waited_ms || 0));
  entitle(texts.h_waiting);
  announce(at('why').textContent);
  countToStart();
}

function countToStart() {
  const left = Math.max(0, Math.round((begins - Date.now()) / 1000));
  put('number-label', texts.begins);
  put('number', clock(left));
  main.classList.toggle('long', left >= 3600);
  if (left) beginTimer = setTimeout(countToStart, 1000);
}

function clock(seconds) {
  const hours = Math.floor(seconds / 3600);
  const two = (n) => String(n).padStart(2, '0');
  const minutes = Math.floor(seconds / 60) % 60;
  return (hours ? hours + ':' + two(minutes) : minutes) + ':' + two(seconds % 60);
}

function showProgress(status) {
  const key = 'spillway ' + path + ' ' + status.id;
  let first = position;
  try {
    first = Math.max(position, Number(sessionStorage.getItem(key)));
    sessionStorage.setItem(key, first);
  } catch {
    return;
  }
  at('progress').hidden = first < 2;
  at('progress').value = 1 - (position - 1) / first;
}

function announce(text) {
  const now = Date.now();
  if (now - announced < ANNOUNCE_EVERY) return;
  if (at('polite').textContent === text) return;
  announced = now;
  put('polite', text);
}

// It enters by itself only where it is seen: a call is not to be used up by a hidden tab. Nor does
// it where its visitor has paused it, or needs more time (WCAG 2.2.1).
function callIn() {
  const seen = () => document.visibilityState === 'visible';
  if (seen()) setTimeout(() => { if (!held && seen()) enter(); }, 400);
  if (called) return;
  called = true;
  put('urgent', texts['h_' + state]);
  countDown();
  if (!wantsCall || document.visibilityState === 'visible') return;
  try {
    const note = new Notification(texts['h_' + state], {body: at('sentence').textContent, tag: path});
    note.onclick = () => { window.focus(); note.close(); };
  } catch {
    // A browser that has them for service workers alone: the title says it.
  }
}

function countDown() {
  if (state !== 'processing') return;
  const left = Math.max(0, Math.round((claimUntil - Date.now()) / 1000));
  put('number-label', texts.remaining);
  put('number', clock(left));
  main.classList.remove('long');
  setTimeout(countDown, 1000);
}

function enter() {
  if (isOpen()) location.reload();
}

function hold(on) {
  held = on;
  put('hold', held ? texts.hold_off : texts.hold);
  say();
  writeLive('sentence', at('sentence').textContent);
}

async function askForTime(event) {
  event.preventDefault();
  hold(true);
  try {
    const answer = await fetch(path + '/extend', {
      method: 'POST', headers: {Accept: 'application/json'},
    });
    if (!answer.ok) return ask(); // it is not called any more
    show(await answer.json());
    announced = 0;
    announce(texts.remaining + ': ' + clock(Math.round((claimUntil - Date.now()) / 1000)));
  } catch {
    failed();
  }
}

async function leave() {
  at('dialog').close();
  try {
    const answer = await fetch(path + '/leave', {
      method: 'POST', headers: {'Spillway-Leave': '1'},
    });
    if (!answer.ok && answer.status !== 404) throw new Error('not left');
    show({state: 'cancelled'});
    at('again').focus();
  } catch {
    failed();
  }
}

// By itself the form goes back to the page by Referer, which not all browsers send.
async function rejoin(event) {
  event.preventDefault();
  try {
    await fetch(path + '/rejoin', {method: 'POST', redirect: 'manual'});
    location.reload();
  } catch {
    failed();
  }
}

at('enter').onclick = enter;
at('leave').onclick = () => at('dialog').showModal();
at('stay').onclick = () => at('dialog').close();
at('go').onclick = leave;
at('more').onsubmit = askForTime;
at('again').form.onsubmit = rejoin;
at('hold').onclick = () => {
  hold(!held);
  if (!held) ask();
};
at('call').hidden = !window.Notification;
at('call').onclick = async () => {
  wantsCall = await Notification.requestPermission() === 'granted';
  put('called-note', wantsCall ? texts.call_on : texts.call_off);
  at('call').hidden = true;
};
// Timers of a hidden tab are late, those of a sleeping device stand still.
document.addEventListener('visibilitychange', () => {
  if (document.visibilityState !== 'visible' || isOver()) return;
  if (isOpen() && !held) enter();
  else if (Date.now() >= due) ask();
});
addEventListener('pageshow', (event) => {
  if (!event.persisted || isOver()) return;
  unlisten();
  ask();
});
addEventListener('online', () => { if (failures) ask(); });

if (bits && state === 'offered') main.querySelector('.offer').onsubmit = takeOffer;
if (bits && state === 'arrived') work();

root.dataset.state = state;
main.classList.add('scripted');
if (main.dataset.begins) {
  position = 0;
  begins = Date.now() + Number(main.dataset.begins);
  countToStart();
}
askIn(pollMs);
})();
