// A place that takes a proof of work: the page does it, in front and in a hidden tab, and leaves the
// tab to its visitor.
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'

import { click } from './place_cases.mjs'

const number = "document.getElementById('number').textContent"
const state = 'document.documentElement.dataset.state'
const heading = "document.getElementById('heading').textContent"
const prefix = "document.getElementById('spillway-place').dataset.prefix"

const easy = { challenge: { work_bits: 12 } }
const hard = { challenge: { work_bits: 24 } }

export const rooms = {
  worked: easy,
  unseen: easy,
  framed: { ...easy, page: 'acme.html' },
  pressed: { ...easy, join: 'offer' },
  unscripted: hard,
  toil: hard
}

export const cases = {
  'it does the work for its place by itself': async ({ browser, proxy }) => {
    await proxy.fill('worked', 0)
    const person = await browser.person()
    const tab = await person.tab()
    const worked = tab.next('Network.requestWillBeSent', ({ request }) => request.url.endsWith('/ticket'))
    await tab.open(proxy.page('worked'))
    const before = await tab.evaluate(prefix)
    const { request } = await worked
    const digest = createHash('sha256').update(before + request.headers['Spillway-Work']).digest()
    assert.ok(digest.readUInt32BE(0) < 2 ** 20, digest.toString('hex')) // 12 zero bits
    await tab.until(`${state} === 'waiting' && ${number} === '1'`)
    const second = await person.tab() // the same ticket
    await second.open(proxy.page('worked'))
    await second.until(`${state} === 'waiting' && ${number} === '1'`)
    assert.equal((await proxy.counts('worked')).waiting, 1)
    assert.deepEqual(tab.complaints.filter(text => !/status of 503/.test(text)), [])
  },

  'it does so within the operator\'s page': async ({ browser, proxy }) => {
    await proxy.fill('framed', 0)
    const tab = await (await browser.person()).tab()
    await tab.open(proxy.page('framed'))
    await tab.until(`${state} === 'waiting' && ${number} === '1'`)
    assert.deepEqual(tab.complaints.filter(text => !/status of 503/.test(text)), [])
  },

  'it does so in a hidden tab, too': async ({ browser, proxy }) => {
    await proxy.fill('unseen', 0)
    const person = await browser.person()
    const tab = await person.tab()
    const front = await person.tab()
    await tab.until('document.hidden')
    await tab.open(proxy.page('unseen'))
    await tab.until(`${state} === 'waiting' && ${number} === '1'`)
    assert.equal(await tab.evaluate('document.hidden'), true)
    await front.close()
  },

  'the button that takes an offered place does the work first': async ({ browser, proxy }) => {
    await proxy.fill('pressed', 0)
    const tab = await (await browser.person()).tab()
    await tab.open(proxy.page('pressed'))
    await tab.until(`${state} === 'offered'`)
    assert.equal(await tab.evaluate(heading), 'Do you want a place in line?')
    assert.equal((await proxy.counts('pressed')).waiting, 0)
    const loaded = tab.next('Page.loadEventFired')
    await tab.evaluate("document.querySelector('.offer button').click(), 1")
    await loaded
    await tab.until(`${state} === 'waiting' && ${number} === '1'`)
    assert.equal(await tab.evaluate('location.pathname'), '/pressed')
  },

  'without scripts it says what the visitor can do, and there is no place': async ({ browser, proxy }) => {
    await proxy.fill('unscripted', 0)
    const tab = await (await browser.person()).tab({ scripts: false })
    await tab.open(proxy.page('unscripted'))
    for (let n = 0; n < 2; ++n) {
      const said = await tab.evaluate("[...document.querySelectorAll('noscript p')].map(each => each.checkVisibility() && each.textContent).join()")
      assert.match(said, /Allow scripts for this site/)
      await tab.reload()
    }
    assert.equal((await proxy.counts('unscripted')).waiting, 0)
    const loaded = tab.next('Page.loadEventFired')
    await click(tab, 'form[action$="/refresh/off"] button')
    await loaded
    assert.equal(await tab.evaluate('location.pathname'), '/unscripted')
  },

  'while it works the tab is its visitor\'s': async ({ browser, proxy }, t) => {
    await proxy.fill('toil', 0)
    // No hash is good enough.
    const tab = await (await browser.person()).tab({ prelude: 'Math.clz32 = () => 0' })
    await tab.open(proxy.page('toil'))
    const ticks = await tab.evaluate(`new Promise(resolve => {
      let ticks = 0
      const end = performance.now() + 2000
      const tick = () => ++ticks && performance.now() < end ? setTimeout(tick, 0) : resolve(ticks)
      tick()
    })`)
    assert.ok(ticks >= 10, `${ticks} turns in 2 s`)
    assert.equal(await tab.evaluate(heading), 'Checking') // it still works
    // The page's own hash, and how many of them a second this browser makes.
    const source = await tab.evaluate('document.scripts[0].textContent') // work.js
    const own = source.slice(source.indexOf('function firstWord'), source.indexOf('return (prefix, bits)'))
    await tab.open('about:blank')
    const { hashes, perSecond } = await tab.evaluate(`(() => {
      ${own}
      const hash = firstWord('${'5a'.repeat(16)}:')
      const hashes = [0, 7, 1234567, 9007199254740991].map(nonce => hash(String(nonce)))
      for (let n = 0; n < 50000; ++n) hash(String(n))
      const begin = performance.now()
      for (let n = 0; n < 500000; ++n) hash(String(n))
      return { hashes, perSecond: Math.round(500000000 / (performance.now() - begin)) }
    })()`)
    const expected = [0, 7, 1234567, 9007199254740991].map(nonce =>
      createHash('sha256').update('5a'.repeat(16) + ':' + nonce).digest().readInt32BE(0))
    assert.deepEqual(hashes, expected)
    t.diagnostic(`proof of work: ${perSecond} hashes a second`)
  }
}
