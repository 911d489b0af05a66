// The proof of work that takes a place (waiting/token/challenge.hpp): the nonce with which SHA-256 (FIPS
// 180-4) of prefix and nonce begins with so many zero bits. With a hash of its own: crypto.subtle is
// not there over plain HTTP, and a call of it costs more than such a hash.
const proofOfWork = (() => {
'use strict';
const SLICE = 20; // milliseconds

// The first 32 bits of the hash of `prefix` and a text: together they are one block, of at most 55
// characters.
function firstWord(prefix) {
  const roots = [];
  const rounds = [];
  const fraction = (x) => (x - Math.floor(x)) * 4294967296 | 0;
  for (let n = 2; rounds.length < 64; n++) {
    let divisor = 2;
    while (n % divisor) divisor++;
    if (divisor < n) continue;
    roots.push(fraction(Math.sqrt(n)));
    rounds.push(fraction(Math.cbrt(n)));
  }
  const k = Int32Array.from(rounds);
  const w = new Int32Array(64);
  const begin = new Int32Array(16);
  const set = (words, at, code) => { words[at >> 2] |= code << 24 - 8 * (at & 3); };
  for (let n = 0; n < prefix.length; n++) set(begin, n, prefix.charCodeAt(n));
  const [h0, h1, h2, h3, h4, h5, h6, h7] = roots;
  return (text) => {
    const size = prefix.length + text.length;
    w.set(begin);
    for (let n = 0; n < text.length; n++) set(w, prefix.length + n, text.charCodeAt(n));
    set(w, size, 128);
    w[15] = size * 8;
    let a = h0, b = h1, c = h2, d = h3, e = h4, f = h5, g = h6, h = h7;
    for (let n = 0; n < 64; n++) {
      if (n > 15) {
        const x = w[n - 15];
        const y = w[n - 2];
        w[n] = w[n - 16] + w[n - 7] + ((x >>> 7 | x << 25) ^ (x >>> 18 | x << 14) ^ x >>> 3) +
          ((y >>> 17 | y << 15) ^ (y >>> 19 | y << 13) ^ y >>> 10);
      }
      const t = h + k[n] + w[n] + (g ^ e & (f ^ g)) +
        ((e >>> 6 | e << 26) ^ (e >>> 11 | e << 21) ^ (e >>> 25 | e << 7)) | 0;
      const u = (a & b | c & (a | b)) + ((a >>> 2 | a << 30) ^ (a >>> 13 | a << 19) ^ (a >>> 22 | a << 10)) | 0;
      h = g; g = f; f = e; e = d + t | 0; d = c; c = b; b = a; a = t + u | 0;
    }
    return h0 + a | 0;
  };
}

return (prefix, bits) => new Promise((resolve) => {
  const hash = firstWord(prefix);
  // Slices leave the tab to its visitor; timers of a hidden tab would be late.
  const slices = new MessageChannel();
  let nonce = 0;
  slices.port1.onmessage = () => {
    for (const end = performance.now() + SLICE; performance.now() < end;) {
      for (const last = nonce + 100; nonce < last; nonce++) {
        if (Math.clz32(hash(String(nonce))) >= bits) return resolve(nonce);
      }
    }
    slices.port2.postMessage(0);
  };
  slices.port2.postMessage(0);
});
})();
